"""Whether a model predicts with the coefficients that its certificate is about.

A certificate is of the columns as they were fitted, divided by the scales of the options, if there are any; of two
classes it may have the other one as the positive one; and a softmax's coefficients may have been centred over the
classes since, which changes no probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, CertifiedCoef, Check
from separatrix.errors import counted
from separatrix.model.record import Model
from separatrix.model.rows import scales_of

ROUNDING = 1e-9  # relative to the largest coefficient of a feature: what dividing and centring may cost
NAME = "coefficients"


def check_coefficients(model: Model, certificate: Certificate) -> Check:
    """Check that a model's coefficients are those that its certificate is about; None holds where it is about none."""
    found = certificate.certified()
    if found is None:
        return Check(NAME, None, f"not covered: the proof of {certificate.kind} is about none of them")
    own = _in_order(found, model.classes)
    if own is None:
        return Check(NAME, False, f"the certificate is of {_of(found.labels)}, the model of {_of(model.classes)}")
    claimed = np.column_stack([own.intercept, own.coef])
    used = np.column_stack([model.intercept, model.coef * _scales(model)])
    if claimed.shape != used.shape:
        words = f"the certificate has {_shape(claimed)}, intercept included, the model {_shape(used)}"
        return Check(NAME, False, words)
    apart = _apart(used, claimed, claimed)
    centred = claimed - claimed.mean(axis=0) if model.rule.link == "softmax" else claimed
    if not apart.any() or not _apart(used, centred, claimed).any():
        return Check(NAME, True, f"the model's {used.size:,} are the certificate's, to {ROUNDING:g}")
    keep = model.options.get("keep")
    others = [bool(ways) and keep in ("best", "average") and keep not in ways for ways in own.kept]
    sure = apart & ~np.asarray(others)[:, np.newaxis]
    if sure.any():
        return Check(NAME, False, _first_apart(model, used, claimed, sure))
    return Check(NAME, None, f"not covered: it is of the last weights of a run, and the model keeps the {keep}")


def _in_order(found: CertifiedCoef, classes: tuple[Any, ...] | None) -> CertifiedCoef | None:
    """Return certified coefficients in the order of a model's classes; None if they are of others."""
    if found.labels is None or classes is None:
        return found if found.labels is classes else None
    if len(found.labels) != len(classes) or any(label not in classes for label in found.labels):
        return None
    if found.labels == classes:
        return found
    if len(found.coef) == 1:
        return found._replace(coef=-found.coef, intercept=-found.intercept)
    order = [found.labels.index(label) for label in classes]
    kept = tuple(found.kept[place] for place in order)
    return found._replace(coef=found.coef[order], intercept=found.intercept[order], kept=kept)


def _scales(model: Model) -> Floats:
    scales = scales_of(model)
    return np.ones(model.coef.shape[1]) if scales is None else scales


def _apart(used: Floats, claimed: Floats, sizes: Floats) -> Bools:
    """Tell which coefficients differ by more than rounding costs numbers of some sizes."""
    return np.asarray(~(np.abs(used - claimed) <= ROUNDING * np.abs(sizes).max(axis=0)))


def _first_apart(model: Model, used: Floats, claimed: Floats, apart: Bools) -> str:
    """Return a sentence that names the first coefficient that differs."""
    score, place = (int(found[0]) for found in np.nonzero(apart))
    name = "the intercept" if place == 0 else f"that of {model.encoding.feature_names[place - 1]!r}"
    whose = f" of {(model.classes or ())[score]!r}" if len(used) > 1 else ""
    unit = 1.0 if place == 0 else _scales(model)[place - 1]
    numbers = (
        f"{used[score, place] / unit:.10g} in the model and {claimed[score, place] / unit:.10g} by the certificate"
    )
    return f"{name}{whose} is {numbers}, and {counted(int(apart.sum()), 'number')} of {used.size:,} differ so"


def _of(labels: tuple[Any, ...] | None) -> str:
    return "numbers" if labels is None else f"the classes {list(labels)}"


def _shape(numbers: Floats) -> str:
    return f"{counted(len(numbers), 'score')} of {counted(numbers.shape[1], 'coefficient')}"
