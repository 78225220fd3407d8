"""Loading what the first steps of a session need, so that the first person does not wait for it."""

from __future__ import annotations

from separatrix.lab.session.compare import compare
from separatrix.lab.session.history import new_history
from separatrix.lab.session.options import LEARNERS, PaneOptions
from separatrix.lab.session.state import first_state
from separatrix.lab.session.verdict import verdict_of

__all__ = ["warm_up"]


def warm_up() -> None:
    """Walk every learner over five points, judge them and compare, once; a second or two, mostly of loading."""
    state = first_state()
    for learner in LEARNERS:
        new_history(state.points, PaneOptions(learner=learner, max_steps=2)).whole()
    verdict_of(state, 0)
    compare(state, 0)
