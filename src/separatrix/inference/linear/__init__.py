"""Inference from least squares: covariances of the coefficients, the table, intervals, analysis of variance."""
