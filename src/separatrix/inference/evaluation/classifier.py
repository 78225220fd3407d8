"""How well a classifier does on rows that it was not fitted on.

    accuracy    the share of rows predicted right, Wilson's interval
    log loss    −mean ln p(label), infinite where a label had probability 0
    Brier       mean (p − 1[second])² of two classes, mean Σₖ (pₖ − 1[k])² of more
    AUC         see `ranking`; of several classes the mean of each against the rest

Cost: a sort a class. On the rows of the fit the numbers are too good; of few rows the intervals say how few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import counted, require_choice
from separatrix.inference.evaluation.estimate import Estimate, mean_estimate, share_estimate
from separatrix.inference.evaluation.ranking import Ranking, mean_area, rank_class
from separatrix.inference.evaluation.reliability import Binning, Reliability, reliability_of
from separatrix.inference.evaluation.rows import JudgedRows, judged_rows
from separatrix.inference.level import require_level
from separatrix.inference.table import json_values

NO_PROBABILITIES = "the model gives scores and no probabilities; use one with predict_proba, as LogisticRegression"
CLASSIFIER_MEASURES = ("accuracy", "log_loss", "brier", "auc")


@dataclass(frozen=True)
class ClassifierEvaluation:
    """The measures of a classifier with their intervals, and the curves behind them.

    `baseline_accuracy` and `baseline_log_loss` are those of always predicting the classes' shares among these rows.
    `rankings` has the second of two classes, or each of several against the rest. `confusion` (K, K) is the weight of
    the rows of each class (down) by the class predicted (across); `reliability` is None without probabilities.
    """

    classes: tuple[Any, ...]
    rows: int
    level: float
    accuracy: Estimate
    log_loss: Estimate
    brier: Estimate
    auc: Estimate
    baseline_accuracy: float
    baseline_log_loss: float
    confusion: Floats
    rankings: tuple[Ranking, ...]
    reliability: Reliability | None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values, the curves left out."""
        values = {name: asdict(getattr(self, name)) for name in CLASSIFIER_MEASURES}
        found = self.reliability
        calibration = None if found is None else {"bias": asdict(found.bias), "error": found.error}
        baseline = {"accuracy": self.baseline_accuracy, "log_loss": self.baseline_log_loss}
        told: dict[str, Any] = json_values(
            {
                "classes": list(self.classes),
                "rows": self.rows,
                "level": self.level,
                **values,
                "average_precision": [ranking.average_precision for ranking in self.rankings],
                "calibration": calibration,
                "baseline": baseline,
                "confusion": self.confusion.tolist(),
            }
        )
        return told


def evaluate_classifier(  # noqa: PLR0913  # what is known of the rows, each by its name
    labels: Any,
    probabilities: Any,
    classes: Sequence[Any],
    weights: Any = None,
    *,
    scores: Any = None,
    predicted: Any = None,
    level: float = 0.95,
    binning: Binning = "equal_counts",
) -> ClassifierEvaluation:
    """Return how well rows were predicted, with intervals.

    Parameters
    ----------
    labels : (n,) the true classes
    probabilities : (n, K) in the order of `classes`; of two classes also (n,), the second's; None where there are none
    classes : all of them, as a model's `classes_`
    weights : (n,) how much each row counts; None for 1 each
    scores : where there are no probabilities, (n,) of two classes, higher for the second, or (n, K)
    predicted : (n,) the classes predicted; None for the most probable, or highest score
    level : of the intervals; binning : of the probabilities, "equal_counts" or "equal_widths"

    Examples
    --------
    >>> found = evaluate_classifier(["a", "b", "b", "a"], [0.2, 0.9, 0.6, 0.7], ["a", "b"])
    >>> print(found.accuracy, "|", found.auc)
    0.75 (0.3006 to 0.9544) | 0.75 (0.06932 to 0.9918)
    """
    require_level(level)
    require_choice("binning", binning, get_args(Binning))
    rows = judged_rows(labels, probabilities, classes, scores, predicted, weights)
    plain = np.asarray(classes).tolist()
    rankings = _rankings(rows, plain, level)
    total = rows.weights.sum()
    shares = np.bincount(rows.codes, rows.weights) / total
    present = shares[shares > 0.0]
    right = float(rows.weights @ (rows.predicted == rows.codes) / total)
    return ClassifierEvaluation(
        classes=tuple(plain),
        rows=len(rows.codes),
        level=level,
        accuracy=share_estimate(right, float(total**2 / (rows.weights @ rows.weights)), level),
        log_loss=_log_loss(rows, level),
        brier=_brier(rows, level),
        auc=mean_area(rankings, rows.codes, rows.weights, level),
        baseline_accuracy=float(shares.max()),
        baseline_log_loss=float(-present @ np.log(present)),
        confusion=_confusion(rows, len(plain)),
        rankings=tuple(rankings),
        reliability=_reliability(rows, level, binning),
    )


def _rankings(rows: JudgedRows, classes: Sequence[Any], level: float) -> list[Ranking]:
    """Return the ranking of the second of two classes, or of each of several."""
    first = len(classes) - rows.scores.shape[1]
    return [
        rank_class(label, rows.scores[:, place], rows.codes == place + first, rows.weights, level)
        for place, label in enumerate(classes[first:])
    ]


def _log_loss(rows: JudgedRows, level: float) -> Estimate:
    if rows.probabilities is None:
        return Estimate(None, absent=NO_PROBABILITIES)
    own = rows.probabilities[np.arange(len(rows.codes)), rows.codes]
    if not own.all():
        rows_at_fault = counted(int((own == 0.0).sum()), "row")
        return Estimate(
            math.inf, absent=f"the label had probability 0 in {rows_at_fault}, and its logarithm is infinite"
        )
    return mean_estimate(-np.log(own), rows.weights, level, least=0.0)


def _brier(rows: JudgedRows, level: float) -> Estimate:
    if rows.probabilities is None:
        return Estimate(None, absent=NO_PROBABILITIES)
    misses = rows.probabilities.copy()
    misses[np.arange(len(rows.codes)), rows.codes] -= 1.0
    squares = (misses**2).sum(axis=1)
    return mean_estimate(squares / 2.0 if misses.shape[1] == 2 else squares, rows.weights, level, least=0.0)


def _confusion(rows: JudgedRows, count: int) -> Floats:
    amounts = np.bincount(rows.codes * count + rows.predicted, rows.weights, minlength=count * count)
    return np.asarray(amounts, dtype=np.float64).reshape(count, count)


def _reliability(rows: JudgedRows, level: float, binning: Binning) -> Reliability | None:
    if rows.probabilities is None:
        return None
    if rows.probabilities.shape[1] == 2:
        return reliability_of(rows.probabilities[:, 1], rows.codes == 1, rows.weights, level, binning)
    own = rows.probabilities[np.arange(len(rows.codes)), rows.predicted]
    return reliability_of(own, rows.predicted == rows.codes, rows.weights, level, binning)
