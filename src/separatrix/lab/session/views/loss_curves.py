"""The surrogate losses as functions of the margin y·s, and each point's place on the learner's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.lab.session.history import history_of
from separatrix.lab.session.state import State

__all__ = ["LossCurves", "loss_curves"]

Floats = NDArray[np.float64]
CURVE = 301  # margins at which each loss is drawn
NARROWEST, WIDEST = 2.5, 12.0  # of the margins drawn, on either side of 0


@dataclass(frozen=True, eq=False)
class LossCurves:
    """Curves by name over margins (k,), the name of the learner's own, and the points' margins and losses (m,).

    Points beyond the margins drawn are put at the edge, and counted in `beyond`.
    """

    margin: Floats
    curves: dict[str, Floats]
    own: str
    point_margin: Floats
    point_value: Floats
    id: NDArray[np.int64]
    label: Floats
    beyond: int


def loss_curves(state: State, pane: int) -> LossCurves:
    """Return the view of a pane at the state's step."""
    history = history_of(state.points, state.pane(pane))
    margins = history.measure(state.step).margins
    reach = float(np.clip(np.abs(margins).max(), NARROWEST, WIDEST))
    grid = np.linspace(-reach, reach, CURVE)
    known = {loss.name: loss for loss in losses.ALL if loss.target != "classes"}
    curves = {name: np.asarray(loss.value(grid, np.ones(CURVE))) for name, loss in known.items()}
    own, drawn = history.setting.loss.name, state.points.drawn
    shown = np.clip(margins[drawn], -reach, reach)
    value = np.asarray(known[own].value(shown, np.ones(len(shown))))
    beyond = int((np.abs(margins) > reach).sum())
    return LossCurves(grid, curves, own, shown, value, state.points.ids[drawn], state.points.y[drawn], beyond)
