"""`separatrix warm-up`, and the line that tells of compiling."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from separatrix import jit
from separatrix.cli.warm_up import _learners

COMPILE = """
import sys
from separatrix.cli import main
from separatrix.jit import warming
from separatrix.numerics import sigmoid

def app(**_: object) -> None:
    assert sigmoid.compiled(0.0) == 0.5
    sigmoid.__dict__.pop("compiled")
    assert sigmoid.compiled(0.0) == 0.5

main.app = app
sys.argv = ["separatrix", "fit"]
main.main()
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment = {**own, "XDG_CACHE_HOME": str(folder)}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)


def test_compiling_is_told_once_and_not_when_the_cache_has_the_loops(tmp_path: Path) -> None:
    first, second = (run(tmp_path, "-c", COMPILE) for _ in range(2))
    line = "compiling loops, once per machine (`separatrix warm-up` does so in advance)"
    assert (first.returncode, first.stderr.strip()) == (0, line)
    assert (second.returncode, second.stderr) == (0, "")


def test_loops_are_chosen_compiled_while_warming_only() -> None:
    @jit.loop
    def twice(x: int) -> int:
        return 2 * x

    gate = jit.WorkGate("test of warming", operations=1_000)
    assert gate.choose(twice, 1) is twice
    with jit.warming():
        twice.__dict__["compiled"] = "machine code"
        assert gate.choose(twice, 1) == "machine code"
    assert gate.choose(twice, 1) is twice


def test_every_learner_that_visits_rows_is_warmed() -> None:
    names = [name for name, *_ in _learners()]
    assert len(names) == len(set(names)) == 9
    for word in ("perceptron", "vector machine", "lasso", "L1", "dual", "stochastic"):
        assert any(word in name for name in names), word


@pytest.mark.slow
def test_warm_up_compiles_everything_once(tmp_path: Path) -> None:
    command = ("-c", "from separatrix.cli.main import main; main()", "warm-up")
    first = run(tmp_path, *command)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("compiled ")
    assert json.loads(run(tmp_path, *command, "--json").stdout)["compiled"] == 0
    assert run(tmp_path, *command).stdout == "nothing to compile: all loops are in the cache of this machine\n"
