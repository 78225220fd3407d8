"""The one fit loop and its results."""
