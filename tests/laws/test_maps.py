"""The laws of feature maps: scikit-learn's contract, the way to JSON and back, and the same floats in every block."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from registry import unregistered
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.design import kernels, maps
from separatrix.design.build import make_design, map_rows
from separatrix.design.mapped import MappedRows
from separatrix.errors import DataError, OptionError

TRANSFORMERS = [
    sx.maps.SquaredDistance(),
    sx.maps.SquaredDistance(None, keep=True),
    sx.maps.Polynomial(3),
    sx.maps.Polynomial(2, products=False),
    sx.maps.Products(),
    sx.maps.RandomFourier(features=20, random_state=0),
    sx.maps.Nystroem(landmarks=10, random_state=0),
    sx.maps.Nystroem("polynomial", landmarks=10, random_state=0),
]
MAPS = [transformer.feature_map(np.random.default_rng(1).normal(size=(30, 3))) for transformer in TRANSFORMERS]


@parametrize_with_checks(TRANSFORMERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # raises AssertionError where the transformer breaks scikit-learn's contract


def test_every_map_and_transformer_is_checked():
    public = {getattr(sx.maps, name) for name in sx.maps.__all__}
    assert {type(each) for each in TRANSFORMERS} == {each for each in public if isinstance(each, type)}
    assert {type(each) for each in MAPS} == set(maps.ALL)
    assert unregistered(maps, maps.FeatureMap) == []


@pytest.fixture(params=MAPS, ids=lambda each: each.words)
def feature_map(request):
    return request.param


def rows(n=400, p=3):
    return np.random.default_rng(2).normal(size=(n, p))


def test_shape_and_names(feature_map):
    mapped = feature_map.apply(rows())
    names = feature_map.names(["a", "b", "c"])
    assert mapped.shape == (400, feature_map.outputs)
    assert len(set(names)) == feature_map.outputs
    with pytest.raises(DataError, match=r"X has 4 columns; the map .* takes 3"):
        make_design(MappedRows(rows(p=4), feature_map), intercept=True)


def test_to_json_and_back_maps_alike(feature_map):
    again = maps.map_from_dict(json.loads(json.dumps(feature_map.to_dict())))
    assert type(again) is type(feature_map)
    np.testing.assert_array_equal(again.apply(rows()), feature_map.apply(rows()))


def test_exact_maps_give_the_same_floats_in_every_block(feature_map):
    whole = feature_map.apply(rows())
    parts = np.vstack([feature_map.apply(rows()[first : first + 7]) for first in range(0, 400, 7)])
    if feature_map.exact:
        np.testing.assert_array_equal(parts, whole)
    else:
        np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(feature_map.apply(np.asfortranarray(rows())), whole)


def test_sparse_rows_are_mapped_alike(feature_map):
    X = rows() * (np.random.default_rng(3).uniform(size=(400, 3)) < 0.5)
    mapped = map_rows(MappedRows(sp.csc_array(X), feature_map))
    np.testing.assert_allclose(mapped, map_rows(MappedRows(X, feature_map)), rtol=1e-9, atol=1e-12)


# Each map is what it is said to be


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_polynomials_are_scikit_learns_to_the_last_bit(degree):
    X = rows()
    peer = PolynomialFeatures(degree, include_bias=False).fit(X)
    ours = sx.maps.Polynomial(degree).fit(X)
    np.testing.assert_array_equal(ours.transform(X), peer.transform(X))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert maps.count_products(3, degree) == peer.n_output_features_


def test_powers_of_single_columns():
    ours = sx.maps.Polynomial(3, products=False).fit([[2.0, 3.0]])
    assert ours.transform([[2.0, 3.0]]).tolist() == [[2.0, 3.0, 4.0, 9.0, 8.0, 27.0]]
    assert ours.get_feature_names_out(["a", "b"]).tolist() == ["a", "b", "a^2", "b^2", "a^3", "b^3"]


def test_products_turn_inner_products_into_their_squares():
    X = rows()
    mapped = sx.maps.Products().fit_transform(X)
    np.testing.assert_allclose(mapped @ mapped.T, (X @ X.T) ** 2, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        sx.maps.Products().fit_transform([[3.0, 5.0]]), [[9.0, 15.0 * np.sqrt(2.0), 25.0]], rtol=1e-15
    )


def test_random_fourier_features_are_scikit_learns():
    X = rows()
    peer = RBFSampler(gamma=0.7, n_components=64, random_state=5).fit(X)
    ours = sx.maps.RandomFourier(0.7, features=64, random_state=5).fit(X)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), rtol=1e-12, atol=1e-13)


def test_nystroem_has_scikit_learns_inner_products_and_the_kernels_between_landmarks():
    X = rows(60)
    peer = Nystroem(kernel="rbf", gamma=0.5, n_components=20, random_state=4).fit(X)
    ours = sx.maps.Nystroem(kernels.RBF(0.5), landmarks=20, random_state=4).fit(X)
    np.testing.assert_array_equal(ours.map_.landmarks, peer.components_)
    theirs, mapped = peer.transform(X), ours.transform(X)
    np.testing.assert_allclose(mapped @ mapped.T, theirs @ theirs.T, atol=1e-8)
    chosen = ours.transform(ours.map_.landmarks)
    np.testing.assert_allclose(chosen @ chosen.T, kernels.RBF(0.5)(ours.map_.landmarks, ours.map_.landmarks), atol=1e-9)


def test_squared_distances_to_each_kind_of_centre():
    X = rows()
    for centre, expected in (("mean", X.mean(axis=0)), (None, np.zeros(3)), ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])):
        mapped = sx.maps.SquaredDistance(centre).fit_transform(X)
        np.testing.assert_allclose(mapped[:, 0], ((X - expected) ** 2).sum(axis=1), rtol=1e-13)
    kept = sx.maps.SquaredDistance(None, keep=True).fit(X)
    np.testing.assert_array_equal(kept.transform(X)[:, :3], X)
    assert kept.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c", "squared_distance"]


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_centre_searched_for_is_that_of_a_sphere_that_separates(shift):
    rng = np.random.default_rng(0)
    centre = np.array([1.5, -0.5]) + shift
    X = rng.uniform(-4.0, 4.0, size=(300, 2)) + shift
    distance = np.linalg.norm(X - centre, axis=1)
    kept = np.abs(distance - 2.0) > 0.2
    X, y = X[kept], np.where(distance[kept] < 2.0, "in", "out")
    found = sx.maps.SquaredDistance("search").fit(X, y)
    assert np.abs(found.map_.centre - centre).max() < 0.2
    mapped = found.transform(X)[:, 0]
    assert mapped[y == "in"].max() < mapped[y == "out"].min()


def test_a_likely_centre_where_no_sphere_separates():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 1)) * 2.0
    inside = 1.0 / (1.0 + np.exp(2.0 * ((X[:, 0] - 0.7) ** 2 - 1.0)))
    y = rng.uniform(size=2000) < inside
    assert sx.maps.SquaredDistance("search").fit(X, y).map_.centre[0] == pytest.approx(0.7, abs=0.1)


def test_set_output_names_the_columns():
    frame = sx.maps.Polynomial(2).set_output(transform="pandas").fit_transform(rows())
    assert frame.columns.tolist()[:4] == ["x0", "x1", "x2", "x0^2"]


# Refusals


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (sx.maps.SquaredDistance("median"), r"centre='median' is not one of 'mean', 'search'"),
        (sx.maps.SquaredDistance([1.0]), r"centre=\[1\.0\] has shape \(1,\); X has 3 columns"),
        (sx.maps.Polynomial(0), "degree=0 is out of range"),
        (sx.maps.Polynomial(200), "degree=200 of 3 columns has 1,373,700 products; use a smaller degree"),
        (sx.maps.RandomFourier(-1.0), r"gamma=-1\.0 is out of range"),
        (sx.maps.Nystroem("rfb"), "kernel='rfb' is not a kernel; did you mean 'rbf'"),
        (sx.maps.Nystroem(landmarks=[[1.0, 2.0]]), r"landmarks have shape \(1, 2\); X has 3 columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_out_of_range_are_refused_by_name(transformer, message):
    with pytest.raises(OptionError, match=message):
        transformer.fit(rows())


def test_a_search_needs_two_classes_that_a_sphere_tells_apart():
    with pytest.raises(DataError, match="give their labels y"):
        sx.maps.SquaredDistance("search").fit(rows())
    with pytest.raises(DataError, match="y has 3 classes"):
        sx.maps.SquaredDistance("search").fit(rows(3), [0, 1, 2])
    with pytest.raises(DataError, match="no sphere tells the classes apart better than a hyperplane"):
        sx.maps.SquaredDistance("search").fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])


def test_an_unknown_map_in_a_file_is_refused():
    with pytest.raises(ValueError, match=r"map.name is \"polynomal\"; did you mean 'polynomial'"):
        maps.map_from_dict({"name": "polynomal"})


# Classifiers on rows that are mapped as they are read


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(update="batch", max_passes=50),
        sx.Perceptron(max_updates=500),
        sx.LogisticRegression(strength=0.01),
        sx.LogisticRegression(strength=0.0),
        sx.LinearSVM(strength=0.01),
        sx.LinearSVM(strength=0.01, loss="squared_hinge"),
        sx.LMSClassifier(max_passes=200),
        sx.GaussianGenerativeClassifier(),
        sx.ZeroOneClassifier(max_steps=5),
        sx.HalfspaceLP(on_overlap="soft"),
        sx.MaxMarginClassifier(on_overlap="soft"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_take_mapped_rows_in_place_of_the_mapped_matrix(model):
    X = rows(120)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0.1, "yes", "no")
    y[:5] = "no"
    transformer = sx.maps.Polynomial(2).fit(X)
    seen = sx.maps.mapped(X, transformer)
    lazy, dense = clone(model).fit(seen, y), clone(model).fit(transformer.transform(X), y)
    np.testing.assert_allclose(lazy.coef_, dense.coef_, rtol=1e-5, atol=1e-5 * np.abs(dense.coef_).max())
    assert lazy.predict(seen).tolist() == dense.predict(transformer.transform(X)).tolist()
    assert lazy.certificate_.verify(seen, y)
    assert (lazy.n_features_in_, dense.n_features_in_) == (3, 9)


def test_mapped_rows_have_names_and_weights():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows(60), columns=["a", "b", "c"])
    y = (table["a"] ** 2 + rows(60)[:, 1] > 1.0).to_numpy()
    seen = sx.maps.mapped(table, sx.maps.Polynomial(2))
    model = sx.LogisticRegression(strength=0.1).fit(seen, y, sample_weight=np.arange(60.0))
    assert model.result_.provenance["names"][:5] == ["intercept", "a", "b", "c", "a^2"]
    with pytest.raises(OptionError, match=r"is none of sx\.maps"):
        sx.maps.mapped(table, np.log)
