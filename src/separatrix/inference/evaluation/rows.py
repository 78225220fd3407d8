"""What an evaluation is given, checked: labels as codes, probabilities or scores as an array, weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError

FEW_CLASSES = 20  # up to which comparing with each is quicker than sorting
SUM_TOLERANCE = 1e-6  # by which the probabilities of a row may miss 1


class JudgedRows(NamedTuple):
    """Rows of weight above 0: the place of each label among the classes, their probabilities, scores and weights."""

    codes: Indices
    probabilities: Floats | None
    scores: Floats
    predicted: Indices
    weights: Floats


def judged_rows(
    labels: Any, probabilities: Any, classes: Sequence[Any], scores: Any, predicted: Any, weights: Any
) -> JudgedRows:
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
        return JudgedRows(codes, shares, ranks, guesses, counted)
    shares = None if shares is None else shares[kept]
    return JudgedRows(codes[kept], shares, ranks[kept], guesses[kept], counted[kept])


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
