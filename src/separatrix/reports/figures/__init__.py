"""The pictures of a report: what a trained model is, how it does, how it came about."""
