"""The learners, one module per family."""
