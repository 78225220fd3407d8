"""Inference from a likelihood: its summit, covariances, profiles, bias reduction, and the tables of both."""
