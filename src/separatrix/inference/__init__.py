"""Inference: estimates, standard errors, tests and intervals, each valid or absent with a reason."""
