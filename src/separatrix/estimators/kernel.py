"""Kernel perceptron and kernel support vector machine as scikit-learn classifiers, with scores by support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.build import as_array
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import Kernel, Precomputed
from separatrix.estimators.base import ScoreClassifier, UnweightedFit, WeightedFit, checked_rows
from separatrix.estimators.margin import widest_margins
from separatrix.families.base import pair_votes
from separatrix.families.options import KernelPerceptronOptions, KernelSVMOptions


class KernelClassifier(ScoreClassifier):
    """Base class of classifiers with scores Σ cⱼ k(x, xⱼ) + b over support vectors xⱼ."""

    kernel: Any
    kernel_: Kernel
    support_: Ints
    support_vectors_: Any
    dual_coef_: Floats

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags

    def _scores(self, X: Any) -> Floats:
        X = by_rows(checked_rows(self, as_array(X)))
        scores = kernel_scores(self.kernel_, X, self.support_vectors_, self.support_, self.dual_coef_)
        scores += self.intercept_
        votes = len(self.classes_) > 2 and getattr(self, "multiclass", None) == "one_vs_one"
        return pair_votes(scores, len(self.classes_)) if votes else scores


class KernelPerceptron(KernelPerceptronOptions, UnweightedFit, KernelClassifier):
    """The perceptron in its dual form: linear in the feature space of a kernel, its mistakes counted against the bound.

    A mistake on row i adds ``rate · yᵢ`` to its coefficient cᵢ; the score of x is ``Σ cⱼ (k(x, xⱼ) + 1)``. With the
    linear kernel it equals Perceptron, update for update. If some function of the kernel's feature space separates the
    rows with margin γ, and R is their radius there, it converges after at most (R/γ)² updates. With more than two
    classes, each is fitted against the rest.

    {parameters}

    Attributes
    ----------
    alpha_ : number of updates on each training row, times the rate: (n,), or (K, n) for K classes
    support_, support_vectors_ : indices and features of the support vectors
    dual_coef_, intercept_ : their signed coefficients, and the constant
    kernel_ : the kernel with all its parameters
    n_updates_, n_iter_ : number of updates over all classes; passes over the rows
    result_, certificate_, trace_ : status and message; the mistake bound in the feature space; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelPerceptron(kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).tolist(), model.result_.status.value, model.certificate_.verdict
    ([0, 0, 1, 1], 'converged', 'within bound')

    Reference: Aizerman, Braverman and Rozonoer (1964); Freund and Schapire (1999).
    """

    @property
    def n_updates_(self) -> int:
        return int(self.fitted_.result.facts["updates"])

    @property
    def alpha_(self) -> Floats:
        return np.asarray(np.abs(self.fitted_.result.coef))


class KernelSVM(KernelSVMOptions, WeightedFit, KernelClassifier):
    """The kernel support vector machine, with a soft margin to a certified gap, or with a hard margin.

    Minimises ``Σ sᵢ max(0, 1 − yᵢ f(xᵢ)) / Σ sᵢ + strength/2 ‖w‖²`` over functions ``f(x) = w·φ(x) + b``; the intercept
    is not penalised. C of scikit-learn and LIBSVM is 1 / (n · strength). With `hard_margin`, the margin is maximised
    without mistakes; if the rows are not separable in the feature space, an OverlapError with the proof is raised. For
    probabilities, use scikit-learn's CalibratedClassifierCV.

    {parameters}

    Attributes
    ----------
    support_, support_vectors_ : indices and features of the support vectors of all fits
    dual_coef_, intercept_ : yα of each, (fits, support), and (fits,): one fit for two classes, else K or K(K − 1)/2
    kernel_ : the kernel with all its parameters
    margin_ : the widest margin of each fit, NaN for a soft margin
    result_, certificate_, trace_ : status and gap; the evidence, which `verify(X, y)` re-checks; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelSVM(kernel="rbf", gamma=1.0, strength=0.01, tol=1e-6).fit(X, y)
    >>> model.predict(X).tolist(), model.support_.tolist(), model.certificate_.verdict
    ([0, 0, 1, 1], [0, 1, 2, 3], 'optimal')

    Reference: Cortes and Vapnik (1995); Platt (1998); Joachims (1999); Fan, Chen and Lin (2005).
    """

    _counts_steps = True

    @property
    def margin_(self) -> Any:
        return widest_margins(self.fitted_.result)

    @property
    def predict_proba(self) -> Any:
        """Not available: scores of a support vector machine are no log-odds."""
        raise AttributeError(
            "KernelSVM has no probabilities; to have them, use sklearn.calibration.CalibratedClassifierCV"
        )
