"""Note B: the batch rule (M6), the students (M7), the samples that no line separates (M8)."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ConvergenceWarning

# attendance, tall, sleeps, gum; +1 is grade A
STUDENTS = np.array([[1, 1, -1, -1], [1, 1, 1, 1], [-1, -1, -1, 1], [1, -1, -1, 1]], dtype=float)
GRADE_A = np.array([1, -1, -1, 1])

OVERLAP = np.array([[2, 1], [4, 3], [3, 5], [1, 3], [5, 6]], dtype=float)
OVERLAP_Y = np.array([1, 1, 1, -1, -1])

NOTE_A_X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
NOTE_A_Y = np.array([1, 1, -1, -1, -1])


def weights_of(model):
    return [model.intercept_[0], *model.coef_[0]]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ([0.25] * 5, [-0.75, 1.25, -0.75, -0.75, -0.75]),
        ([0, 0.5, 0.5, 0, 0], [-1, 1.5, -0.5, -1, -1]),
    ],
)
def test_m7_students(start, expected):
    model = sx.Perceptron(start=start, tie="correct").fit(STUDENTS, GRADE_A)
    assert weights_of(model) == expected
    assert model.result_.status == "converged"
    assert model.certificate_.verify(STUDENTS, GRADE_A)


def test_m7_students_update_for_update():
    model = sx.Perceptron(start=[0.25] * 5, tie="correct").fit(STUDENTS, GRADE_A)
    names = np.array(["Jane", "Steve", "Mary", "Peter"])
    assert names[model.trace_.updates.row].tolist() == ["Steve", "Mary", "Peter"]
    assert model.trace_.updates.weights.tolist() == [
        [-0.75, -0.75, -0.75, -0.75, -0.75],
        [-1.75, 0.25, 0.25, 0.25, -1.75],
        [-0.75, 1.25, -0.75, -0.75, -0.75],
    ]


def test_m7_the_demo_has_the_same_students():
    X, y = sx.load_demo("students")
    assert X.tolist() == STUDENTS.tolist()
    assert np.where(y == "A", 1, -1).tolist() == GRADE_A.tolist()


@pytest.mark.parametrize(("start", "expected"), [([0.25] * 5, [-0.75, 1.25, -0.75, -0.75, -0.75])])
def test_m7_the_demo_gives_the_weights_of_the_note(start, expected):
    X, y = sx.load_demo("students")
    note = sx.Perceptron(start=start, tie="correct", positive="A")  # grade A is +1; by default it is the last label, F
    assert weights_of(note.fit(X, y)) == expected
    trained = sx.train("demo:students", model=note)
    assert [*trained.intercept, *trained.coef[0]] == expected
    assert note.fit(X, y).classes_.tolist() == list(trained.classes) == ["F", "A"]


def test_m8_updates_of_the_note():
    with pytest.warns(ConvergenceWarning, match="stopped at max_updates=100"):
        model = sx.Perceptron(start=[1, 1, 1], tie="mistake", max_updates=100).fit(OVERLAP, OVERLAP_Y)
    expected = [[0, 0, -2], [1, 2, -1], [0, 1, -4], [1, 3, -3], [2, 6, 2]]
    assert model.trace_.updates.weights[:5].tolist() == expected
    assert model.n_updates_ == 100
    assert model.result_.status == "max_updates"


@pytest.mark.parametrize("schedule", ["constant", "inverse"])
@pytest.mark.parametrize("keep", ["best", "average", "vote"])
def test_m8_stops_at_a_good_point(keep, schedule):
    model = sx.Perceptron(keep=keep, schedule=schedule, tie="mistake", max_updates=2000)
    with pytest.warns(ConvergenceWarning, match="before every row was classified correctly"):
        model.fit(OVERLAP, OVERLAP_Y)
    mistakes = int((model.predict(OVERLAP) != OVERLAP_Y).sum())
    assert mistakes == model.result_.facts["wrong"]
    if keep == "best":
        assert mistakes == 1  # the least that any line makes on these five points
    assert mistakes <= 2


def test_m8_no_bound_without_a_separator():
    with pytest.warns(ConvergenceWarning):
        model = sx.Perceptron(max_updates=500).fit(OVERLAP, OVERLAP_Y)
    assert model.certificate_.bound is None
    assert model.certificate_.verdict == "no separator known"
    assert model.certificate_.verify(OVERLAP, OVERLAP_Y)


@pytest.mark.parametrize("rate", [0.1, 1.0, 30.0])
def test_m6_batch_rule_converges(rate):
    model = sx.Perceptron(update="batch", fit_intercept=False, rate=rate).fit(NOTE_A_X, NOTE_A_Y)
    assert model.result_.status == "converged"
    assert model.predict(NOTE_A_X).tolist() == NOTE_A_Y.tolist()
    assert model.certificate_.verify(NOTE_A_X, NOTE_A_Y)


def test_m6_each_update_is_the_sum_over_mistakes():
    model = sx.Perceptron(update="batch", fit_intercept=False, rate=0.5).fit(NOTE_A_X, NOTE_A_Y)
    weights = np.zeros(2)
    for after in model.trace_.updates.weights:
        scores = NOTE_A_X @ weights
        wrong = np.where(scores >= 0, 1, -1) != NOTE_A_Y
        weights = weights + 0.5 * (NOTE_A_Y[wrong, np.newaxis] * NOTE_A_X[wrong]).sum(axis=0)
        assert after.tolist() == weights.tolist()
    assert model.trace_.updates.score[0] == 3  # at w = 0 the three negative points are wrong
