"""Feature maps as scikit-learn transformers; the fitted map is one of `design.maps`, which does the mapping.

Random features are drawn by scikit-learn where it has the transformer (RBFSampler). The maps are ours, as lazy designs
and certificates use them without scikit-learn.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, check_random_state

from separatrix.design.build import as_array, map_rows
from separatrix.design.kernels import make_kernel, require_gamma
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import (
    FeatureMap,
    FourierMap,
    PolynomialMap,
    ProductsMap,
    SquaredDistanceMap,
    count_products,
    nystroem_map,
)
from separatrix.errors import DataError, OptionError, require_choice, require_count
from separatrix.estimators.base import checked_rows
from separatrix.separability.kernel import fit_map
from separatrix.separability.lift import find_centre

__all__ = ["Nystroem", "Polynomial", "Products", "RandomFourier", "SquaredDistance", "mapped"]

MOST_FEATURES = 1_000_000  # above which a design matrix is refused


def mapped(X: Any, map: Any, y: Any = None) -> MappedRows:
    """Return rows that are mapped when they are read; `fit`, `predict` and `verify` of classifiers accept them as X.

    The mapped matrix is not stored, except by solvers that visit rows one by one. An unfitted map is fitted to X.

    >>> import separatrix as sx
    >>> rows = sx.maps.mapped([[0, 0], [0, 1], [1, 0], [1, 1]], sx.maps.Polynomial(2))
    >>> model = sx.LogisticRegression(strength=0.01).fit(rows, [0, 1, 1, 0])
    >>> model.coef_.shape, model.score(rows, [0, 1, 1, 0])
    ((1, 5), 1.0)
    """
    fitted = getattr(map, "map_", None)
    return MappedRows(X, fit_map(map if fitted is None else fitted, X, y))


class _Map(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base class of the transformers; the fitted map is `map_`."""

    map_: FeatureMap
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _make_map(self, X: Any, y: Any) -> FeatureMap:
        """Return the map fitted to the rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the map to X (n, p), dense or sparse; y is used only to search for a centre."""
        X = checked_rows(self, X, reset=True)
        self.map_ = self._make_map(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the mapped rows, a dense array (n, outputs)."""
        check_is_fitted(self)
        return map_rows(MappedRows(checked_rows(self, X), self.map_))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` returns."""
        check_is_fitted(self)
        names = [str(name) for name in _check_feature_names_in(self, input_features)]
        return np.asarray(self.map_.names(names), dtype=object)

    def feature_map(self, X: Any, y: Any = None) -> FeatureMap:
        """Return the map fitted to the rows, without fitting this transformer."""
        fitted: FeatureMap = clone(self).fit(X, y).map_
        return fitted


class SquaredDistance(_Map):
    """The squared distance to a centre, ``Σ (xⱼ − μⱼ)²``: a ball becomes a halfspace.

    Parameters
    ----------
    centre : "mean" of the rows; an array (p,); None for the origin; "search" for the centre of a sphere that separates
        two classes, or nearly does, which needs y
    keep : whether to keep the original columns, before the distance

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1, 0]
    >>> sx.maps.SquaredDistance().fit_transform(X).ravel().tolist()
    [4.0, 1.0, 0.0, 1.0, 4.0]
    >>> sx.check_separability(X, y).verdict, sx.check_separability(X, y, map=sx.maps.SquaredDistance()).verdict
    ('overlap', 'separable')
    """

    def __init__(self, centre: Any = "mean", *, keep: bool = False) -> None:
        self.centre = centre
        self.keep = keep

    def _make_map(self, X: Any, y: Any) -> FeatureMap:
        if not isinstance(self.centre, str):
            centre = np.zeros(X.shape[1]) if self.centre is None else np.atleast_1d(self.centre)
        elif require_choice("centre", self.centre, ("mean", "search")) == "mean":
            centre = np.asarray(as_array(X).mean(axis=0, dtype=np.float64)).ravel()
        elif y is None:
            raise DataError('centre="search" looks for a sphere between two classes; give their labels y')
        else:
            centre = find_centre(X, y)
        if centre.shape != (X.shape[1],):
            raise OptionError(f"centre={self.centre!r:.60} has shape {centre.shape}; X has {X.shape[1]} columns")
        return SquaredDistanceMap(centre, bool(self.keep))


class Polynomial(_Map):
    """All products of at most `degree` columns, without the constant, which is left to the intercept.

    Values and order are those of scikit-learn's PolynomialFeatures(degree, include_bias=False).

    Parameters
    ----------
    degree : largest number of factors
    products : whether to multiply different columns; if not, only the powers of each

    Examples
    --------
    >>> import separatrix as sx
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> sx.maps.Polynomial(2).fit(xor).get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a^2', 'a b', 'b^2']
    """

    def __init__(self, degree: int = 2, *, products: bool = True) -> None:
        self.degree = degree
        self.products = products

    def _make_map(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # part of the interface
        degree, columns = require_count("degree", self.degree), X.shape[1]
        features = count_products(columns, degree) if self.products else columns * degree
        if features > MOST_FEATURES:
            remedy = "use a smaller degree, products=False, or Nystroem(kernel=kernels.PolynomialKernel(...))"
            raise OptionError(f"degree={degree} of {columns:,} columns has {features:,} products; {remedy}")
        return PolynomialMap(columns, degree, bool(self.products))


class Products(_Map):
    """Squares and √2 times the products of two columns, ``(x₁², √2 x₁x₂, x₂²)`` for two: inner products are squared.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.maps.Products().fit_transform([[1.0, 0.0], [3.0, 4.0]]).round(2).tolist()
    [[1.0, 0.0, 0.0], [9.0, 16.97, 16.0]]
    """

    def _make_map(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # part of the interface
        return ProductsMap(X.shape[1])


class RandomFourier(_Map):
    """Random Fourier features, whose inner products approximate ``exp(−gamma ‖x − z‖²)``; drawn by RBFSampler.

    Parameters
    ----------
    gamma : a number, or "scale" for 1 / (p · variance of the entries)
    features : number of features m; the error is of order 1/√m
    random_state : seed of the draw

    Reference: Rahimi and Recht, Random features for large-scale kernel machines (2007).
    """

    def __init__(self, gamma: Any = "scale", *, features: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
        self.features = features
        self.random_state = random_state

    def _make_map(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # part of the interface
        gamma = self.gamma if self.gamma == "scale" else require_gamma(self.gamma)
        count = require_count("features", self.features)
        drawn = RBFSampler(gamma=gamma, n_components=count, random_state=self.random_state).fit(as_array(X))
        return FourierMap(drawn.random_weights_, drawn.random_offset_)


class Nystroem(_Map):
    """Nyström features, whose inner products equal a kernel between landmarks and approximate it elsewhere.

    The number of features is the rank of the kernel matrix of the landmarks.

    Parameters
    ----------
    kernel : a kernel of `sx.kernels` or its name ("rbf", "polynomial", "sigmoid", "linear"), or a function
    landmarks : number of rows to draw as landmarks, or the landmarks themselves (m, p)
    random_state : seed of the draw

    Reference: Williams and Seeger, Using the Nyström method to speed up kernel machines (2001).
    """

    def __init__(self, kernel: Any = "rbf", *, landmarks: Any = 100, random_state: Any = None) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.random_state = random_state

    def _make_map(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # part of the interface
        X = as_array(X)
        kernel = make_kernel(self.kernel).settled(X)
        if np.ndim(self.landmarks):
            landmarks = np.asarray(self.landmarks, dtype=np.float64)
            if landmarks.ndim != 2 or landmarks.shape[1] != X.shape[1]:
                raise OptionError(f"landmarks have shape {landmarks.shape}; X has {X.shape[1]} columns")
            return nystroem_map(kernel, landmarks)
        count = min(require_count("landmarks", self.landmarks), X.shape[0])
        rows = X[check_random_state(self.random_state).permutation(X.shape[0])[:count]]
        return nystroem_map(kernel, np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.float64))
