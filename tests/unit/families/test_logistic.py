"""Logistic regression as a family: one solve, whose optimum starts the proof of existence and the inference."""

from __future__ import annotations

import numpy as np
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
