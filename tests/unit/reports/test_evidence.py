"""The evidence of each family in a sentence, which says only what its certificate proves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from separatrix.model.train import TrainOptions, train_table
from separatrix.reports.evidence import evidence_sheet
from separatrix.tables.demos import demo_table
from separatrix.tables.frames import from_frame


def told(table: Any, verified: bool | None = None, **options: Any) -> tuple[str, str]:
    """Return the tone and the whole text of the evidence of a fit."""
    source = demo_table(table) if isinstance(table, str) else from_frame(table)
    sheet = evidence_sheet(train_table(source, TrainOptions(**options)), verified)
    return sheet.tone, " ".join((sheet.title, *sheet.lines))


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    dose = rng.normal(size=80)
    well = np.where(dose + rng.logistic(size=80) > 0.0, "yes", "no")
    return pd.DataFrame({"dose": dose, "double": 2.0 * dose, "size": dose + rng.normal(size=80), "well": well})


PRECISE = "found to floating-point precision"


@pytest.mark.parametrize(
    ("table", "options", "start", "end"),
    [
        ("breast-cancer", {}, "The classes are completely separated, so that the likelihood has no maximum; the", "."),
        ("five-points", {"model": "logistic", "given": {"strength": 0.0}}, "The classes are completely separated", "."),
        (
            "five-points-overlap",
            {"model": "logistic", "given": {"strength": 0.0}},
            "The maximum of the likelihood exists, is unique, and was found",
            ".",
        ),
        (
            "five-points",
            {"model": "svm"},
            "The penalised minimum exists and was found",
            "weights are unique, its intercept may not be.",
        ),
        (
            "five-points",
            {"model": "max_margin"},
            "The classes are separated: the margin is 1, and no separator has a larger",
            " than 1.",
        ),
        (
            "five-points",
            {"model": "perceptron"},
            "Every row is right after 5 mistakes; the theorem allows at most 18",
            "γ = 1.",
        ),
        (
            "five-points",
            {"model": "perceptron", "given": {"keep": "average"}},
            "No row is a mistake at the last weights after 5",
            ".",
        ),
        (
            "five-points-overlap",
            {"model": "logistic"},
            "A penalty is used because 5 rows are few for 3 coefficients; the penalised minimum exists, is unique, and",
            ".",
        ),
        ("five-points", {"model": "zero_one"}, "0 mistakes on 5 rows, and no halfspace makes fewer", "."),
        (
            "iris",
            {"given": {"strength": 0.1, "l1_ratio": 1.0}},
            "The penalised minimum exists and was found",
            "not checked.",
        ),
    ],
)
def test_each_family_says_what_it_proves(table: str, options: dict[str, Any], start: str, end: str) -> None:
    tone, text = told(table, **options)
    assert tone == "proved"
    assert text.startswith(f"Evidence: {start}")
    assert text.endswith(end)


def test_least_squares_says_its_rank() -> None:
    data = frame()
    full, alone = told(data, target="size", drop=("well", "double")), told(data, target="size", drop=("well",))
    assert full == (
        "proved",
        f"Evidence: The design matrix has full column rank, so the least-squares solution is unique; it was {PRECISE}.",
    )
    assert alone[1].startswith(
        "Evidence: 1 column is perfectly collinear with others, so the least-squares solution is"
    )


def test_a_likelihood_of_collinear_columns_is_not_called_unique() -> None:
    _, text = told(frame(), target="well", drop=("size",))
    assert "is not unique (some columns are perfectly collinear), and was found" in text


def test_bias_reduction_has_a_local_maximum() -> None:
    _, text = told(frame(), target="well", drop=("size", "double"), given={"bias_reduction": True})
    assert "the penalised likelihood (Firth) has a local maximum" in text.lower().replace("(firth)", "(Firth)")
    assert "e-2" not in text


def test_what_was_stopped_is_open_and_says_why_first() -> None:
    tone, text = told("five-points-overlap", model="perceptron", given={"max_passes": 7})
    assert tone == "open"
    assert text.startswith("Evidence: Stopped at max_passes=7 before every row was classified correctly: ")
    assert text.endswith("; no separator is known, so there is no bound.")
    tone, text = told("five-points-overlap", model="perceptron", given={"on_overlap": "stop"})
    assert "the classes overlap: not linearly separable, even in part" in text.lower()


def test_classes_that_differ_have_a_line_each() -> None:
    tone, text = told("iris", model="perceptron", given={"max_passes": 10})
    assert tone == "open"
    assert text.startswith("Evidence: each class against the rest 'setosa': every row is right after 5 mistakes")
    assert "'virginica': stopped at max_passes=10" in text


def test_a_check_is_said_only_if_it_was_made_and_a_failed_one_is_an_alarm() -> None:
    given = {"model": "perceptron"}
    assert told("five-points", True, **given)[1].endswith("; verified on the data.")
    assert "verified" not in told("five-points", None, **given)[1]
    tone, text = told("five-points", False, **given)
    assert (tone, "NOT proved" in text) == ("failed", True)
