"""The session is pure: it loads no page, needs no scikit-learn, and many go on at once without meeting."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import separatrix.lab.session
from separatrix.lab.session import actions
from separatrix.lab.session.history import new_history
from separatrix.lab.session.options import LEARNERS
from separatrix.lab.session.presets import PRESETS
from separatrix.lab.session.state import first_state
from separatrix.lab.session.verdict import verdict_of
from separatrix.lab.session.views.input_space import input_space
from separatrix.lab.session.views.status import status_line

ROOM = Path(separatrix.lab.session.__file__).parent
STRANGERS = {"panel", "bokeh", "sklearn", "matplotlib", "duckdb"}


def test_no_page_and_no_heavy_library_is_loaded():
    files = (file.relative_to(ROOM).with_suffix("") for file in sorted(ROOM.rglob("*.py")) if file.stem != "__init__")
    modules = [".".join(("separatrix.lab.session", *file.parts)) for file in files]
    assert len(modules) > 25
    code = f"import sys, {', '.join(modules)}; print(*({STRANGERS} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_nothing_asks_the_clock_or_draws_without_a_seed():
    for file in ROOM.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "import time" not in text, file
        assert "import random" not in text, file
        assert "default_rng()" not in text, file
        assert "eval(" not in text, file
        assert "exec(" not in text, file


def one_session(number):
    """Walk a session of its own, and return where it ends."""
    names = list(PRESETS)
    state = actions.load_preset(first_state(), names[number % len(names)])
    state = actions.set_option(state, 0, learner=list(LEARNERS)[number % len(LEARNERS)], max_steps=60, seed=number)
    for _ in range(12):
        state = actions.step(state)
        input_space(state, 0)
    verdict_of(state, 0)
    told = status_line(state, 0)
    return state.step, told.weights, told.wrong


def test_twenty_sessions_at_once_are_as_each_alone():
    with ThreadPoolExecutor(20) as pool:
        together = list(pool.map(one_session, range(20)))
    assert together == [one_session(number) for number in range(20)]
    state = first_state()
    assert new_history(state.points, state.panes[0]).whole().words == "converged, 5 ≤ 17"
