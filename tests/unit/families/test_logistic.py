"""Logistic regression as a family: one solve, whose optimum starts the proof of existence and the inference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import OptionError
from separatrix.separability import check


def rows(n: int, p: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + classes)
    X = rng.normal(size=(n, p))
    return X, np.digitize(X[:, 0] + rng.normal(size=n), np.linspace(-0.5, 0.5, classes - 1) if classes > 2 else [0.0])


@pytest.mark.parametrize("n", [300, 20_000])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_summary_makes_a_pass_for_its_covariance_and_one_for_turning_points(n: int, classes: int) -> None:
    model = sx.LogisticRegression().fit(*rows(n, 4, classes))
    design = model.fitted_.inference.fits[0].problem.design
    passes = design.passes
    model.summary()
    assert design.passes == passes + 2.0
    model.summary()
    assert design.passes == passes + 2.0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_the_proof_of_overlap(classes: int, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No separation is searched, and no likelihood is maximised a second time."""

    def refuse(*_: object) -> None:
        raise AssertionError("a separation was searched")

    monkeypatch.setattr(check, "find_separation", refuse)
    X, y = rows(200, 4, classes)
    weights = np.arange(200) % 3 + 0.5 if weighted else None
    model = sx.LogisticRegression().fit(X, y, sample_weight=weights)
    assert model.existence_[0].verdict == "overlap"
    assert model.certificate_.verify(X, y, sample_weight=weights)


def test_of_two_classes_the_reference_is_the_one_that_is_not_positive() -> None:
    X, y = rows(200, 3, 2)
    labels = np.array(["a", "b"])[y]
    plain = sx.LogisticRegression().fit(X, labels)
    referred = sx.LogisticRegression(reference_class="b").fit(X, labels)
    chosen = sx.LogisticRegression(positive="a").fit(X, labels)
    assert referred.classes_.tolist() == chosen.classes_.tolist() == ["b", "a"]
    np.testing.assert_allclose(referred.coef_, -plain.coef_, rtol=1e-9)
    np.testing.assert_array_equal(referred.coef_, chosen.coef_)
    assert (referred.predict(X) == plain.predict(X)).all()
    for options, message in (
        ({"reference_class": "c"}, "reference_class='c' is not among the classes"),
        ({"positive": "c"}, "positive='c' is not among the classes"),
        ({"positive": "a", "reference_class": "a"}, "positive and reference_class are both 'a'"),
    ):
        with pytest.raises(OptionError, match=message):
            sx.LogisticRegression(**options).fit(X, labels)


def test_limits_are_those_of_the_remaining_rows() -> None:
    """A column that separates some rows diverges; the others tend to their estimates on the remaining rows."""
    X, y = rows(300, 2, 2)
    rare = np.zeros(300)
    rare[np.flatnonzero(y == 1)[:5]] = 1.0
    with pytest.warns(sx.errors.SeparationWarning):
        model = sx.LogisticRegression().fit(np.column_stack([X, rare]), y)
    (limits,) = model.limits_
    others = sx.LogisticRegression().fit(X[rare == 0.0], y[rare == 0.0])
    assert limits["x3"] == np.inf
    assert limits["x1"] == pytest.approx(others.coef_[0, 0], rel=1e-8)
    assert limits["intercept"] == pytest.approx(others.intercept_[0], rel=1e-8)


def unequal() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 2))
    return X, (rng.random(400) < 1.0 / (1.0 + np.exp(2.0 - X[:, 0]))).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_probabilities_of_class_weights_are_said_to_be_shifted(strength: float, tmp_path: Path) -> None:
    X, y = unequal()
    model = sx.LogisticRegression(class_weight="balanced", strength=strength).fit(X, y)
    ratio = (y == 0).sum() / (y == 1).sum()
    note = f"class_weight multiplies the odds of 1 by {ratio:.4g}: probabilities are above the rates of the rows"
    assert note in model.result_.message
    assert note in model.summary().notes[-1]
    bias = sx.evaluate(model, X, y).reliability.bias
    assert bias.lower > 0.1  # which is told of the calibration too
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    trained = sx.train(frame, "y", model=sx.LogisticRegression(class_weight="balanced", strength=strength))
    sx.save_model(trained, tmp_path / "model.json")
    assert note in sx.load_model(tmp_path / "model.json").message
    sx.report(trained, frame, path=tmp_path / "page.html")
    assert note in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_without_class_weights_and_with_another_threshold_most_decisions_are_the_same() -> None:
    X, y = unequal()
    weighted = sx.LogisticRegression(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert "for similar decisions with threshold=0.25" in weighted.result_.message
    plain = sx.LogisticRegression(threshold=0.25).fit(X, y)
    assert (plain.predict(X) == weighted.predict(X)).mean() > 0.98
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=1e-9)
    down = sx.LogisticRegression(class_weight={0: 2.0, 1: 1.0}).fit(X, y)
    assert "multiplies the odds of 1 by 0.5: probabilities are below the rates" in down.result_.message


def test_class_weights_of_several_classes_and_equal_ones() -> None:
    X, y = unequal()
    several = sx.LogisticRegression(class_weight={0: 2.0}, strength=0.1).fit(X, y + (X[:, 1] > 1.0))
    assert "class_weight weights the classes unequally" in several.summary().notes[0]
    assert "class_weight" not in sx.LogisticRegression(class_weight={0: 2.0, 1: 2.0}).fit(X, y).result_.message
    assert "class_weight" not in sx.LogisticRegression().fit(X, y).result_.message


@pytest.mark.parametrize("rare", [False, True])
def test_bias_reduction_on_separation_is_as_asked_also_with_strength_auto(rare: bool) -> None:
    """Auto would take a penalty if the classes are separated, or the estimates of the columns that have some."""
    X, y = rows(40, 2, 2)
    if rare:
        X[:, 1] = 0.0
        X[np.flatnonzero(y == 1)[:5], 1] = 1.0
    else:
        y = (X[:, 0] > 0.0).astype(int)
    asked = sx.LogisticRegression(strength="auto", on_separation="firth").fit(X, y)
    known = sx.LogisticRegression(bias_reduction=True).fit(X, y)
    assert asked.firth_ is not None
    assert asked.fitted_.strength == 0.0
    np.testing.assert_array_equal(asked.coef_, known.coef_)
    assert all(interval.p_value > 0.0 for interval in asked.firth_.intervals)
    few = sx.LogisticRegression(strength="auto", on_separation="firth").fit(X[:4], [0, 1, 0, 1])
    assert "few for" not in few.fitted_.sentences[0]
