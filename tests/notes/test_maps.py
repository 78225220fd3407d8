"""Feature maps (M29, notes D and E) and Cover's theorem (M30, note E)."""

import itertools

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.datasets import make_circles, make_moons
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.errors import CertificateError, DataError, OptionError

matplotlib.use("agg")

INTERVAL = np.linspace(-3.0, 5.0, 41)[:, np.newaxis]
INSIDE = (np.abs(INTERVAL[:, 0] - 1.0) < 1.3).astype(int)
SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


# M29: maps


@pytest.mark.parametrize("centre", ["mean", "search", [1.0]], ids=str)
def test_m29_an_interval_is_separable_after_the_map_certified(centre):
    before = sx.check_separability(INTERVAL, INSIDE)
    assert before.verdict == "overlap"
    assert before.verify(INTERVAL, INSIDE)
    after = sx.check_separability(INTERVAL, INSIDE, map=sx.maps.SquaredDistance(centre))
    assert after.verdict == "separable"
    checks = after.verify(INTERVAL, INSIDE)
    assert checks.holds
    assert {"direction", "lower", "upper"} <= {check.name for check in checks.checks}
    inside = ((INTERVAL[:, 0] - after.data.map.centre[0]) ** 2)[INSIDE == 1]
    outside = ((INTERVAL[:, 0] - after.data.map.centre[0]) ** 2)[INSIDE == 0]
    assert after.margin == pytest.approx((outside.min() - inside.max()) / 2.0, rel=1e-6)


def test_m29_then_any_linear_predictor():
    for model in (sx.Perceptron(), sx.MaxMarginClassifier(), sx.HalfspaceLP(), sx.LinearSVM(strength=1e-6)):
        fitted = make_pipeline(sx.maps.SquaredDistance(), model).fit(INTERVAL, INSIDE)
        assert fitted.score(INTERVAL, INSIDE) == 1.0
        mapped = fitted[:-1].transform(INTERVAL)
        assert fitted[-1].certificate_.verify(mapped, INSIDE)


def test_m29_products_take_rings_into_three_dimensions_where_a_plane_separates_them():
    X, y = make_circles(150, noise=0.05, factor=0.5, random_state=0)
    assert sx.check_separability(X, y).verdict == "overlap"
    found = sx.check_separability(X, y, map=sx.maps.Products())
    assert (found.verdict, found.data.map.outputs) == ("separable", 3)
    assert found.verify(X, y)
    model = make_pipeline(sx.maps.Products(), sx.Perceptron()).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("X", "y", "degree"),
    [
        (SQUARE, XOR, 2),
        (INTERVAL, INSIDE, 2),
        (*make_circles(150, noise=0.05, factor=0.5, random_state=0), 2),
        (*make_moons(150, noise=0.05, random_state=0), 3),
    ],
    ids=["xor", "interval", "rings", "moons"],
)
def test_m29_the_smallest_degree_with_proof_at_each(X, y, degree):
    found = sx.lift(X, y)
    assert found.degree == degree
    assert [step.degree for step in found.steps] == list(range(1, degree + 1))
    assert [step.verdict for step in found.steps] == ["overlap"] * (degree - 1) + ["separable"]
    assert all(step.certificate.verify(X, y) for step in found.steps)
    assert found.message == f"the classes are separable at degree {degree}, and at no smaller one"


def test_m29_a_proof_after_a_map_does_not_fit_other_data():
    found = sx.lift(SQUARE, XOR).certificate
    assert not found.verify(SQUARE, 1 - XOR)
    assert not found.verify(np.where(SQUARE.all(axis=1, keepdims=True), [4.0, -2.0], SQUARE), XOR)
    refused = found.verify(np.column_stack([SQUARE, SQUARE]), XOR)
    assert str(refused) == "FAILS: data: X has shape (4, 4); the certificate is of (4, 2)"


# M30: Cover


def test_m30_four_points_in_the_plane_with_a_bias_fourteen_of_sixteen():
    assert sx.theory.separable_dichotomies(4, 3) == 14
    assert sx.theory.separability_probability(4, 3) == 14 / 16
    assert sx.theory.capacity(3) == 6


def test_m30_the_count_is_exact_and_halves_at_the_capacity():
    assert [sx.theory.separable_dichotomies(n, 3) for n in range(1, 8)] == [2, 4, 8, 14, 22, 32, 44]
    assert sx.theory.separable_dichotomies(200, 100) == 2**199
    for d in (1, 2, 7, 50):
        assert sx.theory.separability_probability(sx.theory.capacity(d), d) == 0.5
        assert sx.theory.separability_probability(d, d) == 1.0 > sx.theory.separability_probability(d + 1, d)
    with pytest.raises(OptionError, match="N=0 is out of range"):
        sx.theory.separable_dichotomies(0, 3)


@given(st.integers(2, 6), st.integers(1, 4), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=12, deadline=None)
def test_m30_brute_force_over_all_labellings_counts_the_same(n, d, bias, seed):
    """Of normal points, in general position with probability 1, every labelling is judged exactly."""
    if bias and d == 1:
        d = 2
    points = np.random.default_rng(seed).standard_normal((n, d - bias))
    separable = 0
    for code in range(2 ** (n - 1)):  # the other half are these with the classes exchanged
        signs = np.array([1.0 - 2.0 * (code >> place & 1) for place in range(n)])
        X, y = (points, signs) if bias else (points * signs[:, np.newaxis], np.ones(n))
        separable += 2 * (sx.check_separability(X, y, fit_intercept=bias).verdict == "separable")
    assert separable == sx.theory.separable_dichotomies(n, d)


def test_m30_points_not_in_general_position_have_fewer():
    line = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    verdicts = [sx.check_separability(line, labels).verdict for labels in itertools.product([0, 1], repeat=4)]
    assert verdicts.count("separable") == 8 == sx.theory.separable_dichotomies(4, 2) < 14


def test_m30_the_experiment_agrees_within_its_own_interval():
    experiment = sx.cover_experiment([3, 4, 6, 9], 3, repeats=70)
    assert experiment.probability.tolist() == [1.0, 0.875, 0.5, 37 / 256]
    assert experiment.agrees.all()
    assert experiment.separable[0] == 70
    assert (experiment.ci_lower <= experiment.share).all()
    assert (experiment.share <= experiment.ci_upper).all()
    assert (experiment.ci_upper - experiment.ci_lower)[2] == pytest.approx(0.31, abs=0.02)
    lower, upper = experiment.ci_lower, experiment.ci_upper
    assert lower[1] > upper[2] > lower[2] > upper[3], "no interval would agree with another N"
    first = sx.cover_experiment(3, 3, repeats=70)
    assert first.separable.tolist() == experiment.separable[:1].tolist()
    with pytest.warns(FutureWarning, match="lower is now called ci_lower"):
        assert (experiment.lower == experiment.ci_lower).all()


def test_m30_through_the_origin_and_the_exact_interval():
    found = sx.cover_experiment([4], 2, repeats=60, bias=False)
    assert found.agrees.all()
    for k in (0, 3, 7, 10):
        known = type(found)(np.array([1]), 1, np.array([k]), 10, 0.95, np.array([0.5]))
        peer = binomtest(k, 10).proportion_ci(0.95, "exact")
        assert (known.ci_lower[0], known.ci_upper[0]) == pytest.approx((peer.low, peer.high), rel=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"N": 4, "d": 1}, "d=1 with a bias leaves no column"),
        ({"N": [4, 0], "d": 2}, "N=0 is out of range"),
        ({"N": 4, "d": 2, "level": 1.0}, r"level=1\.0 is out of range; give a number between 0 and 1"),
    ],
)
def test_m30_options_out_of_range(options, message):
    with pytest.raises(OptionError, match=message):
        sx.cover_experiment(**options)


# Beyond the notes' data


def test_a_lift_says_why_it_ended():
    twice = sx.lift([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert twice.degree is None
    assert "rows 1 and 2 are equal, their classes not: no degree will do" in twice.message
    alternating = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    short = sx.lift(alternating, [0, 1, 0, 1, 0, 1], max_degree=3)
    assert short.message == "not separable up to degree 3: max_degree=3 was reached; raise it to go on"
    assert sx.lift(alternating, [0, 1, 0, 1, 0, 1]).degree == 5
    few = sx.lift(np.column_stack([SQUARE] * 3), XOR, max_features=10)
    assert few.message.endswith("degree 2 would have 27 features and max_features=10; raise it to go on")
    assert (
        str(sx.lift([[0.0], [1.0]], [0, 1])) == "degree 1: 1 feature, separable\nthe classes are separable at degree 1"
    )


def test_a_map_that_cannot_be_written_down_is_refused():
    with pytest.raises(OptionError, match="for a map of your own give the mapped rows"):
        sx.check_separability(SQUARE, XOR, map=np.square)
    with pytest.raises(OptionError, match=r"none of sx\.maps, made with its options"):
        sx.check_separability(SQUARE, XOR, map=sx.maps.Polynomial)
    with pytest.raises(DataError, match="column 'x1' has NaN in row 2"):
        sx.check_separability([[0.0], [1.0], [np.nan]], [0, 1, 0], map=sx.maps.Polynomial(2))
    with pytest.raises(DataError, match="give one label per row"):
        sx.check_separability(SQUARE, XOR[:3], map=sx.maps.Polynomial(2))


@pytest.mark.parametrize(
    "feature_map",
    [sx.maps.RandomFourier(1.0, features=30, random_state=0), sx.maps.Nystroem(landmarks=20, random_state=0)],
    ids=lambda each: type(each).__name__,
)
def test_maps_of_rounded_functions_say_so_and_verify_from_their_description(feature_map):
    X, y = make_circles(100, noise=0.05, factor=0.4, random_state=0)
    found = sx.check_separability(X, y, map=feature_map)
    assert found.verdict == "separable"
    assert "in floats computed here" in found.claim
    assert sx.certificate_from_dict(found.to_dict()).verify(X, y)
    assert found.verify(X * (1.0 + 2.0**-50), y), "other last digits, as of another machine, break no proof"


def test_several_classes_weights_and_tables_after_a_map():
    pandas = pytest.importorskip("pandas")
    X, y = sx.load_demo("iris")
    for multiclass in ("softmax", "one_vs_rest", "pairs"):
        found = sx.check_separability(X, y, map=sx.maps.Polynomial(2), multiclass=multiclass)
        assert found.verdict == "separable"
        parts = getattr(found, "parts", (found,))
        assert [part.margin for part in parts] == [None] * (1 if multiclass == "softmax" else 3)
        assert sx.certificate_from_dict(found.to_dict()).verify(X, y)
    table = pandas.DataFrame(SQUARE, columns=["a", "b"])
    found = sx.check_separability(table, XOR, map=sx.maps.Polynomial(2))
    assert found.names == ("intercept", "a", "b", "a^2", "a b", "b^2")
    assert found.verify(table[["b", "a"]], XOR)
    weighted = sx.check_separability(SQUARE, XOR, map=sx.maps.Polynomial(1), sample_weight=[1, 1, 1, 0])
    assert weighted.verdict == "separable"
    assert weighted.verify(SQUARE, XOR, sample_weight=[1, 1, 1, 0])
    assert not weighted.verify(SQUARE, XOR)


def test_m30_the_picture_has_the_formula_and_the_counts():
    found = sx.cover_experiment([4, 6], 3, repeats=10)
    display = sx.plot.cover(found)
    assert display.data["formula"].tolist() == [sx.theory.separability_probability(n, 3) for n in range(1, 7)]
    assert display.ax.lines[0].get_ydata().tolist() == display.data["formula"].tolist()
    assert display.ax.lines[1].get_ydata().tolist() == found.share.tolist()
    title = display.ax.get_title().replace("\n", " ")
    assert title == "3 weights can separate half of the labellings of 6 points."
    display.close()
    with pytest.raises(OptionError, match=r"give what sx\.cover_experiment returned"):
        sx.plot.cover([4, 6])


def test_products_beyond_the_floats_are_refused():
    with pytest.raises(DataError, match=r"column 'x1\^2' has infinity \(inf\) in row 0"):
        sx.check_separability([[1e200], [1.0], [2.0]], [0, 1, 0], map=sx.maps.Polynomial(2))
    with pytest.raises(DataError, match=r"column 'x1\^2' has infinity \(inf\) in row 0"):
        sx.maps.Polynomial(2).fit_transform([[1e200], [1.0]])
    for size in (1e-100, 1e100):
        found = sx.lift(np.array([[0.0], [1.0], [2.0]]) * size, [0, 1, 0])
        assert found.degree is None
        assert f"of entries up to {2 * size:.3g} the products of degree 2 leave the range of floats" in found.message


def test_a_certificate_whose_map_takes_other_columns_than_it_names_is_malformed():
    told = sx.check_separability([[0.0, 1.0], [2.0, 3.0]], [0, 1], map=sx.maps.Polynomial(2)).to_dict()
    told["data"]["map"]["columns"] = 5
    with pytest.raises(CertificateError, match="the map takes 5 columns, of 2"):
        sx.certificate_from_dict(told)
