"""The scikit-learn estimators: the only modules that import scikit-learn."""
