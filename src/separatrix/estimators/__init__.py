"""scikit-learn classes; the only importers of scikit-learn."""

from separatrix.estimators.perceptron import Perceptron

__all__ = ["Perceptron"]
