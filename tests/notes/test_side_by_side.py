"""Perceptron, LMS and logistic regression side by side (M28, note E): one shape of update, three errors."""

import json
from itertools import islice

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.design.build import make_design
from separatrix.numerics import sigmoid
from separatrix.problem import Problem
from separatrix.solvers.stochastic import Stochastic

X_ROW, W, RATE = np.array([2.0, -1.0, 0.5]), np.array([0.4, 0.3, -0.2]), 0.05


def step(loss, label, rate):
    """Return what one visit of the row adds to the weights."""
    problem = Problem(make_design([X_ROW], intercept=False), np.array([label]), loss)
    start, after = islice(Stochastic(rate).steps(problem, W), 2)
    return after.coef - start.coef


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_m28_each_update_is_minus_rate_times_error_times_row(label):
    score = W @ X_ROW  # 0.4, so that label −1 is a mistake and +1 none
    errors = {
        "perceptron": np.sign(score) - label,
        "least mean squares": score - label,
        "logistic": sigmoid(score) - (label + 1.0) / 2.0,
    }
    updates = {
        # the note's o − t is ±2 on a mistake, so its rate is half that of w + rate·y·x
        "perceptron": step(sx.losses.PerceptronLoss(), label, 2.0 * RATE),
        "least mean squares": step(sx.losses.Squared(), label, RATE),
        "logistic": step(sx.losses.Logistic(), label, RATE),
    }
    for name, error in errors.items():
        assert updates[name] == pytest.approx(-RATE * error * X_ROW, rel=1e-12, abs=1e-16), name
    assert len({round(float(error), 6) for error in errors.values()}) == 3


def test_m28_the_estimators_make_the_same_updates():
    perceptron = sx.Perceptron(fit_intercept=False, start=W, rate=2.0 * RATE, max_updates=1)
    rows = np.array([X_ROW, -X_ROW])  # of both classes: the same row, reflected
    with pytest.warns(sx.errors.ConvergenceWarning, match="max_updates=1"):
        perceptron.fit(rows, [-1, 1])
    assert perceptron.coef_[0] - W == pytest.approx(step(sx.losses.PerceptronLoss(), -1.0, 2.0 * RATE))
    lms = sx.LMSClassifier(fit_intercept=False, start=W, rate=RATE, max_passes=1)
    with pytest.warns(sx.errors.ConvergenceWarning, match="stopped after 1 step"):
        lms.fit(rows, [-1, 1])
    assert lms.coef_[0] - W == pytest.approx(step(sx.losses.Squared(), -1.0, RATE))


def test_m28_the_three_losses_on_one_data_set():
    X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    problems = {
        loss.name: Problem(make_design(X, intercept=False), y, loss)
        for loss in (sx.losses.PerceptronLoss(), sx.losses.Squared(), sx.losses.Logistic())
    }
    w = np.array([1.0, 0.0])  # M13's separator: margins 1, 1, 1, 1, 2
    values = {name: problem.value(w) for name, problem in problems.items()}
    margins = np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    assert values["perceptron"] == 0.0
    assert values["squared"] == pytest.approx(0.5 / 5.0)
    assert values["logistic"] == pytest.approx(np.log1p(np.exp(-margins)).mean())


def test_m28_one_command_gives_one_page():
    page = CliRunner().invoke(app, ["compare", "demo:five-points", "--no-intercept"]).stdout
    assert "w ← w − rate · error · x" in page
    for learner, error in (("perceptron", "(sign(s) − y)/2"), ("LMS", "s − y"), ("logistic", "σ(s) − (y + 1)/2")):
        assert any(line.split(maxsplit=1)[0] == learner and error in line for line in page.splitlines() if line.strip())
    table = json.loads(CliRunner().invoke(app, ["compare", "demo:five-points", "--no-intercept", "--json"]).stdout)
    learners = {each["learner"]: each for each in table["learners"]}
    perceptron, lms, logistic = (learners[name] for name in ("perceptron", "LMS", "logistic"))
    assert perceptron["weights"] == {"x1": 5.0, "x2": 1.0}  # M3's run
    X, y = sx.load_demo("five-points")
    least_squares = np.linalg.lstsq(X, np.asarray(y, dtype=float), rcond=None)[0]
    assert list(lms["weights"].values()) == pytest.approx(least_squares, rel=1e-9)
    assert logistic["status"] == "separated"
    assert lms["losses"]["squared"] == pytest.approx(np.mean((X @ least_squares - y) ** 2) / 2.0, rel=1e-12)
    assert lms["losses"]["squared"] == min(each["losses"]["squared"] for each in table["learners"])
    assert list(learners) == ["perceptron", "LMS", "logistic", "SVM", "widest margin"]  # generative has an intercept
    assert learners["widest margin"]["margin"] == pytest.approx(1.0)  # γ of the notes
    assert learners["widest margin"]["verdict"] == "widest margin"
    assert learners["SVM"]["minimises"] == "max(0, 1 − y·s) + Σ(σⱼwⱼ)²/2n"
    assert all(each["margin"] <= 1.0 + 1e-9 for each in table["learners"])
    assert all(each["seconds"] >= 0.0 and each["passes"] >= 1.0 for each in table["learners"])


def test_m28_the_rule_printed_leads_to_the_weights_printed():
    X, y = sx.load_demo("five-points")
    w, correct = np.zeros(2), 0
    while correct < len(y):
        for x, label in zip(X, y, strict=True):
            error = (np.where(x @ w >= 0.0, 1.0, -1.0) - label) / 2.0
            w, correct = w - error * x, 0 if error else correct + 1
    page = sx.compare(X, y, fit_intercept=False)
    assert "  perceptron     (sign(s) − y)/2  " in str(page)
    assert list(page.compared[0].weights.values()) == w.tolist() == [5.0, 1.0]


def test_m28_the_svm_minimises_what_is_printed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2)) * [1.0, 30.0]
    y = np.where(X @ [1.0, 0.03] + rng.normal(size=40) > 0.0, 1, -1)
    svm = sx.compare(X, y, holdout=0.0).compared[3]
    assert (svm.learner, svm.minimises) == ("SVM", "max(0, 1 − y·s) + Σ(σⱼwⱼ)²/2n")

    def objective(b, w):
        return np.maximum(0.0, 1.0 - y * (X @ w + b)).mean() + ((X.std(axis=0) * w) ** 2).sum() / (2 * len(y))

    b, w = svm.intercept, np.array(list(svm.weights.values()))
    least = objective(b, w)
    for _ in range(500):
        moved = objective(b + 1e-3 * rng.normal(), w + 1e-3 * rng.normal(size=2) / X.std(axis=0))
        assert moved >= least * (1.0 - 1e-6)


def test_m28_a_learner_that_cannot_separate_is_named_and_rows_are_kept_apart():
    table = json.loads(CliRunner().invoke(app, ["compare", "demo:five-points-overlap", "--json"]).stdout)
    assert table["refused"] == [{"learner": "widest margin", "reason": "no halfspace separates the rows (proved)"}]
    assert (table["apart"], table["notes"]) == (0, ["no rows are held out of fewer than 20"])
    iris = json.loads(CliRunner().invoke(app, ["compare", "demo:iris", "--positive", "setosa", "--json"]).stdout)
    assert (iris["rows"], iris["apart"]) == (150, 30)
    assert {each["learner"]: each["apart_mistakes"] for each in iris["learners"]}["generative"] == 0
    page = CliRunner().invoke(app, ["compare", "demo:iris", "--positive", "setosa"]).stdout
    assert max(map(len, page.splitlines())) <= 100


def test_m28_of_more_than_two_classes_one_is_set_against_the_rest():
    refused = CliRunner().invoke(app, ["compare", "demo:iris"])
    assert refused.exit_code == 2
    assert "compare needs two classes, and the target has 3" in refused.stderr
    page = CliRunner().invoke(app, ["compare", "demo:iris", "--positive", "setosa"]).stdout
    assert page.startswith("setosa against the rest, species of demo:iris\n")
