"""The demos: the values of their sources, to the last digit, and quickly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix.errors import DataError
from separatrix.tables.demos import DEMOS, demo_table, load_demo
from separatrix.tables.open import read_table

SIZES = {
    "students": (4, 4),
    "five-points": (5, 2),
    "five-points-overlap": (5, 2),
    "four-points": (4, 2),
    "breast-cancer": (569, 30),
    "iris": (150, 4),
}


def test_every_demo_has_its_size() -> None:
    assert {name: load_demo(name)[0].shape for name in DEMOS} == SIZES


@pytest.mark.parametrize("name", SIZES)
def test_a_demo_has_the_columns_it_declares(name: str) -> None:
    demo, table = DEMOS[name], demo_table(name)
    assert set(table.names) - {demo.row_names} == {*demo.features, demo.target}
    assert (table.target, table.row_names, table.source) == (demo.target, demo.row_names, f"demo:{name}")
    X, y = load_demo(name)
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert y.dtype.kind in "fU"
    assert len(np.unique(y)) == (3 if name == "iris" else 2)
    assert len(demo.description) <= 100
    assert demo.origin


@pytest.mark.parametrize(("name", "load"), [("breast-cancer", load_breast_cancer), ("iris", load_iris)])
def test_shipped_values_are_those_of_scikit_learn(name: str, load: object) -> None:
    source = load()  # type: ignore[operator]
    X, y = load_demo(name)
    np.testing.assert_array_equal(X, source.data)
    np.testing.assert_array_equal(y, source.target_names[source.target])


def test_columns_of_the_measurements_are_in_the_order_of_scikit_learn() -> None:
    assert DEMOS["breast-cancer"].features == tuple(n.replace(" ", "_") for n in load_breast_cancer().feature_names)
    assert DEMOS["iris"].features == tuple(n[:-5].replace(" ", "_") for n in load_iris().feature_names)


def test_the_small_demos_are_those_of_the_notes() -> None:
    X, y = load_demo("students")
    assert X.tolist() == [[1, 1, -1, -1], [1, 1, 1, 1], [-1, -1, -1, 1], [1, -1, -1, 1]]
    assert y.tolist() == ["A", "F", "F", "A"]
    assert demo_table("students").column("name").values.tolist() == ["Jane", "Steve", "Mary", "Peter"]
    X, y = load_demo("five-points")
    assert X.T.tolist() == [[1, 1, -1, -1, -2], [4, -2, -3, 2, 0]]
    assert y.tolist() == [1, 1, -1, -1, -1]
    X, y = load_demo("five-points-overlap")
    assert X.tolist() == [[2, 1], [4, 3], [3, 5], [1, 3], [5, 6]]
    assert y.tolist() == [1, 1, 1, -1, -1]
    X, y = load_demo("four-points")
    assert (-X[:, 0] * X[:, 1]).tolist() == y.tolist()


def test_an_unknown_demo_is_answered_with_the_nearest_or_all() -> None:
    with pytest.raises(DataError, match=r"^there is no demo 'student'; did you mean 'students'\?$"):
        read_table("demo:student")
    with pytest.raises(DataError, match=r"^there is no demo 'zzz'; known: 'students', 'five-points', .*'iris'$"):
        load_demo("zzz")


def test_loading_a_demo_imports_nothing_heavy() -> None:
    code = (
        "import sys, separatrix; X, y = separatrix.load_demo('breast-cancer');"
        "print(X.shape, sorted({'sklearn', 'numba', 'duckdb', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "(569, 30) []\n"
