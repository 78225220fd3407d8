"""Logistic regression as a scikit-learn classifier (binary, softmax, one-vs-rest), and its inference.

A fitted model refers to its rows, without a copy; pickling drops them, and inference with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self, get_args, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import DataError, OptionError, SeparationError, SeparationWarning, require_choice, require_number
from separatrix.estimators.base import (
    ClassTask,
    LinearClassifier,
    Penalised,
    WeightKind,
    apply_class_weight,
    drop_weightless,
)
from separatrix.families.base import binary_targets, join_results
from separatrix.families.logistic import fit_logistic, logistic_problem
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.result import FitResult
from separatrix.inference import eligibility
from separatrix.inference.covariance import CovarianceKind
from separatrix.inference.hypotheses import TestedModel, WaldTest
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.logistic import LogisticModel, ProbabilityInterval, SampleRows
from separatrix.inference.profile import FirthFit, Interval, fit_firth
from separatrix.inference.table import InferenceTable, estimates_only_table, require_level
from separatrix.model.decision_rule import log_probabilities, probabilities
from separatrix.numerics import softplus
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice
from separatrix.separability.existence import describe_divergence


class LogisticInference:
    """Inference for a fitted LogisticRegression; `_model` is None with a penalty, and absent after unpickling."""

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    strength_: float
    cv_: CrossValidation | None
    existence_: list[SeparabilityCertificate] | None
    firth_: FirthFit | None
    fit_intercept: bool
    reference: Any
    weight_kind: str
    class_weight: Any
    _model: LogisticModel | None
    _sample_rows: SampleRows
    result_: FitResult

    def __getstate__(self) -> dict[str, Any]:
        """Return the pickled state: everything but the rows."""
        state: Any = super().__getstate__()
        return {
            name: value
            for name, value in state.items()
            if name != "_sample_rows" and not (name == "_model" and value is not None)
        }

    def summary(self, covariance: str = "classical", groups: Any = None, level: float = 0.95) -> InferenceTable:
        """Return the table of coefficients: standard errors, z, p-values, intervals, odds ratios, measures of the fit.

        Numbers that are not valid are absent, with the reason and a remedy: with separated classes, those of the
        coefficients without a finite estimate. For several classes, the coefficients are relative to `reference`
        (None: the first class) or, with one-vs-rest, those of all fits. A bias-reduced fit has intervals and p-values
        by its profile likelihood. The table prints as text and is shown as HTML in a notebook; see also its `to_dict`
        and `to_json`.

        Parameters
        ----------
        covariance : "classical" (the inverse information); "HC0" or "HC1" for a misspecified model; "clustered" (or
            "clustered_HC0", without the correction for few groups) for rows correlated within groups
        groups : (n,) group of each row, for "clustered"
        level : confidence level of the intervals

        Examples
        --------
        >>> import separatrix as sx
        >>> model = sx.LogisticRegression().fit([[0], [1], [2], [3], [4], [5]], [0, 1, 0, 0, 1, 1])
        >>> term = model.summary().term("x1")
        >>> round(term.standard_error, 4), round(term.p_value, 4)
        (0.614, 0.2726)
        """
        check_is_fitted(self)
        if getattr(self, "_model", "") is None:
            require_choice("covariance", covariance, get_args(CovarianceKind))
            return self._refused_table(require_level(level))
        return self._fitted_model("the table").table(covariance, groups, level)

    def profile_intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Return the profile-likelihood interval of each coefficient, for two classes.

        The interval of a coefficient without a finite estimate is unbounded on that side; that of a coefficient that is
        not identified is the whole line. The p-values are those of likelihood-ratio tests. For a bias-reduced fit, the
        likelihood is the penalised one.
        """
        return self._fitted_model("a profile of the likelihood").intervals(level)

    def wald_test(self, names: Sequence[str], covariance: str = "classical", groups: Any = None) -> WaldTest:
        """Test that the named coefficients of all classes are 0, by χ², with a covariance as in `summary`."""
        return self._fitted_model("a test").wald_test(names, covariance, groups)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models need."""
        check_is_fitted(self)
        if getattr(self, "_model", "") is None:
            names, several = tuple(self.result_.provenance["names"]), len(self.classes_) > 2
            return TestedModel("softmax" if several else "logistic", names, 0, np.nan, None, self._penalty_reason())
        return self._fitted_model("a test of nested models").tested_model()

    def _store_rows(self, tasks: Sequence[ClassTask]) -> None:
        """Store the likelihood fits that inference needs."""
        self._model = None
        if self.existence_ is None:
            return
        weights, reference = tasks[0].problem.weights, np.flatnonzero(self.classes_ == self.reference)
        weighting = "" if weights is None or (weights == 1.0).all() else self._weighting()
        place = int(reference[0]) if len(reference) else 0
        classes = tuple(self.classes_.tolist())
        fits = tuple(
            LikelihoodFit(task.problem, existence, coef, self._labels(task), weighting, place)
            for task, existence, coef in zip(tasks, self.existence_, self._flat_coefs(tasks), strict=True)
        )
        self._model = LogisticModel(fits, classes, self._sample_rows, self.firth_)

    def _weighting(self) -> str:
        """Return the kind of weights, an empty string for frequencies."""
        if self.class_weight is not None:
            return eligibility.CLASS_WEIGHTS
        return "" if self.weight_kind == "frequency" else 'precision weights (weight_kind="precision")'

    @staticmethod
    def _labels(task: ClassTask) -> tuple[Any, ...]:
        """Return the labels of a task; in one-vs-rest, the first is "the rest"."""
        return task.labels if task.labels[0] is not None else ("the rest", task.labels[1])

    def _flat_coefs(self, tasks: Sequence[ClassTask]) -> list[Floats]:
        """Return the coefficients of each task, intercept first: (p,); for softmax, relative to the first class."""
        rows = np.column_stack([self.intercept_, self.coef_]) if self.fit_intercept else self.coef_
        return [(rows[1:] - rows[0]).ravel()] if len(tasks[0].labels) > 2 else list(rows)

    def _fitted_model(self, what: str) -> LogisticModel:
        """Return the likelihood model, or raise an error that says why there is none."""
        check_is_fitted(self)
        if not hasattr(self, "_model"):
            raise DataError(eligibility.rows_not_saved(what))
        if self._model is None:
            raise OptionError(f"{what} cannot be given: {self._penalty_reason()}")
        return self._model

    def _penalty_reason(self) -> str:
        if self.cv_ is not None:
            return eligibility.chosen_by_cross_validation(self.strength_)
        return eligibility.penalised(self.strength_)

    def _refused_table(self, level: float) -> InferenceTable:
        """Return the table of a penalised fit: its coefficients, and why there is no inference."""
        rows = np.column_stack([self.intercept_, self.coef_]) if self.fit_intercept else self.coef_
        outputs = [None] if len(rows) == 1 else self.classes_.tolist()
        return estimates_only_table(
            "logistic" if len(self.classes_) == 2 else "softmax",
            self.result_.provenance["names"],
            list(zip(outputs, rows, strict=True)),
            float(self.result_.facts["rows"]),
            self._penalty_reason(),
            level,
        )


class LogisticRegression(LogisticInference, Penalised, LinearClassifier):
    """Logistic regression: P(second class) = σ(w·x + b), or a softmax with one score per class.

    Minimises the mean loss plus ``strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is not
    penalised. Strength 0, the default, gives the maximum likelihood estimate, whatever the units of the columns.
    Whether it exists is proved from the data: the verdict of `existence_` is 'overlap' (it exists), 'separable' or
    'quasi' (it does not) or 'undecided'; unless it exists, a SeparationWarning is issued. If it exists, `summary()` has
    standard errors, tests and intervals, `profile_intervals()` has profile-likelihood intervals, and `predict_proba`
    has confidence intervals.

    Parameters
    ----------
    strength : strength of the penalty; 0 for none; "cv" to choose it by cross-validation. C of scikit-learn is
        1 / (n · strength)
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    multiclass : "softmax" or "one_vs_rest", for more than two classes
    reference : class whose softmax scores are 0, so that the coefficients of the others are log-odds against it; None
        for the coefficients that minimise the penalty or, without one, have zero sum over the classes
    solver : "auto", or the name of a solver, such as "newton"
    on_separation : what to do if strength is 0 and no maximum is proved to exist: "warn", "raise", "ignore", or "firth"
        for bias-reduced estimates, which always exist (two classes)
    class_weight : None, "balanced", or a weight for each class; multiplied with the sample weights
    weight_kind : meaning of sample_weight: "precision" (importance relative to the other rows) or "frequency" (number
        of observations, an integer); the coefficients are the same, but not standard errors and tests
    threshold : probability from which the second of two classes is predicted
    fit_intercept : whether scores have a constant
    tol : relative duality gap to reach
    max_passes : largest number of passes over the rows
    warm_start : whether to start at the coefficients of the last fit, if they have the same shape
    cv : number of folds for strength "cv"
    cv_choice : "one_standard_error" (the largest strength within one standard error of the best) or "best"
    strengths : number of strengths to try, or the strengths themselves
    random_state : seed of the folds; None gives the same folds each time

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    existence_ : at strength 0 the certificates of separability, one per fit, with a `verdict` and a
        `coefficient_status` by name; None with a penalty
    limits_ : at strength 0, by name, the limit of each coefficient: a number, ±inf, or nan if the data do not determine
        it; one per fit, None for softmax
    firth_ : the bias-reduced fit and its profile-likelihood intervals, if it was needed, else None
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

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        strength: float | Literal["cv"] = 0.0,
        l1_ratio: float = 0.0,
        multiclass: Literal["softmax", "one_vs_rest"] = "softmax",
        reference: Any = None,
        solver: str = "auto",
        on_separation: Literal["warn", "raise", "ignore", "firth"] = "warn",
        class_weight: Any = None,
        threshold: float = 0.5,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_passes: int = 1000,
        warm_start: bool = False,
        cv: int = 5,
        cv_choice: StrengthChoice = "one_standard_error",
        strengths: Any = 100,
        weight_kind: WeightKind = "precision",
        random_state: Any = None,
    ) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.multiclass = multiclass
        self.reference = reference
        self.solver = solver
        self.on_separation = on_separation
        self.class_weight = class_weight
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.warm_start = warm_start
        self.cv = cv
        self.cv_choice = cv_choice
        self.strengths = strengths
        self.weight_kind = weight_kind
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,), with weights (n,); rows of weight 0 are ignored."""
        require_choice("on_separation", self.on_separation, ("warn", "raise", "ignore", "firth"))
        options = ConvexOptions.named(self.solver, self.tol, self.max_passes)
        last = self._start() if self.warm_start and hasattr(self, "coef_") else None
        tasks = self._tasks(X, y, sample_weight)
        penalised = self._penalise([task.problem for task in tasks], options, self._starts(last, tasks))
        fits = [
            fit_logistic(problem, options, labels=task.labels, start=start, class_weights=task.class_weights)
            for task, (problem, start) in zip(tasks, penalised, strict=True)
        ]
        self.existence_ = [fit.existence for fit in fits if fit.existence is not None] or None
        self.limits_ = [fit.limits for fit in fits] if self.existence_ and fits[0].limits else None
        self.firth_ = self._reduce_bias(tasks)
        self._warn_of_separation(self.existence_ or [])
        result = join_results([fit.result for fit in fits], self.classes_.tolist())
        result = result if self.firth_ is None else self.firth_.result
        self.n_iter_ = max(1, round(result.passes))
        result = replace(result, provenance={**result.provenance, **self._origin()})
        self._store(self._with_reference(result))
        self._store_rows(tasks)
        return self

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        return [task.problem for task in self._tasks(X, y, sample_weight)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, (n, K), finite wherever the scores are."""
        return log_probabilities(self._log_odds(X))

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

        With interval="confidence" and two classes: the probability of the second, and its confidence interval at the
        given level, computed on the scale of the score with a covariance as in `summary`. If the likelihood has no
        maximum, a SeparationError is raised.
        """
        if interval is None:
            return probabilities(self._log_odds(X))
        require_choice("interval", interval, ("confidence",))
        model = self._fitted_model("an interval of a probability")
        return model.probabilities(self._design(X, reset=False), covariance, level)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; of two, the second if its probability reaches the threshold."""
        check_is_fitted(self)
        threshold = require_number("threshold", self.threshold, above=0.0, most=1.0)
        if threshold == 0.5 or len(self.classes_) > 2:
            return super().predict(X)
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] >= threshold).astype(np.intp)])

    def _log_odds(self, X: Any) -> Floats:
        """Return scores whose sigmoid or softmax is the probability; with one-vs-rest, log-probabilities."""
        scores = self.decision_function(X)
        return scores if scores.ndim == 1 or self.multiclass == "softmax" else -np.asarray(softplus(-scores))

    def _tasks(self, X: Any, y: Any, sample_weight: Any) -> list[ClassTask]:
        """Return one task for two classes or softmax, else one per class against the rest."""
        require_choice("multiclass", self.multiclass, ("softmax", "one_vs_rest"))
        design, labels = self._design_and_labels(X, y)
        rows = len(labels)
        design, labels, weights, places = drop_weightless(design, labels, self._weights(sample_weight, X))
        weights, self._class_weights = apply_class_weight(self.class_weight, labels, weights)
        design, labels, weights, left = drop_weightless(design, labels, weights)
        self._sample_rows = SampleRows(rows, places if left is None else left if places is None else places[left])
        classes = self._classes(labels)
        if len(classes.values) > 2 and self.multiclass == "softmax":
            targets: list[tuple[NDArray[Any], tuple[Any, ...]]] = [(classes.codes, tuple(classes.plain))]
        else:
            targets = [(target.signs, target.labels) for target in binary_targets(classes)]
        return [
            ClassTask(
                logistic_problem(design, codes, names, weights),
                names,
                None if names[0] is None else self._by_label(names),
            )
            for codes, names in targets
        ]

    def _by_label(self, labels: Sequence[Any]) -> tuple[float, ...] | None:
        """Return the class weights of the labels."""
        return None if self._class_weights is None else tuple(self._class_weights[label] for label in labels)

    def _starts(self, last: Floats | None, tasks: Sequence[ClassTask]) -> list[Floats | None]:
        """Return the initial coefficients of each task: those of the last fit if their shape is the same."""
        shape = tasks[0].problem.design.shape[1], 1 if len(self.classes_) == 2 else len(self.classes_)
        if last is None or last.shape != shape:
            return [None] * len(tasks)
        return [last] if len(tasks[0].labels) > 2 else [last[:, k] for k in range(len(tasks))]

    def _start(self) -> Floats:
        """Return the coefficients of the last fit, one column per score."""
        return np.vstack([self.intercept_, self.coef_.T]) if self.fit_intercept else self.coef_.T

    def _with_reference(self, result: FitResult) -> FitResult:
        """Return softmax coefficients relative to the reference, or centred over the classes."""
        if result.coef.ndim == 1 or self.multiclass != "softmax":
            return result
        if self.reference is None:
            coef = result.coef if self.strength_ > 0.0 else result.coef - result.coef.mean(axis=0)
            return replace(result, coef=coef, intercept=result.intercept - result.intercept.mean())
        places = np.flatnonzero(self.classes_ == self.reference)
        if not len(places):
            raise OptionError(f"reference={self.reference!r} is not among classes {self.classes_.tolist()}")
        place = int(places[0])
        return replace(
            result, coef=result.coef - result.coef[place], intercept=result.intercept - result.intercept[place]
        )

    def _reduce_bias(self, tasks: Sequence[ClassTask]) -> FirthFit | None:
        """Return the bias-reduced fit if it is an option and no maximum was proved to exist."""
        if self.on_separation != "firth" or not _without_maximum(self.existence_ or []):
            return None
        if len(self.classes_) > 2 or tasks[0].class_weights is not None:
            what = f"{len(self.classes_)} classes" if len(self.classes_) > 2 else "class_weight"
            raise OptionError(f'on_separation="firth" is for two classes of plain or weighted rows, not for {what}')
        return fit_firth(tasks[0].problem, (tasks[0].labels[0], tasks[0].labels[1]))

    def _warn_of_separation(self, verdicts: list[SeparabilityCertificate]) -> None:
        unproved = next(iter(_without_maximum(verdicts)), None)
        if unproved is None or self.on_separation == "ignore" or self.firth_ is not None:
            return
        unknown = unproved.verdict == "undecided"
        head = "it is not known whether the likelihood has a maximum" if unknown else "the likelihood has no maximum"
        message = (
            f"{head}: {unproved.claim.split(';')[0]}{describe_divergence(unproved)}; the coefficients say where the"
            ' fit stopped, not what they converge to. Use strength > 0, or on_separation="firth"'
        )
        if self.on_separation == "raise":
            raise SeparationError(message)
        warnings.warn(message, SeparationWarning, stacklevel=3)


def _without_maximum(verdicts: Sequence[SeparabilityCertificate]) -> list[SeparabilityCertificate]:
    """Return the verdicts that do not prove that a maximum exists."""
    return [verdict for verdict in verdicts if verdict.verdict != "overlap"]
