"""scikit-learn classes; the only importers of scikit-learn."""

from separatrix.estimators.generative import GaussianGenerativeClassifier
from separatrix.estimators.lms import LMSClassifier, LMSRegressor
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.one_vs_rest import OneVsRest
from separatrix.estimators.perceptron import Perceptron
from separatrix.estimators.regression import LinearRegression
from separatrix.estimators.svm import LinearSVM

__all__ = [
    "GaussianGenerativeClassifier",
    "LMSClassifier",
    "LMSRegressor",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "OneVsRest",
    "Perceptron",
]
