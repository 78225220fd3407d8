"""The notes' own algorithms as solvers of logistic regression: gradient ascent (M18), stochastic descent (M19)."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ConvergenceWarning, DataError, NeedsError, OptionError, SeparationWarning

# A small set whose classes overlap, so that the maximum of the likelihood exists.
X = np.array([[0.5, 1.0], [1.0, -1.0], [1.5, 0.5], [2.0, -0.5], [2.5, 1.5], [3.0, 0.0], [3.5, -1.5], [4.0, 1.0]])
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(300, 3))
LABELS = np.where(RNG.random(300) < sx.sigmoid(MANY @ [1.0, 2.0, 3.0] - 0.5), "yes", "no")


def flat(model):
    """Return the coefficients in the layout of the trace."""
    rows = np.column_stack([model.intercept_, model.coef_])
    return rows[0] if len(rows) == 1 else rows


def distance(model, other):
    return np.linalg.norm(flat(model) - flat(other)) / np.linalg.norm(flat(other))


@pytest.fixture(scope="module")
def maximum():
    return sx.LogisticRegression(tol=1e-14).fit(X, Y)


@pytest.fixture(scope="module")
def maximum_of_many():
    return sx.LogisticRegression(tol=1e-14).fit(MANY, LABELS)


@pytest.mark.parametrize("stop", ["gradient", "change"])
def test_m18_gradient_ascent_reaches_the_maximum_by_both_stopping_rules(maximum, stop):
    model = sx.LogisticRegression(solver="gradient", rate=0.8, stop=stop, tol=1e-9, max_passes=5000).fit(X, Y)
    assert model.result_.status == "converged"
    assert flat(model) == pytest.approx(flat(maximum), abs=1e-6)
    assert model.existence_[0].verdict == "overlap"
    assert model.summary().term("x1").standard_error == pytest.approx(maximum.summary().term("x1").standard_error)
    last, before = model.trace_.steps["step_length" if stop == "gradient" else "change"][[-1, -2]]
    assert last <= 1e-9 < before


def test_m18_the_iterates_are_those_of_the_notes():
    model = sx.LogisticRegression(
        solver="gradient", rate=lambda k: 0.8 / (1 + k), stop="gradient", tol=1e-2, keep_iterates=True
    ).fit(X, Y)
    A, path = sx.augment(X), [np.zeros(3)]
    for k in range(len(model.trace_) - 1):
        path.append(path[-1] + 0.1 / (1 + k) * A.T @ (Y - sx.sigmoid(A @ path[-1])))  # η of the sum: 0.8/n = 0.1
    assert model.trace_.coefs == pytest.approx(np.array(path), rel=1e-12, abs=1e-15)


def test_m18_a_rate_too_large_is_named_with_the_largest_that_will_do():
    with pytest.warns(
        ConvergenceWarning, match=r"rate 100 is too large; gradient descent converges at rates below 1.111"
    ):
        model = sx.LogisticRegression(solver="gradient", rate=100.0).fit(X, Y)
    assert model.result_.status == "diverged"
    assert not flat(model).any()


def test_m18_a_descent_on_separable_classes_ends_as_separated():
    with pytest.warns(SeparationWarning, match="the likelihood has no maximum"):
        model = sx.LogisticRegression(solver="gradient", rate=5.0, stop="change").fit(X, X[:, 0] > 2.0)
    assert model.result_.status == "separated"


def test_m19_stochastic_descent_ends_within_one_percent_and_the_average_within_five(maximum_of_many):
    shuffled = {"solver": "stochastic", "order": "shuffled", "random_state": 0, "max_passes": 200}
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes=200 with a relative gap"):
        slowing = sx.LogisticRegression(rate=0.5, schedule="inverse", **shuffled).fit(MANY, LABELS)
    with pytest.warns(ConvergenceWarning, match="it may circle the minimum"):
        last = sx.LogisticRegression(rate=0.1, **shuffled).fit(MANY, LABELS)
    with pytest.warns(ConvergenceWarning, match="it may circle the minimum"):
        average = sx.LogisticRegression(rate=0.1, keep="average", **shuffled).fit(MANY, LABELS)
    assert distance(slowing, maximum_of_many) <= 0.01
    assert distance(average, maximum_of_many) <= 0.05
    assert distance(last, maximum_of_many) >= 2.0 * distance(average, maximum_of_many)


def test_m19_one_pass_is_the_update_of_the_notes_for_each_row():
    model = sx.LogisticRegression(solver="stochastic", rate=0.4).partial_fit(X, Y, classes=[0, 1])
    w = np.zeros(3)
    for x, y in zip(sx.augment(X), 2 * Y - 1, strict=True):
        w = w + 0.4 * sx.sigmoid(-y * (w @ x)) * y * x
    assert flat(model) == pytest.approx(w, rel=1e-12)
    assert model.result_.status == "partial"
    assert model.result_.message.startswith("one pass over 8 rows: relative gap ")


@pytest.mark.parametrize(
    "options", [{"rate": 0.1}, {"keep": "average"}, {"rate": 0.3, "schedule": "inverse"}, {"strength": 0.1}]
)
def test_m19_partial_fits_of_all_rows_are_the_passes_of_a_fit(options):
    model, many = (
        sx.LogisticRegression(solver="stochastic", **options),
        sx.LogisticRegression(solver="stochastic", **options),
    )
    for _ in range(3):
        model.partial_fit(MANY, LABELS, classes=["no", "yes"])
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes"):
        many.set_params(max_passes=7, keep_iterates=True).fit(MANY, LABELS)
    assert flat(model).tolist() == many.trace_.coefs[3].tolist()
    assert model.n_iter_ == 3
    assert model.existence_ is None
    assert "after partial fits" in str(model.summary())


def test_m19_partial_fits_of_batches_continue_and_follow_a_fit(maximum_of_many):
    model, whole = (sx.LogisticRegression(solver="stochastic", rate=0.1) for _ in range(2))
    for batch in np.array_split(np.arange(300), 7):
        model.partial_fit(MANY[batch], LABELS[batch], classes=["no", "yes"])
    assert flat(model) == pytest.approx(flat(whole.partial_fit(MANY, LABELS, classes=["no", "yes"])), rel=1e-12)
    near = sx.LogisticRegression().fit(MANY, LABELS).set_params(solver="stochastic", rate=1e-6)
    assert distance(near.partial_fit(MANY, LABELS), maximum_of_many) <= 1e-3


def test_m19_each_class_against_the_rest_one_pass_at_a_time():
    labels = np.digitize(MANY[:, 0], [-0.5, 0.5])
    model = sx.LogisticRegression(solver="stochastic", multiclass="one_vs_rest", rate=0.2)
    for _ in range(20):
        for batch in (slice(0, 100), slice(100, 300)):
            model.partial_fit(MANY[batch], labels[batch], classes=[0, 1, 2])
    assert model.score(MANY, labels) >= 0.6
    assert model.coef_.shape == (3, 3)


def test_m19_what_a_partial_fit_cannot_do_is_refused():
    with pytest.raises(AttributeError) as refusal:
        sx.LogisticRegression().partial_fit(X, Y, classes=[0, 1])
    assert str(refusal.value.__cause__) == "partial_fit is for solver=\"stochastic\", not for 'auto'"
    assert not hasattr(sx.LogisticRegression(), "partial_fit")
    with pytest.raises(OptionError, match="strength='cv' needs all rows; leave it out of partial fits"):
        sx.LogisticRegression(solver="stochastic", strength="cv").partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(NeedsError, match='fit one class against the rest \\(multiclass="one_vs_rest"\\)'):
        sx.LogisticRegression(solver="stochastic").partial_fit(X, [0, 1, 2, 0, 1, 2, 0, 1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        sx.LogisticRegression(solver="stochastic").partial_fit(X, Y)
    with pytest.raises(DataError, match=r"row 1 has label 5, which is not among classes \[0, 1\]"):
        sx.LogisticRegression(solver="stochastic").partial_fit(X[:2], [0, 5], classes=[0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "random"}, r"order='random' is for solver=\"stochastic\", not for 'auto'"),
        ({"solver": "gradient", "keep": "average"}, r"keep='average' is for solver=\"stochastic\", not for 'gradient'"),
        ({"rate": 3.0}, r"rate=3.0 is for solver=\"gradient\" or solver=\"stochastic\", not for 'auto'"),
        ({"stop": "change"}, r"stop='change' is for solver=\"gradient\" or solver=\"stochastic\", not for 'auto'"),
        ({"solver": "gradient", "rate": "slow"}, r"rate='slow' is not known; give a number above 0, or \"auto\""),
        ({"solver": "stochastic", "schedule": "inverse", "rate": abs}, "a rate that is a function is its own schedule"),
    ],
)
def test_options_of_other_solvers_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        sx.LogisticRegression(**options).fit(X, Y)


@pytest.mark.parametrize("solver", ["auto", "newton", "newton_cg", "lbfgs", "coordinate", "gradient"])
@pytest.mark.parametrize(
    "options", [{}, {"strength": 0.1, "scaling": "spread"}, {"strength": 0.1, "reference_class": 2}]
)
def test_the_iterates_of_every_solver_end_at_the_fitted_coefficients(solver, options):
    labels = np.digitize(MANY @ [1.0, 0.5, 0.0] + RNG.normal(size=300), [-0.5, 0.5])
    for y in (labels, labels == 2) if "reference_class" not in options else (labels,):
        model = sx.LogisticRegression(solver=solver, keep_iterates=True, tol=1e-5, **options).fit(MANY, y)
        assert model.trace_.coefs[-1] == pytest.approx(flat(model), rel=1e-12, abs=1e-15)
        assert len(model.trace_.coefs) == len(model.trace_)
