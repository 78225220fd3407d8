"""Rows with a missing cell: left out where coefficients are tested, or filled; noted in predictions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import DataError
from separatrix.model.target import RowsRequest, encoded_classes
from separatrix.tables.frames import from_frame

IMPUTED = "missing values were imputed ('x')"


def correlated(share: float = 0.3, n: int = 300) -> pd.DataFrame:
    """Return z with no effect of its own, correlated .9 with x, of which a share is missing at random."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    z = 0.9 * x + np.sqrt(1 - 0.81) * rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "z": z, "y": x + rng.normal(size=n)})
    frame["sold"] = np.where(frame["x"] + rng.logistic(size=n) > 0, "yes", "no")
    frame.loc[rng.random(n) < share, "x"] = np.nan
    return frame


def test_the_default_is_the_fit_of_the_complete_cases() -> None:
    frame = correlated().drop(columns="sold")
    model, complete = sx.train(frame, "y"), frame.dropna()
    same = sx.train(complete, "y")
    assert model.coef.tolist() == same.coef.tolist()
    assert model.summary == same.summary
    wanted = sm.OLS(complete["y"], sm.add_constant(complete[["x", "z"]])).fit()
    assert model.fitted.table is not None
    assert [term.p_value for term in model.fitted.table.terms] == pytest.approx(wanted.pvalues.tolist(), rel=1e-9)
    assert wanted.pvalues["z"] > 0.05
    left_out = len(frame) - len(complete)
    assert model.encoding.notes == (f"{left_out} rows with a missing cell are left out",)
    assert model.data["rows_in_table"] - model.data["rows"] == left_out


def test_the_default_of_classes_is_the_fit_of_the_complete_cases() -> None:
    frame = correlated().drop(columns="y")
    model, complete = sx.train(frame, "sold"), frame.dropna()
    wanted = sm.Logit(complete["sold"] == "yes", sm.add_constant(complete[["x", "z"]])).fit(disp=0)
    assert model.fitted.table is not None
    assert [term.p_value for term in model.fitted.table.terms] == pytest.approx(wanted.pvalues.tolist(), rel=1e-6)


@pytest.mark.parametrize("target", ["y", "sold"])
def test_an_imputed_fit_predicts_and_tests_nothing(target: str, tmp_path) -> None:
    frame = correlated()[["x", "z", target]]
    model = sx.train(frame, target, missing="impute")
    assert model.encoding.feature_names == ("x", "x is missing", "z")
    table = model.fitted.table
    assert table is not None
    for term in table.terms:
        cells = (term.standard_error, term.statistic, term.p_value, term.lower, term.upper, term.ratio)
        assert cells == (None,) * 6
        assert term.absent.startswith(IMPUTED)
        assert 'use missing="drop"' in term.absent
    assert not table.measures
    said = model.predict(frame)
    assert said.intervals is None
    assert np.isfinite(said.scores).all()
    sx.save_model(model, tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["no_covariance"].startswith(IMPUTED)


def test_a_filled_category_tests_nothing_either() -> None:
    frame = correlated(share=0.0)[["z", "y"]].assign(g=["a", "b", None] * 100)
    absent = {term.absent for term in sx.train(frame, "y", missing="impute").fitted.table.terms}
    assert absent == {
        "missing values were imputed ('g'), and tests would take them as observed; use missing=\"drop\", or leave out"
        " columns"
    }


def test_imputation_of_complete_rows_is_none() -> None:
    frame = correlated(share=0.0)[["x", "z", "y"]]
    assert sx.train(frame, "y", missing="impute").summary == sx.train(frame, "y").summary


def test_a_handful_of_missing_cells_costs_a_handful_of_rows() -> None:
    frame = correlated(share=0.0)[["x", "z", "y"]]
    frame.loc[:3, "x"] = np.nan
    model = sx.train(frame, "y")
    assert model.data["rows"] == 296
    assert all(term.p_value is not None for term in model.fitted.table.terms)


def test_a_penalised_fit_fills_by_default() -> None:
    frame = correlated()[["x", "z", "y"]]
    assert sx.train(frame, "y", model="linear", strength=0.1).encoding.missing == "impute"
    assert sx.train(frame, "y", model="linear", strength=0.1, missing="drop").data["rows"] < 300
    assert sx.train(correlated()[["x", "z", "sold"]], "sold", model="svm").encoding.missing == "impute"


def test_a_column_that_would_cost_most_rows_is_filled_with_notice() -> None:
    frame = correlated(share=0.8)[["x", "z", "y"]]
    model = sx.train(frame, "y")
    gone = int(frame["x"].isna().sum())
    assert model.encoding.missing == "impute"
    note = f"since only {300 - gone} rows would be complete: 'x' is missing in {gone} of 300 rows"
    assert model.encoding.notes == (f"missing cells are filled, {note}",)
    assert all(term.absent.startswith(IMPUTED) for term in model.fitted.table.terms)
    assert sx.train(frame, "y", missing="drop").data["rows"] == 300 - gone
    assert sx.train(frame, "y", drop="x").data["rows"] == 300


def test_a_column_that_is_wholly_missing_is_left_out() -> None:
    frame = correlated()[["x", "z", "y"]].assign(empty=np.nan)
    model = sx.train(frame, "y")
    assert dict(model.encoding.omitted) == {"empty": "every cell is missing"}
    assert model.summary == sx.train(frame.drop(columns="empty"), "y").summary


def test_if_no_row_is_complete_the_worst_column_is_named() -> None:
    frame = correlated()[["x", "z", "y"]]
    frame["z"] = frame["z"].where(frame["x"].isna())
    gone = int(frame["z"].isna().sum())
    with pytest.raises(DataError, match=f"every row has a missing cell \\('z' is missing in {gone} of 300 rows\\)"):
        sx.train(frame, "y", missing="drop")


def test_folds_follow_the_policy_of_the_fit() -> None:
    from separatrix.model.train import TrainOptions, train_table

    frame = correlated(share=0.4)[["x", "z", "y"]]
    trained = train_table(from_frame(frame), TrainOptions(target="y", folds=5))
    assert trained.model.encoding.missing == "drop"
    assert trained.holdout is not None
    assert trained.holdout.rows == 300  # the others are predicted too
    assert trained.own.rows == trained.model.data["rows"] < 300


def test_a_fit_evaluated_again_is_that_of_its_rows() -> None:
    from separatrix.model.train import evaluated_fit

    frame = correlated()[["x", "z", "y"]]
    model = sx.train(frame, "y")
    assert evaluated_fit(model, from_frame(frame)).own.rows == model.data["rows"]
    assert sx.verify(model, frame).holds
    assert sx.evaluate(model, frame).rows == 300


def test_separability_is_that_of_the_rows_of_the_fit() -> None:
    frame = correlated()[["x", "z", "sold"]]
    request = RowsRequest(target="sold")
    with encoded_classes(from_frame(frame), request) as data:
        assert data.rows.shape == (int(frame["x"].notna().sum()), 2)


# Notes


def test_what_is_filled_or_new_is_noted_row_by_row() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=40).round(3),
            "g": rng.choice(["a", "b"], 40),
            "paid": rng.choice([True, False], 40, p=[0.8, 0.2]),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 9, 40), unit="D"),
        }
    )
    frame["y"] = frame["size"] + rng.normal(size=40)
    model = sx.train(frame, "y")
    later = pd.DataFrame(
        {
            "size": ["0.5", None, "big", "1", "inf"],
            "g": ["a", None, "b", "new", "a"],
            "paid": [True, None, True, False, True],
            "since": [pd.Timestamp("2020-01-03"), None, *[pd.Timestamp("2020-01-04")] * 3],
        }
    )
    said = model.predict(later)
    mean, day = f"{frame['size'].mean():.6g}", frame["since"].mean().date()
    most = frame["g"].mode()[0]
    assert said.notes[0] is None
    assert said.notes[1] == (
        f"size was missing and filled with {mean}; g was missing and filled with '{most}'; paid was missing and filled"
        f" with 'true'; since was missing and filled with {day}"
    )
    assert said.notes[3] == "g = 'new' was not seen in training"
    assert said.noted == 4
    assert said.intervals is not None
    for ends in (said.intervals.lower, said.intervals.upper, said.intervals.new_lower, said.intervals.new_upper):
        assert np.isnan(ends).tolist() == [False, False, False, True, False]
    assert np.isfinite(said.scores).all()
    assert said.columns()["note"].tolist() == said.notes.tolist()


def test_a_cell_of_the_wrong_type_is_noted_with_its_word() -> None:
    frame = correlated()[["x", "z", "y"]]
    model = sx.train(frame, "y")
    encoding = model.encoding.columns[0]
    from separatrix.tables.table import Column

    column = Column("x", "text", np.asarray(["1", "old", None], dtype=object))
    marks = list(encoding.marks(encoding.read(column)))
    filled = f"{encoding.fill:.6g}"
    assert [(mark.note, mark.rows.tolist()) for mark in marks] == [
        (f"x = 'old' is not a number and was filled with {filled}", [1]),
        (f"x was missing and filled with {filled}", [2]),
    ]


def test_a_column_without_weight_leaves_no_note() -> None:
    frame = correlated()[["x", "z", "y"]]
    model = sx.train(frame, "y", model="linear", strength=100.0, l1_ratio=1.0)
    assert not model.coef.any()
    assert model.predict(frame).noted == 0


def test_a_level_that_shares_a_feature_has_no_interval_either() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"g": rng.choice(list("abc"), 60), "y": rng.normal(size=60)})
    said = sx.train(frame, "y").predict(pd.DataFrame({"g": ["a", "z", "z"]}))
    assert np.isnan(said.intervals.lower).tolist() == [False, True, True]
    assert said.notes.tolist() == [None, *["g = 'z' was not seen in training"] * 2]


@pytest.mark.slow
def test_the_report_of_an_imputed_fit_shows_no_p_value(tmp_path) -> None:
    from separatrix.model.train import TrainOptions, train_table
    from separatrix.reports.report import write_report

    table = from_frame(correlated()[["x", "z", "y"]])
    pages = {}
    for missing in ("impute", "auto"):
        path = tmp_path / f"{missing}.html"
        write_report(train_table(table, TrainOptions(target="y", missing=missing)), table, str(path), "fit")
        pages[missing] = path.read_text(encoding="utf-8")
    assert "assumptions of least squares are not checked: missing values were imputed" in pages["impute"]
    assert "Breusch" not in pages["impute"]
    assert "Breusch" in pages["auto"]
    assert "rows with a missing cell are left out" in pages["auto"]
