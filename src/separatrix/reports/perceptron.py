"""The mistakes of a perceptron beside their bound, in sentences, and its summary as JSON values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.design.build import INTERCEPT
from separatrix.errors import counted
from separatrix.fit.result import FitResult

if TYPE_CHECKING:
    from separatrix.model.train import TrainedModel

SORTED_RUN = 10  # mean length of runs of one class from which a table counts as sorted by class
FAR = 50.0  # ratio of a bound to mistakes from which they are drawn by their logarithms
NO_OPTIONS = {"names", "storage"}  # entries of a result's provenance that are no options


def perceptron_summary(trained: TrainedModel, source: str) -> dict[str, Any]:
    """Return the data, how the fit ended, its mistakes with their bound, and the weights, as JSON values."""
    model, result, target = trained.model, trained.fitted.result, trained.target
    labels, used = model.classes or (), trained.predictions.kept
    y, predicted = np.asarray(target.y)[used], trained.predictions.labels[used]
    wrong = int(np.sum(predicted != y))
    signs = (-1, 1) if len(labels) == 2 else [None] * len(labels)
    names = model.encoding.feature_names
    return {
        "title": "Perceptron",
        "source": source,
        "target": model.target,
        "rows": len(y),
        "columns": list(names),
        "classes": [
            {"label": label, "rows": int(np.sum(y == label)), "sign": sign}
            for label, sign in zip(labels, signs, strict=True)
        ],
        **_ending(result),
        "passes": float(result.passes),
        "seconds": float(result.seconds),
        "wrong": wrong,
        "accuracy": 1.0 - wrong / len(y),
        "on_boundary": _ties(trained.predictions.scores[used]),
        "notes": [*_advice(trained), *trained.predictions.sentences],
        "options": {name: value for name, value in result.provenance.items() if name not in NO_OPTIONS},
        "predictors": [
            {"positive": positive, "negative": negative, **_ending(part), **_weights(part, names)}
            for positive, negative, part in _parts(trained)
        ],
    }


def _parts(trained: TrainedModel) -> Iterator[tuple[Any, Any, FitResult]]:
    """Yield the positive class, the negative one (None: all others), and the fit of each score."""
    labels, result = trained.model.classes or (), trained.fitted.result
    if len(labels) == 2:
        yield labels[1], labels[0], result
    else:
        yield from ((label, None, part) for label, part in zip(labels, result.parts, strict=True))


def _ending(result: FitResult) -> dict[str, Any]:
    status = {"status": str(result.status), "reached_goal": result.status.reached_goal}
    return {**status, "message": result.message, "updates": int(result.facts["updates"])}


def _weights(part: FitResult, names: tuple[str, ...]) -> dict[str, Any]:
    certificate = part.certificate
    assert isinstance(certificate, MistakesCertificate)
    bound = _finite_bound(certificate)
    intercept = [[INTERCEPT, float(part.intercept)]] if len(part.provenance["names"]) > len(names) else []
    evidence = {name: getattr(certificate, name) for name in ("kind", "verdict", "claim", "radius", "margin")}
    evidence |= {"bound": bound, "textbook": bound is not None and certificate.is_textbook}
    weights = [[name, weight] for name, weight in zip(names, part.coef.tolist(), strict=True)]
    return {"coefficients": [*intercept, *weights], "evidence": evidence}


def _finite_bound(certificate: MistakesCertificate) -> float | None:
    bound = certificate.bound
    return None if certificate.margin is None or bound is None or math.isinf(bound) else bound


def _ties(scores: Floats) -> int:
    """Return the number of rows on a boundary: with a score of 0 or, for several classes, two highest scores."""
    if scores.ndim == 1:
        return int(np.sum(scores == 0.0))
    return int(np.sum(np.sum(scores == scores.max(axis=1, keepdims=True), axis=1) > 1))


def mistake_sentences(trained: TrainedModel) -> list[str]:
    """Return the mistakes beside their bound, for several classes one sentence each."""
    return [
        mistake_sentence(part) if negative is not None else f"{positive!r} against the rest: {mistake_sentence(part)}"
        for positive, negative, part in _parts(trained)
    ]


def mistake_bars(trained: TrainedModel) -> list[tuple[str, str, float]]:
    """Return, for each fit with a bound, the sentence, the bound, and the mistakes in percent of it.

    The share is of logarithms if the bound is `FAR` times the mistakes or more.
    """
    bars = []
    for positive, negative, part in _parts(trained):
        certificate, updates = part.certificate, int(part.facts["updates"])
        assert isinstance(certificate, MistakesCertificate)
        bound = _finite_bound(certificate)
        if bound is not None and bound >= 1.0:
            far = bound >= FAR * max(updates, 1)
            share = math.log1p(updates) / math.log1p(bound) if far else updates / bound
            scale = ", on a log scale" if far else ""
            label = "" if negative is not None else f"{positive!r} against the rest: "
            what = counted(updates, "mistake" if certificate.is_textbook else "update")
            text = f"{label}{what}; the theorem allows at most {_count(bound)}{scale}"
            bars.append((text, _count(bound), round(100.0 * min(share, 1.0), 2)))
    return bars


def mistake_sentence(part: FitResult) -> str:
    """Return the mistakes of one predictor beside their bound."""
    certificate, updates = part.certificate, int(part.facts["updates"])
    assert isinstance(certificate, MistakesCertificate)
    if certificate.margin is None:
        return f"{counted(updates, 'update')}; no separator is known, so there is no bound"
    bound = _finite_bound(certificate)
    if bound is None:
        return f"{counted(updates, 'update')}; the bound of the known separator is beyond the range of a float"
    numbers = f"R = {certificate.radius:.4g} and γ = {certificate.margin:.4g}"
    if certificate.is_textbook:
        return f"{counted(updates, 'mistake')}; the theorem allows at most {_count(bound)}, (R/γ)² with {numbers}"
    most = f"at most {_count(bound)} are possible by this rule from this start"
    return f"{counted(updates, 'update')}; {most} ({numbers})"


def _count(bound: float) -> str:
    """Return a bound rounded down or, if it is long, in powers of ten."""
    nearest = round(bound)
    whole = nearest if abs(bound - nearest) <= 1e-9 * bound else int(bound)
    return f"{whole:,}" if bound < 1e9 else f"{bound:.3g}"


def perceptron_notes(trained: TrainedModel) -> list[str]:
    """Return the number of rows on a boundary, if any, and advice on the options."""
    ties = _ties(trained.predictions.scores[trained.predictions.kept])
    decides = "the first class wins" if len(trained.model.classes or ()) > 2 else "the tie rule decides"
    lie = "lies" if ties == 1 else "lie"
    return [
        *([f"{counted(ties, 'row')} {lie} exactly on a boundary, where {decides}"] if ties else []),
        *_advice(trained),
    ]


def _advice(trained: TrainedModel) -> Iterator[str]:
    options, result, classes = trained.fitted.options, trained.fitted.result, trained.target.classes
    assert classes is not None  # a perceptron is a classifier
    if options.tie == "correct" and not result.facts["updates"]:
        yield "with --tie correct a score of 0 is never corrected, so zeros stay zeros; try --start random"
    runs = 1 + int(np.count_nonzero(np.diff(classes.codes)))
    in_turn = options.update == "single" and options.order == "cyclic"
    if in_turn and not result.status.reached_goal and len(classes.codes) >= SORTED_RUN * runs:
        yield "the rows come sorted by class, and visited in turn they teach one class at a time; try --order shuffled"
