"""Names of other libraries are answered with the right one, wherever they are typed."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.errors import DataError, UnknownOptionError
from separatrix.families.familiar import CLASSES, FAMILIAR, INSTEAD
from separatrix.families.options import FAMILIES

KNOWN = {each.name for kind in FAMILIES.values() for each in fields(kind)}
KNOWN |= set(inspect.signature(sx.train).parameters) | {"folds", "holdout", "separator", "out"}


@pytest.mark.parametrize(
    ("make", "name", "answer"),
    [
        (
            sx.LogisticRegression,
            "C",
            r"C is called strength here: strength = 1/\(n · C\) for n rows",
        ),
        (sx.LinearRegression, "alpha", "alpha is called strength here: strength = alpha/n for Ridge"),
        (sx.LogisticRegression, "penalty", 'l1_ratio here: penalty="l2" is l1_ratio=0, penalty="l1" is l1_ratio=1'),
        (sx.LinearSVM, "penalty", "penalty is called strength here: its penalty is always L2"),
        (sx.KernelSVM, "C", "C is called strength here"),
        (sx.Perceptron, "learning_rate", "learning_rate is called rate here"),
        (sx.Perceptron, "max_iter", "max_iter is called max_passes here: it limits the passes over the rows"),
        (sx.KernelSVM, "max_iter", "max_iter is called max_steps here"),
        (
            sx.Perceptron,
            "C",
            r"C \(strength here\) is an option of logistic, linear, svm and kernel_svm, not of",
        ),
        (sx.Perceptron, "class_weight", "class_weight is an option of logistic, svm and kernel_svm, not of perceptron"),
        (
            sx.LogisticRegression,
            "verbose",
            r"verbose is not an option here: progress is shown .*`with sx.progress\(\)",
        ),
        (sx.LogisticRegression, "strenght", "strenght is not an option; did you mean 'strength'"),
    ],
)
def test_an_estimator_answers_the_options_of_others(make: Any, name: str, answer: str) -> None:
    with pytest.raises(UnknownOptionError, match=answer) as refusal:
        make(**{name: 3})
    assert isinstance(refusal.value, TypeError)  # as of any function
    with pytest.raises(ValueError, match=name):
        make().set_params(**{name: 3})


def test_train_answers_too() -> None:
    with pytest.raises(UnknownOptionError, match="C is called strength here"):
        sx.train("demo:iris", C=3)
    with pytest.raises(UnknownOptionError, match="random_state is called seed here"):
        sx.train("demo:iris", random_state=3)
    with pytest.raises(UnknownOptionError, match="class_weight is not an option here: give sx"):
        sx.train("demo:iris", class_weight="balanced")
    with pytest.raises(UnknownOptionError, match=r"order is an option of .*; give it to an estimator, or"):
        sx.train("demo:iris", order="shuffled")


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("fit", "demo:iris", "--C", "3"), "--C is called --strength here: strength = 1/(n · C) for n rows"),
        (("fit", "demo:iris", "--learning-rate", "3"), "--learning-rate is called --rate here"),
        (("fit", "demo:iris", "--learning_rate=3"), "--learning_rate is called --rate here"),
        (("fit", "demo:iris", "--random-state", "3"), "--random-state is called --seed here"),
        (("fit", "demo:iris", "--test-size", "0.2"), "--test-size is called --holdout here"),
        (("fit", "demo:iris", "--holdot", "0.2"), "--holdot is not an option; did you mean '--holdout'?"),
        (("compare", "demo:iris", "--max-iter", "3"), "--max-iter (max_passes here) is an option of logistic,"),
        (("predict", "m", "t", "--sep", ","), "--sep is called --separator here"),
        (
            ("compare", "demo:iris"),
            "compare needs two classes, and the target has 3: 'setosa', 'versicolor',",
        ),
    ],
)
def test_the_command_line_answers_in_one_line(arguments: tuple[str, ...], answer: str) -> None:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {answer}")
    assert result.stderr.count("\n") == 1


def test_a_public_name_that_is_nearly_right_is_suggested() -> None:
    for name, meant in (
        ("minimize", "minimise"),
        ("Percetron", "Perceptron"),
        ("LinearSVC", "LinearSVM"),
        *CLASSES.items(),
    ):
        with pytest.raises(AttributeError, match=f"no public name '{name}'; did you mean '{meant}'"):
            getattr(sx, name)
    with pytest.raises(AttributeError, match=r"separatrix has no public name 'qqq'$"):
        sx.qqq  # noqa: B018


def test_every_answer_is_an_option_or_a_name() -> None:
    assert {option for meanings in FAMILIAR.values() for option, _ in meanings} <= KNOWN
    assert set(CLASSES.values()) <= set(sx.__all__)
    assert not set(CLASSES) & set(sx.__all__)
    assert not {name for name in FAMILIAR if name in INSTEAD} - {"sample_weight"}


def test_an_estimator_keeps_its_signature_copies_and_pickles() -> None:
    assert list(inspect.signature(sx.Perceptron).parameters) == [each.name for each in fields(sx.Perceptron)]
    model = clone(pickle.loads(pickle.dumps(sx.Perceptron(rate=2.0))))  # our own
    assert model.get_params()["rate"] == 2.0


def test_features_by_rows_are_answered_with_the_transpose() -> None:
    X, y = np.arange(30.0).reshape(3, 10), np.arange(10) % 2
    said = r"X has 3 rows and 10 columns, and y has 10 entries: X seems to be features by rows; give X\.T"
    for model in (sx.LogisticRegression(), sx.LinearRegression(), sx.Perceptron()):
        with pytest.raises(DataError, match=said):
            model.fit(X, y)
    assert sx.LinearRegression().fit(X.T, y).n_features_in_ == 3


def test_text_in_the_rows_of_an_estimator_points_to_tables() -> None:
    said = "X has the text 'red', where an estimator needs numbers; sx.train reads text .* and sx.from_formula"
    with pytest.raises(DataError, match=said):
        sx.LogisticRegression().fit(np.array([[1.0, "red"], [2.0, "red"]], dtype=object), [0, 1])
