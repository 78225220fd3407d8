"""The page of a fit: coefficients in the order of the model, what they are of, and only intervals that hold."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.model.train import TrainOptions, train_table
from separatrix.rendering.text import render_text
from separatrix.reports.text import measures_of, trained_page
from separatrix.tables.frames import from_frame


def frame(n: int = 400, noise: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {f"x{place}": rng.normal(size=n) for place in range(noise)}
    columns["dose"] = rng.normal(size=n)
    columns["site"] = rng.choice(["east", "north", "west"], size=n, p=[0.2, 0.5, 0.3])
    columns["outcome"] = np.where(columns["dose"] + rng.logistic(size=n) > 0.0, "well", "ill")
    columns["size"] = columns["dose"] + rng.normal(size=n)
    return pd.DataFrame(columns)


def page(data: pd.DataFrame, **options: Any) -> str:
    table = from_frame(data)
    return render_text(*trained_page(train_table(table, TrainOptions(**options)), table))


def rows(text: str) -> list[str]:
    """Return the names of the first column of the coefficients."""
    lines = text.partition("std. error")[2].splitlines() or text.partition("Coefficients: ")[2].splitlines()[2:]
    return [re.split(r"\s{2,}", line.strip())[0] for line in lines[1:] if re.match(r"  \S", line)]


@pytest.mark.parametrize("given", [{}, {"strength": 0.1}])
def test_coefficients_are_cut_to_the_first_ones_in_their_order(given: dict[str, Any]) -> None:
    text = page(frame(noise=25), target="size", drop=("outcome",), given=given)
    assert rows(text)[:20] == ["intercept", *(f"x{place}" for place in range(19))]
    said = " ".join(text.split())
    total = 28 if given else 29  # the intercept has its row in a table of tests
    shown = rf"the first 20 of {total} coefficients, in the order of the model"
    assert re.search(shown + "; separatrix summary MODEL --all, --json and --report show all", said)
    assert "largest" not in text


def test_the_page_says_which_class_is_modelled_and_against_which_levels() -> None:
    text = page(frame(), target="outcome", drop=("size",))
    assert 'Coefficients: log-odds of outcome = "well" per unit of each column' in text
    assert 'reference level: site = "north"' in text
    assert rows(text)[:4] == ["intercept", "dose", "site=east", "site=west"]


def test_a_penalised_fit_is_not_called_least_squares_with_errors() -> None:
    text = page(frame(), target="size", given={"strength": 0.1})
    assert "least squares" not in text
    assert "std. error" not in text
    assert "no standard errors: the fit has a penalty (strength=0.1)" in text
    assert "a penalty is used, as given" in text


def test_training_rows_have_no_intervals_and_held_out_rows_do() -> None:
    """Of 50 columns of noise R² is 1/2 on the training rows and about 0 elsewhere: its interval would be false."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(100, 51)), columns=[*(f"x{place}" for place in range(50)), "y"])
    trained = train_table(from_frame(data), TrainOptions(target="y", folds=5))
    assert trained.own.r_squared.value > 0.4
    assert trained.holdout.r_squared.value < 0.1
    for _, measure in measures_of(trained.own):
        assert (measure.lower, measure.upper, measure.standard_error) == (None, None, None)
        assert measure.absent.startswith("these are training rows")
    assert trained.holdout.r_squared.lower < trained.holdout.r_squared.upper
    assert "training rows flatter a model; --holdout 0.2 or --cv 5" in " ".join(page(data, target="y").split())
    classes = frame(100)
    fitted = train_table(from_frame(classes), TrainOptions(target="outcome"))
    assert fitted.own.auc.value is not None
    assert [each.auc.lower for each in fitted.own.rankings] == [None]


def test_no_table_has_degrees_of_freedom_below_0() -> None:
    rng = np.random.default_rng(1)
    y, X = rng.integers(0, 6, size=40), rng.normal(size=(40, 8))
    table = sx.LogisticRegression().fit(X, y).summary()  # 45 coefficients
    assert table.degrees_of_freedom is None
    assert str(table).splitlines()[0] == "Softmax regression of y: 40 rows, classical covariance"
    assert "40 rows and 45 free coefficients leave no degrees of freedom; add rows, or drop columns" in table.notes
