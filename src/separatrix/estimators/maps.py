"""Feature maps as scikit-learn transformers: fitted, they settle a map of `design.maps`, which does the mapping.

What is drawn at random is drawn by scikit-learn where it has the transformer (RBFSampler); the map itself is ours, as
lazy designs and certificates need it where scikit-learn is not.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, check_random_state

from separatrix.design.build import map_rows
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
from separatrix.design.row_source import array_of
from separatrix.errors import DataError, OptionError, require_choice, require_count
from separatrix.estimators.base import checked_rows
from separatrix.separability.kernel import fit_map
from separatrix.separability.lift import find_centre

__all__ = ["Nystroem", "Polynomial", "Products", "RandomFourier", "SquaredDistance", "mapped"]

MOST_FEATURES = 1_000_000  # beyond which no matrix of them is worth asking for


def mapped(X: Any, map: Any, y: Any = None) -> MappedRows:
    """Return rows to be mapped as they are read: what `fit`, `predict` and `verify` of classifiers take in place of X.

    The mapped matrix is not stored, but for solvers that visit rows one by one. A map not yet fitted is fitted to X.

    >>> import separatrix as sx
    >>> rows = sx.maps.mapped([[0, 0], [0, 1], [1, 0], [1, 1]], sx.maps.Polynomial(2))
    >>> model = sx.LogisticRegression(strength=0.01).fit(rows, [0, 1, 1, 0])
    >>> model.coef_.shape, model.score(rows, [0, 1, 1, 0])
    ((1, 5), 1.0)
    """
    fitted = getattr(map, "map_", None)
    return MappedRows(X, fit_map(map if fitted is None else fitted, X, y))


class _Map(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A transformer that is a settled map once fitted: `map_`."""

    map_: FeatureMap
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _settle(self, X: Any, y: Any) -> FeatureMap:
        """Return the map for some rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle the map on the rows X (n, p), dense or sparse; y is looked at only where a centre is searched."""
        X = checked_rows(self, X, reset=True)
        self.map_ = self._settle(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows mapped, a dense array (n, outputs)."""
        check_is_fitted(self)
        return map_rows(MappedRows(checked_rows(self, X), self.map_))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self)
        given = [str(name) for name in _check_feature_names_in(self, input_features)]
        return np.asarray(self.map_.names(given), dtype=object)

    def feature_map(self, X: Any, y: Any = None) -> FeatureMap:
        """Return the map as fitted to some rows, without fitting this transformer."""
        fitted: FeatureMap = clone(self).fit(X, y).map_
        return fitted


class SquaredDistance(_Map):
    """The squared distance to a centre, ``Σ (xⱼ − μⱼ)²``: an interval or a ball becomes a halfspace.

    Parameters
    ----------
    centre : "mean" of the rows; an array (p,); None for the origin; "search" for the centre of a sphere that separates
        two classes (of a likely one where none does), which needs y
    keep : whether the columns themselves come along, before the distance

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

    def _settle(self, X: Any, y: Any) -> FeatureMap:
        if isinstance(self.centre, str):
            return SquaredDistanceMap(self._found_centre(X, y), bool(self.keep))
        given = np.zeros(X.shape[1]) if self.centre is None else np.atleast_1d(self.centre)
        if given.shape != (X.shape[1],):
            raise OptionError(f"centre={self.centre!r:.60} has shape {given.shape}; X has {X.shape[1]} columns")
        return SquaredDistanceMap(given, bool(self.keep))

    def _found_centre(self, X: Any, y: Any) -> Any:
        if require_choice("centre", self.centre, ("mean", "search")) == "mean":
            return np.asarray(array_of(X).mean(axis=0, dtype=np.float64)).ravel()
        if y is None:
            raise DataError('centre="search" looks for a sphere between two classes; give their labels y')
        return find_centre(X, y)


class Polynomial(_Map):
    """All products of at most `degree` columns, without the constant, which is the intercept's.

    The floats and their order are those of scikit-learn's PolynomialFeatures(degree, include_bias=False).

    Parameters
    ----------
    degree : the largest number of factors
    products : whether columns are multiplied with one another; if not, only the powers of each

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

    def _settle(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # of use to others
        degree, columns = require_count("degree", self.degree), X.shape[1]
        features = count_products(columns, degree) if self.products else columns * degree
        if features > MOST_FEATURES:
            raise OptionError(
                f"degree={degree} of {columns:,} columns has {features:,} products; a smaller degree, products=False,"
                " or the random features of Nystroem(kernel=kernels.PolynomialKernel(...)) will do with fewer"
            )
        return PolynomialMap(columns, degree, bool(self.products))


class Products(_Map):
    """Squares and √2 times products of two columns: of two, ``(x₁², √2 x₁x₂, x₂²)``; inner products become squares.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.maps.Products().fit_transform([[1.0, 0.0], [3.0, 4.0]]).round(2).tolist()
    [[1.0, 0.0, 0.0], [9.0, 16.97, 16.0]]
    """

    def _settle(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # of use to others
        return ProductsMap(X.shape[1])


class RandomFourier(_Map):
    """Random Fourier features, whose inner products are near ``exp(−gamma ‖x − z‖²)``; drawn by RBFSampler.

    Parameters
    ----------
    gamma : a number, or "scale" for 1 / (p · variance of the entries)
    features : how many; the error falls as one over their root
    random_state : a seed

    Reference: Rahimi and Recht, Random features for large-scale kernel machines (2007).
    """

    def __init__(self, gamma: Any = "scale", *, features: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
        self.features = features
        self.random_state = random_state

    def _settle(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # of use to others
        gamma = self.gamma if self.gamma == "scale" else require_gamma(self.gamma)
        count = require_count("features", self.features)
        drawn = RBFSampler(gamma=gamma, n_components=count, random_state=self.random_state).fit(array_of(X))
        return FourierMap(drawn.random_weights_, drawn.random_offset_)


class Nystroem(_Map):
    """Features whose inner products are a kernel's between some landmarks, and near it elsewhere.

    Parameters
    ----------
    kernel : a kernel of `sx.kernels` or its name ("rbf", "polynomial", "sigmoid", "linear"), or a function
    landmarks : how many rows are drawn as landmarks, or the landmarks themselves (m, p)
    random_state : a seed

    There are as many features as the landmarks' kernel matrix has rank.

    Reference: Williams and Seeger, Using the Nyström method to speed up kernel machines (2001).
    """

    def __init__(self, kernel: Any = "rbf", *, landmarks: Any = 100, random_state: Any = None) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.random_state = random_state

    def _settle(self, X: Any, y: Any) -> FeatureMap:  # noqa: ARG002  # of use to others
        X = array_of(X)
        kernel = make_kernel(self.kernel).settled(X)
        if np.ndim(self.landmarks):
            chosen = np.asarray(self.landmarks, dtype=np.float64)
            if chosen.ndim != 2 or chosen.shape[1] != X.shape[1]:
                raise OptionError(f"landmarks have shape {chosen.shape}; X has {X.shape[1]} columns")
            return nystroem_map(kernel, chosen)
        count = min(require_count("landmarks", self.landmarks), X.shape[0])
        rows = X[check_random_state(self.random_state).permutation(X.shape[0])[:count]]
        return nystroem_map(kernel, np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), np.float64))
