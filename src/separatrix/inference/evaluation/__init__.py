"""How well a fitted model does on rows: numbers with intervals, and the curves behind them."""

from separatrix.inference.evaluation.classifier import ClassifierEvaluation, evaluate_classifier
from separatrix.inference.evaluation.estimate import Estimate
from separatrix.inference.evaluation.model import evaluate
from separatrix.inference.evaluation.ranking import Ranking
from separatrix.inference.evaluation.regressor import RegressorEvaluation, evaluate_regressor
from separatrix.inference.evaluation.reliability import Reliability

__all__ = [
    "ClassifierEvaluation",
    "Estimate",
    "Ranking",
    "RegressorEvaluation",
    "Reliability",
    "evaluate",
    "evaluate_classifier",
    "evaluate_regressor",
]
