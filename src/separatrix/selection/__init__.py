"""Choosing the strength of a penalty: paths, cross-validation."""
