"""scikit-learn classes; the only importers of scikit-learn."""

from separatrix.estimators import maps
from separatrix.estimators.auditing import audit
from separatrix.estimators.formula import from_formula
from separatrix.estimators.generative import GaussianGenerativeClassifier
from separatrix.estimators.halfspace import HalfspaceLP
from separatrix.estimators.kernel_perceptron import KernelPerceptron
from separatrix.estimators.kernel_svm import KernelSVM
from separatrix.estimators.lms import LMSClassifier, LMSRegressor
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.max_margin import MaxMarginClassifier
from separatrix.estimators.one_vs_rest import OneVsRest
from separatrix.estimators.perceptron import Perceptron
from separatrix.estimators.regression import LinearRegression
from separatrix.estimators.regularisation import path
from separatrix.estimators.svm import LinearSVM
from separatrix.estimators.zero_one import ZeroOneClassifier

__all__ = [
    "GaussianGenerativeClassifier",
    "HalfspaceLP",
    "KernelPerceptron",
    "KernelSVM",
    "LMSClassifier",
    "LMSRegressor",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "MaxMarginClassifier",
    "OneVsRest",
    "Perceptron",
    "ZeroOneClassifier",
    "audit",
    "from_formula",
    "maps",
    "path",
]
