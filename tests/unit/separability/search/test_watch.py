"""The search for a separating face tells a watch of its rounds, and stops where the watch has it stop."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.cli.progress import Progress
from separatrix.fit.result import Status
from separatrix.model.train import TrainOptions, train_table
from separatrix.tables.frames import from_frame
from separatrix.tables.open import read_table

REASON = "the search was stopped before it was over"


def rows(n: int = 4000, p: int = 5) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + rng.normal(size=n) > 0.0).astype(np.intp)


def test_a_watch_is_told_of_passes_and_changes_nothing_as_long_as_it_lets_the_search_go_on() -> None:
    X, y = rows()
    told: list[float] = []
    found = sx.check_separability(X, y, watch=lambda facts: told.append(facts["passes"]))
    assert found.to_dict() == sx.check_separability(X, y).to_dict()
    assert len(told) >= 2
    assert told == sorted(told)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_stopped_search_is_undecided_and_says_why(rounds: int) -> None:
    X, y = rows()
    told: list[Mapping[str, float]] = []

    def watch(facts: Mapping[str, float]) -> bool:
        told.append(facts)
        return len(told) >= rounds

    found = sx.check_separability(X, y, watch=watch)
    assert (found.verdict, found.claim, found.reason, len(told)) == ("undecided", "not decided", REASON, rounds)


def test_the_parts_of_one_against_the_rest_and_of_pairs_are_stopped_as_well() -> None:
    X, y = rows(300)
    y[:50] = 2
    for how in ("one_vs_rest", "pairs"):
        found: Any = sx.check_separability(X, y, multiclass=how, watch=lambda _: True)
        assert found.verdict == "undecided"


@pytest.mark.slow
def test_a_search_of_very_many_columns_stops_too() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(300) % 100
    told: list[Mapping[str, float]] = []

    def watch(facts: Mapping[str, float]) -> bool:
        told.append(facts)
        return len(told) > 1  # the first sweep is let go on

    found = sx.check_separability(rng.normal(size=(300, 20)), y, watch=watch)
    assert (found.verdict, found.claim, found.reason) == ("undecided", "not decided", REASON)


def test_a_table_whose_check_is_stopped_still_has_its_model() -> None:
    trained = train_table(read_table("demo:breast-cancer"), TrainOptions(drop=("worst_area",)), lambda _: True)
    assert trained.fitted.result.status is Status.INTERRUPTED


def test_a_fit_stopped_while_its_maximum_is_looked_for_says_what_is_not_known() -> None:
    X, y = rows(600, 3)
    table = from_frame(pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(y == 1, "yes", "no")))
    trained = train_table(table, TrainOptions(target="y"), lambda _: True)
    assert "a penalty is used: it is not known whether the likelihood has a maximum" in trained.decisions
    assert trained.fitted.result.status is Status.INTERRUPTED


def test_ctrl_c_ends_a_check_undecided_with_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    watch_of = Progress.watch

    def interrupted(self: Progress, stopped: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return watch_of(self, stopped)

    monkeypatch.setattr(Progress, "watch", interrupted)
    told = CliRunner().invoke(app, ["check", "demo:breast-cancer", "--json"])
    assert told.exit_code == 1
    assert json.loads(told.stdout)["verdict"] == "undecided"
