"""The log-likelihood of logistic and softmax models at given coefficients, with its gradient and Hessian.

    ℓ(w) = Σ sᵢ log P(yᵢ | xᵢ),      two classes:    ∇ℓ = Σ sᵢ (tᵢ − σᵢ) xᵢ,      ∇²ℓ = −Σ sᵢ σᵢ(1 − σᵢ) xᵢ xᵢᵗ

with σᵢ = σ(w·xᵢ) and tᵢ 1 for the second class, else 0. Cost: one pass, with p² products per row and K² for K classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.data import weighted_rows
from separatrix.design.build import make_design
from separatrix.errors import DataError
from separatrix.fit.labels import find_classes
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem


class LikelihoodDerivatives(NamedTuple):
    """ℓ at coefficients w; its gradient, shaped like w; its Hessian (w.size, w.size), in the order of w.ravel()."""

    value: float
    gradient: Floats
    hessian: Floats


def log_likelihood(
    X: Any, y: Any, w: Any, *, fit_intercept: bool = True, sample_weight: Any = None
) -> LikelihoodDerivatives:
    """Return the log-likelihood of logistic regression at given coefficients, with its gradient and Hessian.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : labels of two or more classes (n,)
    w : coefficients, the intercept first if there is one: (1 + p,) for two classes, where the score is that of the
        second; (K, 1 + p) for a softmax of K classes, one row per class in sorted order. The R − 1 sets of weights of
        some texts are those with a row of zeros for the reference class
    fit_intercept : whether w starts with an intercept
    sample_weight : weight of each row (n,)

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
    >>> start = sx.log_likelihood(X, y, [0.0, 0.0])
    >>> round(start.value, 4), start.gradient.tolist(), start.hessian.tolist()
    (-3.4657, [0.5, 3.0], [[-1.25, -2.5], [-2.5, -7.5]])
    >>> model = sx.LogisticRegression().fit(X, y)
    >>> maximum = sx.log_likelihood(X, y, [model.intercept_[0], *model.coef_[0]])
    >>> round(maximum.value, 4), bool(abs(maximum.gradient).max() < 1e-6)
    (-2.422, True)

    Reference: McCullagh and Nelder, Generalized Linear Models (1989), chapter 4.
    """
    problem = _problem(X, y, fit_intercept, sample_weight)
    coef, wanted = np.asarray(w, dtype=np.float64), problem.zero_coef().T.shape
    if coef.shape != wanted or not np.isfinite(coef).all():
        layout = "an intercept and one coefficient" if fit_intercept else "one coefficient"
        raise DataError(f"w has shape {coef.shape}; give finite numbers of shape {wanted}: {layout} per column")
    expansion = problem.expand(np.ascontiguousarray(coef.T), 2)
    assert expansion.gradient is not None  # order 2 has both
    assert expansion.hessian is not None
    total, order = problem.total_weight, np.arange(coef.size).reshape(coef.T.shape).T.ravel()
    hessian = expansion.hessian[np.ix_(order, order)]
    return LikelihoodDerivatives(-total * expansion.value, -total * expansion.gradient.T, -total * hessian)


def _problem(X: Any, y: Any, fit_intercept: bool, sample_weight: Any) -> Problem:
    """Return the problem of the mean loss, whose total is minus the log-likelihood."""
    design, classes = make_design(X, intercept=fit_intercept), find_classes(y)
    if len(classes.codes) != design.shape[0]:
        raise DataError(f"X has {design.shape[0]} rows and y has {len(classes.codes)} labels; give one label per row")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weighted_rows(weights, design.shape[0])  # raises an error that names a weight that is none
    if len(classes.values) == 2:
        return Problem(design, classes.signs(), Logistic(), weights=weights)
    return Problem(design, classes.codes, Softmax(), weights=weights)
