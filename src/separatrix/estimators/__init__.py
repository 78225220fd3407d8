"""scikit-learn classes; the only importers of scikit-learn."""
