"""Fitted predictors as files: saved, loaded, asked for predictions, exported."""
