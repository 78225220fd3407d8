"""What an evaluation is given, checked: labels as codes, probabilities or scores as an array, weights.

How well a classifier does on rows that it was not fitted on.

    accuracy    the share of rows predicted right, Wilson's interval
    log loss    −mean ln p(label), infinite where a label had probability 0
    Brier       mean (p − 1[second])² of two classes, mean Σₖ (pₖ − 1[k])² of more
    AUC         see `ranking`; of several classes the mean of each against the rest

Cost: a sort a class. On the rows of the fit the numbers are too good; of few rows the intervals say how few.

How well a regression predicts rows that it was not fitted on; e is observed less predicted.

    RMSE  √(mean e²), its interval the root of that of mean e² on the log scale
    R²    1 − mean e² / mean (y − ȳ)², its interval from that of 1 − R² on the log scale, each row's effect on it being
          e²/v − (1 − R²) (y − ȳ)²/v with v = mean (y − ȳ)²
    MAE   mean |e|;   bias   mean (predicted − observed)

Cost: one pass. On the rows of the fit the numbers are too good. R² is below 0 where ȳ would predict better.

The evaluation of a fitted model on rows: asks it for what it can tell, and judges that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, OptionError, counted, require_choice
from separatrix.inference.evaluation_curves import (
    ALIKE,
    Binning,
    Estimate,
    Ranking,
    Reliability,
    mean_area,
    mean_estimate,
    positive_estimate,
    rank_class,
    reliability_of,
    share_estimate,
)
from separatrix.inference.table import json_values, require_level

FEW_CLASSES = 20  # up to which comparing with each is quicker than sorting
SUM_TOLERANCE = 1e-6  # by which the probabilities of a row may miss 1


class EvaluatedRows(NamedTuple):
    """Rows of weight above 0: the place of each label among the classes, their probabilities, scores and weights."""

    codes: Indices
    probabilities: Floats | None
    scores: Floats
    predicted: Indices
    weights: Floats


def evaluated_rows(
    labels: Any, probabilities: Any, classes: Sequence[Any], scores: Any, predicted: Any, weights: Any
) -> EvaluatedRows:
    """Check and join what is known of the rows; scores (n, K) or, of two classes, (n, 1) of the second."""
    codes = codes_of(labels, classes, "labels")
    n, count = len(codes), len(classes)
    if count < 2:
        raise DataError(f"classes has {count} class; give two or more, as a model's classes_")
    if probabilities is None and scores is None:
        raise DataError("there is nothing to judge; give probabilities, or None and scores")
    shares = None if probabilities is None else _shares(probabilities, n, count)
    ranks = (shares[:, 1:] if count == 2 else shares) if shares is not None else _scores(scores, n, count)
    guesses = _guesses(shares, ranks) if predicted is None else codes_of(predicted, classes, "predicted")
    if len(guesses) != n:
        raise DataError(f"predicted has {len(guesses)} rows, but labels has {n}")
    counted = checked_weights(weights, n)
    kept = counted > 0.0
    if kept.all():
        return EvaluatedRows(codes, shares, ranks, guesses, counted)
    shares = None if shares is None else shares[kept]
    return EvaluatedRows(codes[kept], shares, ranks[kept], guesses[kept], counted[kept])


def codes_of(labels: Any, classes: Sequence[Any], name: str) -> Indices:
    """Return the place of each label among the classes, (n,)."""
    values = np.asarray(labels)
    if values.ndim != 1 or not len(values):
        raise DataError(f"{name} has shape {values.shape}; give one label a row, (n,), of at least one row")
    if (codes := _few_codes(values, np.asarray(classes))) is not None:
        return codes
    distinct, inverse = np.unique(values, return_inverse=True)
    places = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    unknown = [label for label in distinct.tolist() if label not in places]
    if unknown:
        known = ", ".join(map(repr, list(places)[:6])) + (", …" if len(places) > 6 else "")
        raise DataError(f"{name} has {unknown[0]!r}, which is none of the classes {known}; give the model's classes_")
    return np.array([places[label] for label in distinct.tolist()], dtype=np.intp)[inverse]


def _few_codes(values: NDArray[Any], classes: NDArray[Any]) -> Indices | None:
    """Return the places of labels among a few classes by comparing with each; None where sorting is needed."""
    kinds = {values.dtype.kind, classes.dtype.kind}
    if len(classes) > FEW_CLASSES or (len(kinds) > 1 and kinds != {"O", "U"}):
        return None
    codes = np.full(len(values), -1, dtype=np.intp)
    for place, label in enumerate(classes):
        codes[values == label] = place
    return codes if (codes >= 0).all() else None


def checked_weights(weights: Any, n: int) -> Floats:
    """Return the rows' weights, 1 each where none are given."""
    if weights is None:
        return np.ones(n)
    numbers = real_numbers(weights, "weights")
    if numbers.shape != (n,) or numbers.min() < 0.0 or numbers.max() <= 0.0:
        raise DataError(f"weights must be {n} numbers of at least 0, not all 0; got shape {numbers.shape}")
    return numbers


def real_numbers(values: Any, name: str) -> Floats:
    """Return finite numbers as an array."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} has entries that are no numbers; give numbers") from None
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise DataError(f"{name} has NaN or infinity in row {row}; leave such rows out")
    return numbers


def _shares(probabilities: Any, n: int, count: int) -> Floats:
    """Return probabilities as (n, K); of two classes (n,) is the second's."""
    numbers = real_numbers(probabilities, "probabilities")
    if numbers.shape == (n,) and count == 2:
        numbers = np.column_stack([1.0 - numbers, numbers])
    if numbers.shape != (n, count):
        raise DataError(f"probabilities has shape {numbers.shape}; give ({n}, {count}), one a row and class")
    outside = (numbers < 0.0).any(axis=1) | (np.abs(numbers.sum(axis=1) - 1.0) > SUM_TOLERANCE)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        seen = ", ".join(f"{number:.4g}" for number in numbers[row][:6])
        raise DataError(f"probabilities has {seen} in row {row}; a row's must be at least 0 and sum to 1")
    return numbers


def _scores(scores: Any, n: int, count: int) -> Floats:
    numbers = real_numbers(scores, "scores")
    if numbers.shape == (n,) and count == 2:
        return numbers[:, np.newaxis]
    if numbers.shape != (n, count) or count == 2:
        wanted = f"({n},)" if count == 2 else f"({n}, {count})"
        raise DataError(f"scores has shape {numbers.shape}; give {wanted} for {count} classes")
    return numbers


def _guesses(probabilities: Floats | None, scores: Floats) -> Indices:
    """Return the class predicted, that of the highest score; of two classes the second on a tie."""
    if scores.shape[1] > 1:
        return np.asarray(scores.argmax(axis=1))
    return np.asarray(scores[:, 0] >= (0.0 if probabilities is None else 0.5), dtype=np.intp)


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
    rows = evaluated_rows(labels, probabilities, classes, scores, predicted, weights)
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


def _rankings(rows: EvaluatedRows, classes: Sequence[Any], level: float) -> list[Ranking]:
    """Return the ranking of the second of two classes, or of each of several."""
    first = len(classes) - rows.scores.shape[1]
    return [
        rank_class(label, rows.scores[:, place], rows.codes == place + first, rows.weights, level)
        for place, label in enumerate(classes[first:])
    ]


def _log_loss(rows: EvaluatedRows, level: float) -> Estimate:
    if rows.probabilities is None:
        return Estimate(None, absent=NO_PROBABILITIES)
    own = rows.probabilities[np.arange(len(rows.codes)), rows.codes]
    if not own.all():
        rows_at_fault = counted(int((own == 0.0).sum()), "row")
        return Estimate(
            math.inf, absent=f"the label had probability 0 in {rows_at_fault}, and its logarithm is infinite"
        )
    return mean_estimate(-np.log(own), rows.weights, level, least=0.0)


def _brier(rows: EvaluatedRows, level: float) -> Estimate:
    if rows.probabilities is None:
        return Estimate(None, absent=NO_PROBABILITIES)
    misses = rows.probabilities.copy()
    misses[np.arange(len(rows.codes)), rows.codes] -= 1.0
    squares = (misses**2).sum(axis=1)
    return mean_estimate(squares / 2.0 if misses.shape[1] == 2 else squares, rows.weights, level, least=0.0)


def _confusion(rows: EvaluatedRows, count: int) -> Floats:
    amounts = np.bincount(rows.codes * count + rows.predicted, rows.weights, minlength=count * count)
    return np.asarray(amounts, dtype=np.float64).reshape(count, count)


def _reliability(rows: EvaluatedRows, level: float, binning: Binning) -> Reliability | None:
    if rows.probabilities is None:
        return None
    if rows.probabilities.shape[1] == 2:
        return reliability_of(rows.probabilities[:, 1], rows.codes == 1, rows.weights, level, binning)
    own = rows.probabilities[np.arange(len(rows.codes)), rows.predicted]
    return reliability_of(own, rows.predicted == rows.codes, rows.weights, level, binning)


REGRESSOR_MEASURES = ("r_squared", "rmse", "mean_absolute_error", "bias")


@dataclass(frozen=True)
class RegressorEvaluation:
    """The measures of a regression with their intervals; `spread` is the RMSE of always predicting the mean."""

    rows: int
    level: float
    r_squared: Estimate
    rmse: Estimate
    mean_absolute_error: Estimate
    bias: Estimate
    spread: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        values = {name: asdict(getattr(self, name)) for name in REGRESSOR_MEASURES}
        told: dict[str, Any] = json_values({"rows": self.rows, "level": self.level, **values, "spread": self.spread})
        return told


def evaluate_regressor(
    observed: Any, predicted: Any, weights: Any = None, *, level: float = 0.95
) -> RegressorEvaluation:
    """Return how well rows were predicted, with intervals: observed (n,), predicted (n,), how much each counts (n,).

    Examples
    --------
    >>> found = evaluate_regressor([1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 2.5, 5.5])
    >>> round(found.r_squared.value, 4), round(found.rmse.value, 4)
    (0.9143, 0.433)
    """
    require_level(level)
    truth, told = real_numbers(observed, "observed"), real_numbers(predicted, "predicted")
    if truth.ndim != 1 or not len(truth) or told.shape != truth.shape:
        raise DataError(f"observed has shape {truth.shape} and predicted {told.shape}; give both as (n,), n at least 1")
    counted = checked_weights(weights, len(truth))
    kept = counted > 0.0
    truth, told, counted = truth[kept], told[kept], counted[kept]
    total, errors = counted.sum(), told - truth
    squares = errors**2
    mean_square = float(counted @ squares / total)
    around = (truth - counted @ truth / total) ** 2
    variance = float(counted @ around / total)
    return RegressorEvaluation(
        rows=len(truth),
        level=level,
        r_squared=_r_squared(squares / variance, around / variance, counted, level) if variance > 0.0 else _constant(),
        rmse=_root(positive_estimate(mean_square, squares - mean_square, counted, level)),
        mean_absolute_error=mean_estimate(np.abs(errors), counted, level, least=0.0),
        bias=mean_estimate(errors, counted, level),
        spread=math.sqrt(variance),
    )


def _r_squared(squares: Any, around: Any, weights: Any, level: float) -> Estimate:
    """Return R² from errors and deviations squared, both in units of the variance."""
    unexplained = float(weights @ squares / weights.sum())
    found = positive_estimate(unexplained, squares - unexplained * around, weights, level)
    if found.lower is None or found.upper is None:
        return Estimate(1.0 - unexplained, absent=found.absent or ALIKE)
    return Estimate(1.0 - unexplained, found.standard_error, 1.0 - found.upper, 1.0 - found.lower)


def _constant() -> Estimate:
    return Estimate(None, absent="the target is the same in every row, so that there is nothing to explain")


def _root(square: Estimate) -> Estimate:
    value = math.sqrt(square.value or 0.0)
    if square.lower is None or square.upper is None or square.standard_error is None:
        return Estimate(value, absent=square.absent)
    error = square.standard_error / (2.0 * value)
    return Estimate(value, error, math.sqrt(square.lower), math.sqrt(square.upper))


def evaluate(
    model: Any, X: Any, y: Any, weights: Any = None, *, level: float = 0.95
) -> ClassifierEvaluation | RegressorEvaluation:
    """Return how well a fitted model predicts rows, with intervals; give rows that it was not fitted on.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> found = sx.evaluate(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.rows, round(found.auc.value, 3)
    (284, 0.986)
    """
    if not hasattr(model, "predict"):
        raise OptionError(f"{model!r} predicts nothing; give a fitted model")
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return evaluate_regressor(y, predicted, weights, level=level)
    told = {"predicted": predicted, "level": level}
    if hasattr(model, "predict_proba"):
        return evaluate_classifier(y, model.predict_proba(X), model.classes_, weights, **told)
    return evaluate_classifier(y, None, model.classes_, weights, scores=model.decision_function(X), **told)
