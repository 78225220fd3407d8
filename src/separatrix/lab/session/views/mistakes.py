"""Mistakes against (R/γ)², with both inequalities of the proof after every update: ‖w_t‖² ≤ t R² and w*·w_t ≥ t γ.

A kernel perceptron's R, γ and w are those of the kernel's space.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import Certificate, MistakesCertificate, ProofStep
from separatrix.certificates.kernel_mistakes import KernelMistakesCertificate
from separatrix.errors import OptionError
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.lab.session.state import State

__all__ = ["MistakeView", "mistake_view"]

Floats = NDArray[np.float64]
Counted = MistakesCertificate | KernelMistakesCertificate
PERCEPTRONS = {"perceptron", "kernel_perceptron"}


@dataclass(frozen=True, eq=False)
class MistakeView:
    """After updates t (T,): ‖w_t‖² and its ceiling, w*·w_t and its floor, and whether both hold.

    `now` is the number of updates made by the state's step; without a separator, bound and margin are None, and
    progress and floor are 0.
    """

    t: NDArray[np.intp]
    squared_norm: Floats
    ceiling: Floats
    progress: Floats
    floor: Floats
    holds: NDArray[np.bool_]
    now: int
    bound: float | None
    radius: float
    margin: float | None
    words: str


def mistake_view(state: State, pane: int) -> MistakeView:
    """Return the view of a perceptron's pane at the state's step; learners other than the two raise an OptionError."""
    options = state.pane(pane)
    if options.learner not in PERCEPTRONS:
        raise OptionError(f"the bound (R/γ)² is the perceptron's; {options.kind.title} is not counted in mistakes")
    history = history_of(state.points, options)
    certificate = _counted(history.whole().certificate)
    if certificate is None:
        raise OptionError(f"there is no run to count: {history.whole().message}")
    proof, now = _proof(state.points, options), history.frame(state.step).updates
    table = np.array([step[:5] for step in proof], dtype=np.float64).reshape(-1, 5)
    return MistakeView(
        t=table[:, 0].astype(np.intp),
        squared_norm=table[:, 1],
        ceiling=table[:, 2],
        progress=table[:, 3],
        floor=table[:, 4],
        holds=np.array([step.holds for step in proof], dtype=bool),
        now=now,
        bound=certificate.bound,
        radius=certificate.radius,
        margin=certificate.margin,
        words=_words(certificate, now),
    )


@lru_cache(maxsize=16)
def _proof(points: Points, options: PaneOptions) -> tuple[ProofStep, ...]:
    """Return both inequalities after each update of a run, replayed by its certificate."""
    history = history_of(points, options)
    certificate = _counted(history.whole().certificate)
    assert certificate is not None
    rows = points.X if options.kind.kernel else history.setting.features
    return tuple(certificate.proof(rows, points.y.astype(np.int64)))


def _counted(certificate: Certificate | None) -> Counted | None:
    """Return a certificate if it is one of a run of mistakes."""
    return certificate if isinstance(certificate, Counted) else None


def _words(certificate: Counted, now: int) -> str:
    if certificate.bound is None:
        return f"{now:,} mistakes so far; no separator is known, so nothing bounds them"
    how = "(R/γ)²" if certificate.is_textbook else "the bound"
    size = f"R = {certificate.radius:.6g}, γ = {certificate.margin:.6g}{_place(certificate)}"
    return f"{now:,} mistakes so far; at most {how} = {certificate.bound:.6g} with {size}"


def _place(certificate: Counted) -> str:
    """Return where radius and margin are measured, if not among the rows as they are."""
    if isinstance(certificate, KernelMistakesCertificate):
        return f" in the space of the {certificate.kernel.name} kernel{' plus 1' if certificate.fit_intercept else ''}"
    return " of the rows (1, x)" if certificate.fit_intercept else ""
