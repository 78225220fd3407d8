"""Stochastic learners row by row: the visits of the library's own loop, one at a time, or a pass a frame.

A pass a frame is the solver `Stochastic` itself. For a visit a frame its loop is called with one row; the state that it
carries from call to call makes the weights the same, digit for digit, at the end of each pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import counted, require_choice
from separatrix.lab.session.history import Ending, Frame, Frames
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.walks.descent import RUN_AWAY, rate_of
from separatrix.loops import stochastic
from separatrix.losses import ScalarLoss
from separatrix.rule import UpdateRule
from separatrix.solvers import Stochastic, check_needs
from separatrix.solvers.visits import Order

__all__ = ["decay_of", "stochastic_solver", "visit_order", "visit_walk"]

Floats = NDArray[np.float64]
_NONE = np.empty(0)
_IN_TURN = np.empty(0, dtype=np.int64)


def decay_of(setting: Setting) -> float:
    """Return how the rate falls: η / (1 + decay·k) after k visits; 0 for a constant rate."""
    if setting.pane.schedule == "constant":
        return 0.0
    floor = setting.strength if not setting.pane.fit_intercept else 0.0
    return rate_of(setting) * floor or 1.0 / len(setting.points)


def stochastic_solver(setting: Setting, rng: np.random.Generator) -> Stochastic:
    """Return the solver that a pane asks for."""
    pane = setting.pane
    order: Order = require_choice("order", pane.order, get_args(Order))
    decay = decay_of(setting)
    return Stochastic(
        rate_of(setting), schedule="inverse" if decay else "constant", decay=decay or None, order=order, seed=rng
    )


def visit_order(setting: Setting, rng: np.random.Generator) -> Iterator[int]:
    """Yield the rows in the order of the visits, drawn as the solver draws them."""
    n, order = len(setting.points), setting.pane.order
    while True:
        if order == "random":
            yield from rng.integers(0, n, size=n).tolist()
        else:
            yield from (rng.permutation(n) if order == "shuffled" else np.arange(n)).tolist()


def visit_walk(setting: Setting) -> Frames:
    """Walk with a frame a visit or, if the pane asks for it, a pass."""
    rng = np.random.default_rng(setting.pane.seed)
    start = setting.start(rng)
    check_needs(Stochastic(), setting.problem)
    by_visit = setting.pane.step_unit == "visit"
    frames = _visits(setting, start, rng) if by_visit else _passes(setting, start, rng)
    last = Frame(0, start)
    for frame in islice(frames, setting.pane.max_steps + 1):
        if not np.abs(frame.coef).max(initial=0.0) < RUN_AWAY:
            words = f"diverged after {counted(last.step, setting.pane.step_unit)}: the rate is too large"
            return Ending("diverged", words, f"the rate {rate_of(setting):g} is too large for rows of this length")
        yield frame
        last = frame
    words = f"stopped after {counted(last.step, setting.pane.step_unit)}"
    return Ending("max_steps", words, "at a constant rate it circles the least objective; more steps may be asked for")


def _passes(setting: Setting, start: Floats, rng: np.random.Generator) -> Iterator[Frame]:
    before: Floats | None = None
    n, rate, decay = len(setting.points), rate_of(setting), decay_of(setting)
    for number, step in enumerate(stochastic_solver(setting, rng).steps(setting.problem, start)):
        change = None if before is None else step.coef - before
        facts, visits = dict(step.facts), number * n
        at = rate / (1.0 + decay * visits)
        yield Frame(number, step.coef, change=change, rate=at, updates=visits, visits=visits, facts=facts)
        before = step.coef


def _visits(setting: Setting, start: Floats, rng: np.random.Generator) -> Iterator[Frame]:
    walk = _VisitWalk(setting, start)
    yield Frame(0, walk.coef())
    judge = UpdateRule(tie="mistake")
    for number, row in enumerate(visit_order(setting, rng), start=1):
        before, rate = walk.coef(), walk.rate
        score = float(setting.design.take(np.array([row]))[0] @ before)
        walk.visit(row)
        after = walk.coef()
        mistake = bool(judge.mistaken(np.array([score]), setting.y[row : row + 1])[0])
        yield Frame(number, after, 0.0, row, score, mistake, after - before, rate, number, number)


class _VisitWalk:
    """The state that the loop carries from visit to visit."""

    def __init__(self, setting: Setting, start: Floats) -> None:
        assert isinstance(setting.loss, ScalarLoss)
        self.rows, self.y = setting.design.stored_rows(), setting.y
        self.schedule = stochastic.Schedule(rate_of(setting), decay_of(setting), setting.problem.penalty.quadratic)
        self.weights = stochastic.Weights(np.array(start), _NONE.copy(), np.array([0.0, 1.0, 0.0]))
        self.loop = stochastic.visits_down(setting.loss.slope)

    @property
    def rate(self) -> float:
        """The rate of the next visit."""
        return self.schedule.rate / (1.0 + self.schedule.decay * float(self.weights.state[stochastic.VISITS]))

    def visit(self, row: int) -> None:
        """Visit a row."""
        width = self.rows.width
        one = self.rows._replace(values=self.rows.values[row * width : (row + 1) * width])
        with np.errstate(over="ignore", invalid="ignore"):  # a walk that diverges is told by its weights
            self.loop(one, self.y[row : row + 1], _NONE, _IN_TURN, self.schedule, self.weights)

    def coef(self) -> Floats:
        """Return the weights as they are."""
        current: Floats = self.weights.current.copy()
        current[self.rows.virtual :] *= self.weights.state[stochastic.SCALE]
        return current
