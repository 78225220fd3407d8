"""Encoding of typed columns as a feature matrix: planned on the training table, applied to every later table."""
