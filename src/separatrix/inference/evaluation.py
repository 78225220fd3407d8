"""Evaluation of a classifier or regression on rows that it was not fitted on, each measure with its interval.

    accuracy    share of rows predicted correctly, Wilson's interval
    log loss    −mean ln p(label), infinite if a label had probability 0
    Brier       mean (p − 1[second])² for two classes, mean Σₖ (pₖ − 1[k])² for more
    AUC         see `evaluation_curves`; for several classes the mean of the one-vs-rest areas
    RMSE        √(mean e²) with e = predicted − observed; the root of the interval of mean e² on the log scale
    R²          1 − mean e² / v with v = mean (y − ȳ)²; the interval is that of 1 − R² on the log scale, with the effect
                e²/v − (1 − R²) (y − ȳ)²/v of each row; negative if ȳ would predict better
    MAE, bias   mean |e|, mean e

Cost: one pass, and one sort per class. On training rows the measures are too optimistic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, require_choice
from separatrix.inference import evaluation_curves as curves
from separatrix.inference.eligibility import Refusal
from separatrix.inference.evaluation_curves import Binning, Estimate, Ranking, Reliability
from separatrix.inference.table import JsonRecord, json_values, require_level
from separatrix.numerics import distinct

SUM_TOLERANCE = 1e-6  # allowed distance of the sum of a row's probabilities from 1
CLASSIFIER_MEASURES = ("accuracy", "log_loss", "brier", "auc")


@dataclass(frozen=True)
class ClassifierEvaluation(JsonRecord):
    """The measures of a classifier with their intervals, and the curves behind them.

    `baseline_accuracy` is that of always predicting the majority class, `baseline_log_loss` that of always predicting
    the class shares of these rows. `rankings` has one entry, for the second of two classes, or one per class against
    the rest. `confusion` (K, K) is the weight of the rows of each actual class (down) by predicted class (across);
    `reliability` is None without probabilities.
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
        """Return the measures as JSON values, without the curves."""
        values = {name: asdict(getattr(self, name)) for name in CLASSIFIER_MEASURES}
        reliability = self.reliability
        calibration = None if reliability is None else {"bias": asdict(reliability.bias), "error": reliability.error}
        baseline = {"accuracy": self.baseline_accuracy, "log_loss": self.baseline_log_loss}
        return json_values(
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


def evaluate_classifier(  # noqa: PLR0913  # public arguments
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
    """Evaluate predicted probabilities or scores of a classifier, with intervals.

    Parameters
    ----------
    labels : (n,) the actual classes
    probabilities : (n, K) in the order of `classes`; for two classes also (n,), those of the second; None if the model
        gives none
    classes : all classes, as a model's `classes_`
    weights : (n,) sample weights; None for 1 each
    scores : used without probabilities: (n,) for two classes, higher for the second, or (n, K)
    predicted : (n,) predicted classes; None for those of the highest probability or score
    level : of the intervals
    binning : of the probabilities, "equal_counts" or "equal_widths"

    Examples
    --------
    >>> evaluation = evaluate_classifier(["a", "b", "b", "a"], [0.2, 0.9, 0.6, 0.7], ["a", "b"])
    >>> print(evaluation.accuracy, "|", evaluation.auc)
    0.75 (0.3006 to 0.9544) | 0.75 (0.06932 to 0.9918)
    """
    require_level(level)
    require_choice("binning", binning, get_args(Binning))
    rows = _evaluated_rows(labels, probabilities, classes, scores, predicted, weights)
    class_list = np.asarray(classes).tolist()
    first, total, count = len(class_list) - rows.scores.shape[1], rows.weights.sum(), len(class_list)
    rankings = tuple(  # of the second of two classes, or of each of several
        curves.rank_class(label, rows.scores[:, index], rows.codes == index + first, rows.weights, level)
        for index, label in enumerate(class_list[first:])
    )
    shares = np.bincount(rows.codes, rows.weights) / total
    present = shares[shares > 0.0]
    correct = float(rows.weights @ (rows.predicted == rows.codes) / total)
    confusion = np.bincount(rows.codes * count + rows.predicted, rows.weights, minlength=count * count)
    log_loss, brier, reliability = _probability_measures(rows, level, binning)
    return ClassifierEvaluation(
        classes=tuple(class_list),
        rows=len(rows.codes),
        level=level,
        accuracy=curves.share_estimate(correct, float(total**2 / (rows.weights @ rows.weights)), level),
        log_loss=log_loss,
        brier=brier,
        auc=curves.mean_auc(rankings, rows.codes, rows.weights, level),
        baseline_accuracy=float(shares.max()),
        baseline_log_loss=float(-present @ np.log(present)),
        confusion=confusion.astype(np.float64).reshape(count, count),
        rankings=rankings,
        reliability=reliability,
    )


def _probability_measures(
    rows: _EvaluatedRows, level: float, binning: Binning
) -> tuple[Estimate, Estimate, Reliability | None]:
    """Return log loss, Brier score and calibration."""
    if rows.probabilities is None:
        absent = Estimate(None, absent=Refusal.NO_PROBABILITIES())
        return absent, absent, None
    each, misses = np.arange(len(rows.codes)), rows.probabilities.copy()
    own = rows.probabilities[each, rows.codes]
    log_loss = Estimate(math.inf, absent=Refusal.ZERO_PROBABILITY(rows=(own == 0.0).sum()))
    if own.all():
        log_loss = curves.mean_estimate(-np.log(own), rows.weights, level, least=0.0)
    misses[each, rows.codes] -= 1.0
    squares, events = (misses**2).sum(axis=1), (rows.probabilities[each, rows.predicted], rows.predicted == rows.codes)
    if misses.shape[1] == 2:
        squares, events = squares / 2.0, (rows.probabilities[:, 1], rows.codes == 1)
    brier = curves.mean_estimate(squares, rows.weights, level, least=0.0)
    return log_loss, brier, curves.make_reliability(*events, rows.weights, level, binning)


@dataclass(frozen=True)
class RegressorEvaluation(JsonRecord):
    """The measures of a regression with their intervals; `spread` is the RMSE of predicting the mean for every row."""

    rows: int
    level: float
    r_squared: Estimate
    rmse: Estimate
    mean_absolute_error: Estimate
    bias: Estimate
    spread: float


def evaluate_regressor(
    observed: Any, predicted: Any, weights: Any = None, *, level: float = 0.95
) -> RegressorEvaluation:
    """Evaluate predicted numbers (n,) against observed ones (n,), with intervals; `weights` (n,) are sample weights.

    Examples
    --------
    >>> evaluation = evaluate_regressor([1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 2.5, 5.5])
    >>> round(evaluation.r_squared.value, 4), round(evaluation.rmse.value, 4)
    (0.9143, 0.433)
    """
    require_level(level)
    targets, predictions = _finite_numbers(observed, "observed"), _finite_numbers(predicted, "predicted")
    if targets.ndim != 1 or not len(targets) or predictions.shape != targets.shape:
        raise DataError(f"observed has shape {targets.shape} and predicted {predictions.shape}; give both as (n,)")
    w = _checked_weights(weights, len(targets))
    positive = w > 0.0
    targets, predictions, w = targets[positive], predictions[positive], w[positive]
    total, errors = w.sum(), predictions - targets
    squares = errors**2
    mean_square = float(w @ squares / total)
    spread = (targets - w @ targets / total) ** 2
    variance = float(w @ spread / total)
    return RegressorEvaluation(
        rows=len(targets),
        level=level,
        r_squared=_r_squared(squares / variance, spread / variance, w, level)
        if variance > 0.0
        else Estimate(None, absent=Refusal.ONE_VALUE()),
        rmse=_root(curves.positive_estimate(mean_square, squares - mean_square, w, level)),
        mean_absolute_error=curves.mean_estimate(np.abs(errors), w, level, least=0.0),
        bias=curves.mean_estimate(errors, w, level),
        spread=math.sqrt(variance),
    )


def _r_squared(squares: Any, deviations: Any, weights: Any, level: float) -> Estimate:
    """Return R² from squared errors and squared deviations, both in units of the variance."""
    unexplained = float(weights @ squares / weights.sum())
    interval = curves.positive_estimate(unexplained, squares - unexplained * deviations, weights, level)
    if interval.lower is None or interval.upper is None:
        return Estimate(1.0 - unexplained, absent=interval.absent or Refusal.EQUAL_VALUES())
    return Estimate(1.0 - unexplained, interval.standard_error, 1.0 - interval.upper, 1.0 - interval.lower)


def _root(square: Estimate) -> Estimate:
    value = math.sqrt(square.value or 0.0)
    if square.lower is None or square.upper is None or square.standard_error is None:
        return Estimate(value, absent=square.absent)
    error = square.standard_error / (2.0 * value)
    return Estimate(value, error, math.sqrt(square.lower), math.sqrt(square.upper))


class _EvaluatedRows(NamedTuple):
    """The rows of weight above 0: codes of labels and predictions, probabilities, scores and weights."""

    codes: Indices
    probabilities: Floats | None
    scores: Floats
    predicted: Indices
    weights: Floats


def _evaluated_rows(
    labels: Any, probabilities: Any, classes: Sequence[Any], scores: Any, predicted: Any, weights: Any
) -> _EvaluatedRows:
    """Check the inputs of an evaluation; scores become (n, K) or, for two classes, (n, 1)."""
    codes = label_codes(labels, classes, "labels")
    n, count = len(codes), len(classes)
    if count < 2:
        raise DataError(f"classes has {count} class; give two or more, as a model's classes_")
    if probabilities is None and scores is None:
        raise DataError("there is nothing to judge; give probabilities, or None and scores")
    checked = None if probabilities is None else _checked_probabilities(probabilities, n, count)
    ranks = (checked[:, 1:] if count == 2 else checked) if checked is not None else _checked_scores(scores, n, count)
    if predicted is not None:
        predictions = label_codes(predicted, classes, "predicted")
    elif ranks.shape[1] > 1:
        predictions = ranks.argmax(axis=1)
    else:  # of two classes the second on a tie
        predictions = np.asarray(ranks[:, 0] >= (0.0 if checked is None else 0.5), dtype=np.intp)
    if len(predictions) != n:
        raise DataError(f"predicted has {len(predictions)} rows, but labels has {n}")
    w = _checked_weights(weights, n)
    positive = w > 0.0
    checked = None if checked is None else checked[positive]
    return _EvaluatedRows(codes[positive], checked, ranks[positive], predictions[positive], w[positive])


def label_codes(labels: Any, classes: Sequence[Any], name: str) -> Indices:
    """Return the index of each label among the classes, (n,)."""
    values = np.asarray(labels)
    if values.ndim != 1 or not len(values):
        raise DataError(f"{name} has shape {values.shape}; give one label per row, (n,), of at least one row")
    distinct_labels, inverse = distinct(values)
    indices = {label: index for index, label in enumerate(np.asarray(classes).tolist())}
    unknown = [label for label in distinct_labels.tolist() if label not in indices]
    if unknown:
        known = ", ".join(map(repr, list(indices)[:6])) + (", …" if len(indices) > 6 else "")
        raise DataError(f"{name} has {unknown[0]!r}, which is none of the classes {known}; give the model's classes_")
    return np.array([indices[label] for label in distinct_labels.tolist()], dtype=np.intp)[inverse]


def _checked_weights(weights: Any, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    numbers = _finite_numbers(weights, "weights")
    if numbers.shape != (n,) or numbers.min() < 0.0 or numbers.max() <= 0.0:
        raise DataError(f"weights must be {n} numbers of at least 0, not all 0; got shape {numbers.shape}")
    return numbers


def _finite_numbers(values: Any, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} has entries that are no numbers; give numbers") from None
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise DataError(f"{name} has NaN or infinity in row {row}; leave such rows out")
    return numbers


def _checked_probabilities(probabilities: Any, n: int, count: int) -> Floats:
    """Return probabilities as (n, K); for two classes (n,) are those of the second."""
    numbers = _finite_numbers(probabilities, "probabilities")
    if numbers.shape == (n,) and count == 2:
        numbers = np.column_stack([1.0 - numbers, numbers])
    if numbers.shape != (n, count):
        raise DataError(f"probabilities has shape {numbers.shape}; give ({n}, {count}), one per row and class")
    outside = (numbers < 0.0).any(axis=1) | (np.abs(numbers.sum(axis=1) - 1.0) > SUM_TOLERANCE)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        shown = ", ".join(f"{number:.4g}" for number in numbers[row][:6])
        raise DataError(f"probabilities has {shown} in row {row}; a row's must be at least 0 and sum to 1")
    return numbers


def _checked_scores(scores: Any, n: int, count: int) -> Floats:
    numbers = _finite_numbers(scores, "scores")
    if numbers.shape == (n,) and count == 2:
        return numbers[:, np.newaxis]
    if numbers.shape != (n, count) or count == 2:
        wanted = f"({n},)" if count == 2 else f"({n}, {count})"
        raise DataError(f"scores has shape {numbers.shape}; give {wanted} for {count} classes")
    return numbers
