"""R's linear models of the reference data: design, target, weights and what R says of them."""

import csv
from typing import Any, NamedTuple

import numpy as np
from data import DATA, reference

FOLDER = "lm_refs"


class LinearSet(NamedTuple):
    """Columns without the constant, their names, the target, weights or None, and the reference."""

    X: np.ndarray
    names: list[str]
    y: np.ndarray
    weights: np.ndarray | None
    intercept: bool
    truth: dict[str, Any]


def linear_set(name: str) -> LinearSet:
    """Return the rows of a reference; those with a missing value are left out, as R does."""
    truth = reference(FOLDER, name)
    columns = _columns(truth["data_file"])
    target = truth["formula"].split("~")[0].strip()
    terms = [term for term in truth["terms"] if term != "(Intercept)"]
    terms = _in_order(truth["formula"], terms, truth.get("aliased_terms") or [])
    design = _columns(truth["design_file"]) if truth.get("design_file") else columns
    numbers = np.array([_floats(design[term]) for term in terms]).T
    y = np.log(_floats(columns["Volume"])) if target == "log(Volume)" else _floats(columns[target])
    kept = np.isfinite(numbers).all(axis=1) & np.isfinite(y)
    weights = _floats(columns[truth["weights"]]) if truth["weights"] else None
    intercept = "(Intercept)" in truth["terms"]
    return LinearSet(numbers[kept], terms, y[kept], weights, intercept, truth)


def _in_order(formula: str, terms: list[str], aliased: list[str]) -> list[str]:
    """Return the columns in the formula's order, aliased ones included."""
    if not aliased:
        return terms
    return [term.strip() for term in formula.split("~")[1].split("+")]


def _columns(file: str) -> dict[str, tuple[str, ...]]:
    with (DATA / FOLDER / file).open(encoding="utf-8", newline="") as opened:
        header, *rows = list(csv.reader(opened))
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def _floats(texts: tuple[str, ...]) -> np.ndarray:
    return np.array([text if text not in {"", "NA"} else "nan" for text in texts], dtype=float)
