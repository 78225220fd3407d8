"""Logistic regression as a scikit-learn classifier (binary, softmax, one-vs-rest), and its generative counterpart.

A fitted model refers to its rows, without a copy; pickling drops them, and inference with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, overload

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.build import make_design
from separatrix.estimators.base import LinearClassifier, ProbabilityMixin, WeightedFit, checked_rows
from separatrix.families import logistic
from separatrix.families.logistic import LogisticFitted
from separatrix.families.options import GenerativeOptions, LogisticOptions
from separatrix.inference.firth import FirthFit
from separatrix.inference.hypotheses import LikelihoodRatioTest, TestedModel, WaldTest
from separatrix.inference.prediction import ProbabilityInterval
from separatrix.inference.profile import Interval
from separatrix.inference.table import InferenceTable


def _visits_rows(model: LogisticOptions) -> bool:
    """Tell whether a fit can continue with other rows; if not, an AttributeError says what can."""
    if model.solver != "stochastic":
        raise AttributeError(f'partial_fit is for solver="stochastic", not for {model.solver!r}')
    return True


class LogisticRegression(LogisticOptions, WeightedFit, ProbabilityMixin, LinearClassifier):
    """Logistic regression: P(second class) = σ(w·x + b), or a softmax with one score per class.

    Minimises the mean loss plus ``strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is not
    penalised. Strength 0, the default, gives the maximum likelihood estimate, whatever the units of the columns.
    Whether it exists is proved from the data: the verdict of `existence_` is 'overlap' (it exists), 'separable' or
    'quasi' (it does not) or 'undecided'; unless it exists, a SeparationWarning is issued. Columns that are collinear to
    rounding may be held: it then exists over the other columns. If it exists, `summary()` has standard errors, tests
    and intervals, `profile_intervals()` has profile-likelihood intervals, and `predict_proba` has confidence intervals.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    existence_ : at strength 0 the certificates of separability, one per fit, with a `verdict` and a
        `coefficient_status` by name; None with a penalty
    limits_ : at strength 0, by name, the limit of each coefficient: a number, ±inf, or nan if the data do not determine
        it; one per fit. For softmax, those of differences from the first class
    firth_ : the bias-reduced fit and its profile-likelihood intervals, with `bias_reduction` or if it was needed, else
        None. `intercept_` is then not the bias-reduced one: it makes the mean probability the rate (FLIC)
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LogisticRegression().fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[0.9082]]), array([-1.3623]))
    >>> model.existence_[0].verdict
    'overlap'

    Reference: Cox, The regression analysis of binary sequences (1958); Albert and Anderson (1984) on existence.
    """

    _fitted: LogisticFitted

    @available_if(_visits_rows)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> Self:
        """Continue with one stochastic pass over these rows; the first call needs all `classes`.

        For solver="stochastic" and, with more than two classes, multiclass="one_vs_rest". `result_` and `certificate_`
        are about these rows, and there is no inference.
        """
        options = self._options()
        rows, first = self._partial_rows(X, y, classes)
        states, start = (None, None) if first else (self.fitted_.details.get("states"), self._last_coef())
        fitted = logistic.fit_pass(rows, options, states, start)
        return self._keep(fitted, fitted.details["states"][0].passes)

    @property
    def existence_(self) -> list[SeparabilityCertificate] | None:
        return self._logistic().existence

    @property
    def limits_(self) -> list[dict[str, float]] | None:
        return self._logistic().limits

    @property
    def firth_(self) -> FirthFit | None:
        return self._logistic().firth

    def summary(
        self,
        covariance: str = "classical",
        groups: Any = None,
        level: float = 0.95,
        test: Literal["wald", "lr"] | None = None,
    ) -> InferenceTable:
        """Return the table of coefficients: standard errors, z, p-values, intervals, odds ratios, measures of the fit.

        Numbers that are not valid are absent, with the reason and a remedy: with separated classes, those of the
        coefficients without a finite estimate. For several classes, the coefficients are relative to `reference`
        (None: the first class) or, with one-vs-rest, those of all fits. A bias-reduced fit has intervals and p-values
        by its profile likelihood. The table prints as text and is shown as HTML in a notebook; see also its `to_dict`
        and `to_json`.

        Parameters
        ----------
        covariance : "classical" (the inverse information); "HC0" or "HC1" for a misspecified model; "clustered" (or
            "clustered_HC0", without the correction for few groups) for rows correlated within groups; "CR2" for
            either, with degrees of freedom for few rows or groups
        groups : (n,) group of each row, for "clustered" and, unless rows are independent, "CR2"
        level : confidence level of the intervals
        test : "wald", or "lr" for likelihood-ratio tests, by refits without each coefficient, and profile intervals;
            None for the option of the model

        Examples
        --------
        >>> import separatrix as sx
        >>> model = sx.LogisticRegression().fit([[0], [1], [2], [3], [4], [5]], [0, 1, 0, 0, 1, 1])
        >>> term = model.summary().term("x1")
        >>> round(term.standard_error, 4), round(term.p_value, 4)
        (0.614, 0.2726)
        >>> model = sx.LogisticRegression().fit([[k] for k in range(10)], [0, 1, 0, 0, 0, 1, 0, 1, 1, 1])
        >>> round(model.summary(test="lr").term("x1").p_value, 4)
        0.0835
        """
        return self._inference().table(covariance, groups, level, test=test)

    def profile_intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Return the profile-likelihood interval of each coefficient.

        The interval of a coefficient without a finite estimate is unbounded on that side (of two classes; of several,
        it is not known); that of a coefficient that is not identified is the whole line. What is not known is NaN, and
        `absent` says why. The p-values are those of likelihood-ratio tests. For a bias-reduced fit, the likelihood is
        the penalised one.
        """
        return tuple(self._inference().intervals(level))

    def wald_test(self, names: Sequence[str], covariance: str = "classical", groups: Any = None) -> WaldTest:
        """Test that the named coefficients of all classes are 0, by χ², with a covariance as in `summary`."""
        return self._inference().wald_test(names, covariance, groups)

    def lr_test(self, names: Sequence[str]) -> LikelihoodRatioTest:
        """Test that the named coefficients of all classes are 0, by the likelihood ratio to the fit without them.

        If the likelihood has no maximum, because some coefficients diverge, its supremum takes its place; completely
        separated classes are refused. Of a bias-reduced fit the penalised likelihoods are compared, with the penalty of
        all columns, as in logistf's `logistftest`.

        Examples
        --------
        >>> import separatrix as sx
        >>> model = sx.LogisticRegression().fit([[k] for k in range(10)], [0, 1, 0, 0, 0, 1, 0, 1, 1, 1])
        >>> print(model.lr_test(["x1"]))
        x1 = 0 (likelihood ratio): χ²(1) = 2.99621, p = 0.0835
        """
        return self._inference().lr_test(names)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models need."""
        return self._inference().tested_model()

    @overload
    def predict_proba(self, X: Any) -> Floats: ...

    @overload
    def predict_proba(
        self, X: Any, interval: Literal["confidence"], *, level: float = 0.95, covariance: str = "classical"
    ) -> ProbabilityInterval: ...

    def predict_proba(
        self,
        X: Any,
        interval: Literal["confidence"] | None = None,
        *,
        level: float = 0.95,
        covariance: str = "classical",
    ) -> Floats | ProbabilityInterval:
        """Return the probability of each class, (n, K); with one-vs-rest, they are normalised to sum to 1.

        With a `class_weight`, they are those of classes so weighted: of two, the odds are multiplied by the ratio of
        the weights. For the probabilities of the rows, fit without it and choose a `threshold`.

        With interval="confidence" and two classes: the probability of the second, and its confidence interval at the
        given level, computed on the scale of the score with a covariance as in `summary`. If the likelihood has no
        maximum, a SeparationError is raised, unless the fit is bias-reduced.
        """
        if interval is None:
            return super().predict_proba(X)
        inference = self._inference()
        design = make_design(checked_rows(self, X), intercept=self.fit_intercept)
        intervals: ProbabilityInterval = inference.predictions(design, interval, level, covariance)
        return intervals

    def _logistic(self) -> LogisticFitted:
        check_is_fitted(self)
        return self._fitted


class GaussianGenerativeClassifier(GenerativeOptions, WeightedFit, ProbabilityMixin, LinearClassifier):
    """Gaussian naive Bayes with variances shared by the classes: logistic weights in closed form.

    Bayes' rule turns ``P(xⱼ | k) = N(μₖⱼ, σⱼ²)`` and the priors πₖ into P(second class) = σ(w·x + b) with
    ``w = (μ₁ − μ₀)/σ²`` and ``b = ln(π₁/π₀) + Σ (μ₀² − μ₁²)/(2σ²)``; for more than two classes, into a softmax with one
    score per class. If the classes are such Gaussians, it needs fewer rows than logistic regression for the same
    accuracy; otherwise it is biased.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients (1, p) for two classes, or (K, p) with zero sum over the classes
    means_ : (K, p) means of the columns in each class
    variances_ : (p,) variances of the columns within the classes, with divisor n
    result_, certificate_, trace_ : the fit; the certificate that the weights satisfy the formula; its single step

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.GaussianGenerativeClassifier().fit([[0], [2], [4], [6]], [0, 0, 1, 1])
    >>> model.coef_, model.intercept_, model.predict_proba([[3]])
    (array([[4.]]), array([-12.]), array([[0.5, 0.5]]))

    Reference: Efron, The efficiency of logistic regression compared to normal discriminant analysis (1975).
    """

    means_: Floats
    variances_: Floats
