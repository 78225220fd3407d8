"""Logistic regression as a scikit-learn classifier: two classes, softmax, or each class against the rest.

What LogisticRegression says of a population: a table, profile intervals, and intervals of its probabilities.

A fitted model keeps the rows of its fit by reference; they do not go along when it is pickled.
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
from separatrix.inference.covariance import Covariance
from separatrix.inference.hypotheses import TestedModel, WaldTest
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.logistic import LogisticModel, ProbabilityInterval, SampleRows
from separatrix.inference.profile import FirthFit, Interval, fit_firth
from separatrix.inference.table import InferenceTable, refused_table, require_level
from separatrix.model.decision_rule import log_probabilities, probabilities
from separatrix.numerics import softplus
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice
from separatrix.separability.existence import describe_divergence


class LogisticInference:
    """The inference of a fitted LogisticRegression; `_model` is None with a penalty, and absent where it was saved."""

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
    _rows_given: SampleRows
    result_: FitResult

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the rows."""
        state: Any = super().__getstate__()
        return {
            name: value
            for name, value in state.items()
            if name != "_rows_given" and not (name == "_model" and value is not None)
        }

    def summary(self, covariance: str = "classical", groups: Any = None, level: float = 0.95) -> InferenceTable:
        """Return every coefficient with its standard error, z, p-value, interval and ratio, and measures of the fit.

        Numbers that may not be given are absent, with the reason and what to do: where the classes are separated, of
        the coefficients that run to infinity. Of several classes the coefficients are against `reference` (None: the
        first class) or, each against the rest, those of all the fits. A bias-reduced fit has intervals and p-values of
        its profile likelihood. Prints as text, shows as a table in a notebook; `to_dict`, `to_json`.

        Parameters
        ----------
        covariance : "classical" (the inverse information); "HC0", "HC1" where the model may be wrong; "clustered" (or
            "clustered_HC0", without the correction for few groups) where rows are related within groups
        groups : (n,) a label for each row, for "clustered"
        level : of the intervals

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
            require_choice("covariance", covariance, get_args(Covariance))
            return self._refused_table(require_level(level))
        return self._fitted_model("the table").table(covariance, groups, level)

    def profile_intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Return for each coefficient of two classes the values that the data do not refuse, by the profile likelihood.

        Where a coefficient runs to infinity its interval is open on that side; where the data say nothing of it, it is
        the whole line. The p-values are of the likelihood ratio. A bias-reduced fit has those of its own likelihood.
        """
        return self._fitted_model("a profile of the likelihood").intervals(level)

    def wald_test(self, names: Sequence[str], covariance: str = "classical", groups: Any = None) -> WaldTest:
        """Test that the coefficients named, of every class, are all 0, as χ², by a covariance as in `summary`."""
        return self._fitted_model("a test").wald_test(names, covariance, groups)

    def outline(self) -> TestedModel:
        """Return what tests of nested models need of this one."""
        check_is_fitted(self)
        if getattr(self, "_model", "") is None:
            names, several = tuple(self.result_.provenance["names"]), len(self.classes_) > 2
            return TestedModel("softmax" if several else "logistic", names, 0, np.nan, None, self._penalty_reason())
        return self._fitted_model("a test of nested models").outline()

    def _keep_rows(self, tasks: Sequence[ClassTask]) -> None:
        """Keep what inference needs of a fit."""
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
        self._model = LogisticModel(fits, classes, self._rows_given, self.firth_)

    def _weighting(self) -> str:
        """Return what rows count by where that is not how often they were seen."""
        if self.class_weight is not None:
            return eligibility.CLASS_WEIGHTS
        return "" if self.weight_kind == "frequency" else 'precision weights (weight_kind="precision")'

    @staticmethod
    def _labels(task: ClassTask) -> tuple[Any, ...]:
        """Return a task's classes; of one against the rest, whose other label is not known, words for it."""
        return task.labels if task.labels[0] is not None else ("the rest", task.labels[1])

    def _flat_coefs(self, tasks: Sequence[ClassTask]) -> list[Floats]:
        """Return each task's coefficients, the intercept's first: (p,); of a softmax all less the first class's."""
        rows = np.column_stack([self.intercept_, self.coef_]) if self.fit_intercept else self.coef_
        return [(rows[1:] - rows[0]).ravel()] if len(tasks[0].labels) > 2 else list(rows)

    def _fitted_model(self, what: str) -> LogisticModel:
        """Return the model that something is asked of, or raise an error that says why there is none."""
        check_is_fitted(self)
        if not hasattr(self, "_model"):
            raise DataError(eligibility.no_rows_kept(what))
        if self._model is None:
            raise OptionError(f"{what} cannot be given: {self._penalty_reason()}")
        return self._model

    def _penalty_reason(self) -> str:
        if self.cv_ is not None:
            return eligibility.chosen_by_cross_validation(self.strength_)
        return eligibility.penalised(self.strength_)

    def _refused_table(self, level: float) -> InferenceTable:
        """Return the table of a penalised fit: its coefficients, and why nothing may be inferred from them."""
        rows = np.column_stack([self.intercept_, self.coef_]) if self.fit_intercept else self.coef_
        outputs = [None] if len(rows) == 1 else self.classes_.tolist()
        return refused_table(
            "logistic" if len(self.classes_) == 2 else "softmax",
            self.result_.provenance["names"],
            list(zip(outputs, rows, strict=True)),
            float(self.result_.facts["rows"]),
            self._penalty_reason(),
            level,
        )


class LogisticRegression(LogisticInference, Penalised, LinearClassifier):
    """Logistic regression: P(second class) = σ(w·x + b), or a softmax of one score a class.

    Minimises the mean loss plus ``strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is never
    penalised. At strength 0, the default, it is the maximum likelihood estimate, in any units of the columns. Whether
    that exists is proved from the data: the verdict of `existence_` is 'overlap' (it does), 'separable' or 'quasi' (it
    does not) or 'undecided', and a SeparationWarning is given unless it does. Then `summary()` has standard errors,
    tests and intervals, `profile_intervals()` those of the likelihood's profile, and `predict_proba` intervals.

    Parameters
    ----------
    strength : of the penalty; 0 for none; "cv" for one chosen by cross-validation. scikit-learn's C is
        1 / (n · strength)
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    multiclass : "softmax" or "one_vs_rest", for more than two classes
    reference : a class whose softmax scores are 0, so that the others' weights are log-odds against it; None for
        weights as the penalty has them, which without one sum to 0 over the classes
    solver : "auto", or the name of one, as "newton"
    on_separation : "warn", "raise" or "ignore" where strength is 0 and no maximum is shown to exist, or "firth" for
        bias-reduced estimates there, which always exist (two classes)
    class_weight : None, "balanced", or a weight for each class; multiplies the rows' weights
    weight_kind : what sample_weight means: "precision" (how much a row counts, relative to the others) or "frequency"
        (how often it was seen, a whole number); the coefficients are the same, but not what may be inferred from them
    threshold : of the probability at which the second of two classes is predicted
    fit_intercept : whether scores have a constant
    tol : the relative duality gap to reach; max_passes : over the rows, at most
    warm_start : start at the last fit's coefficients, if their shape is the same
    cv, cv_choice, strengths, random_state : for strength "cv": the folds; "one_standard_error" (the largest strength
        that is as good as the best, as far as the folds can tell) or "best"; how many strengths to try, or which; the
        draw of the folds, None for the same one each time

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    existence_ : at strength 0 the certificates of separability, one a fit, with a `verdict` and a
        `coefficient_status` by name; None with a penalty
    limits_ : at strength 0, by name, what each coefficient tends to: a number, ±inf, or nan where the data do not tell;
        one a fit, None of a softmax
    firth_ : the bias-reduced fit and its profile-likelihood intervals, where there was need for it, else None
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the way there

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
        """Fit from X (n, p) dense or sparse and y (n,) labels; rows of weight 0 do not count at all."""
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
        self._judge(self.existence_ or [])
        result = join_results([fit.result for fit in fits], self.classes_.tolist())
        result = result if self.firth_ is None else self.firth_.result
        self.n_iter_ = max(1, round(result.passes))
        result = replace(result, provenance={**result.provenance, **self._origin()})
        self._keep(self._refer(result))
        self._keep_rows(tasks)
        return self

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return what is to be minimised, without a penalty: one problem, or one a class against the rest."""
        return [task.problem for task in self._tasks(X, y, sample_weight)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each class's probability, (n, K), finite wherever the scores are."""
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
        """Return each class's probability, (n, K); each against the rest, they are made to sum to 1.

        With interval="confidence", of two classes: the second's probability, and the ends of an interval for it at a
        level, made on the scale of the score with the covariance named as in `summary`. Where the likelihood has no
        maximum, a SeparationError.
        """
        if interval is None:
            return probabilities(self._log_odds(X))
        require_choice("interval", interval, ("confidence",))
        model = self._fitted_model("an interval of a probability")
        return model.probabilities(self._design(X, reset=False), covariance, level)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: of two, the second if its probability reaches the threshold."""
        check_is_fitted(self)
        threshold = require_number("threshold", self.threshold, above=0.0, most=1.0)
        if threshold == 0.5 or len(self.classes_) > 2:
            return super().predict(X)
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] >= threshold).astype(np.intp)])

    def _log_odds(self, X: Any) -> Floats:
        """Return scores whose sigmoid or softmax is the probability: each against the rest, log-probabilities."""
        scores = self.decision_function(X)
        return scores if scores.ndim == 1 or self.multiclass == "softmax" else -np.asarray(softplus(-scores))

    def _tasks(self, X: Any, y: Any, sample_weight: Any) -> list[ClassTask]:
        """Return the softmax of several classes as one task, two classes as one, or each against the rest."""
        require_choice("multiclass", self.multiclass, ("softmax", "one_vs_rest"))
        design, labels = self._design_and_labels(X, y)
        given = len(labels)
        design, labels, weights, places = drop_weightless(design, labels, self._weights(sample_weight, X))
        weights, self._class_weights = apply_class_weight(self.class_weight, labels, weights)
        design, labels, weights, left = drop_weightless(design, labels, weights)
        self._rows_given = SampleRows(given, places if left is None else left if places is None else places[left])
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
        """Return the classes' weights in the order of some labels."""
        return None if self._class_weights is None else tuple(self._class_weights[label] for label in labels)

    def _starts(self, last: Floats | None, tasks: Sequence[ClassTask]) -> list[Floats | None]:
        """Return where each task starts: at the last fit's coefficients where their shape is the same."""
        shape = tasks[0].problem.design.shape[1], 1 if len(self.classes_) == 2 else len(self.classes_)
        if last is None or last.shape != shape:
            return [None] * len(tasks)
        return [last] if len(tasks[0].labels) > 2 else [last[:, k] for k in range(len(tasks))]

    def _start(self) -> Floats:
        """Return the last fit's coefficients as columns, one a score; a fit of another shape starts anew."""
        return np.vstack([self.intercept_, self.coef_.T]) if self.fit_intercept else self.coef_.T

    def _refer(self, result: FitResult) -> FitResult:
        """Return softmax coefficients with the reference's taken off, or centred over the classes."""
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
        """Return the bias-reduced fit where it was asked for and no maximum was shown to exist."""
        if self.on_separation != "firth" or not _doubts(self.existence_ or []):
            return None
        if len(self.classes_) > 2 or tasks[0].class_weights is not None:
            what = f"{len(self.classes_)} classes" if len(self.classes_) > 2 else "class_weight"
            raise OptionError(f'on_separation="firth" is for two classes of plain or weighted rows, not for {what}')
        return fit_firth(tasks[0].problem, (tasks[0].labels[0], tasks[0].labels[1]))

    def _judge(self, verdicts: list[SeparabilityCertificate]) -> None:
        doubts = _doubts(verdicts)
        if not doubts or self.on_separation == "ignore" or self.firth_ is not None:
            return
        unknown = doubts[0].verdict == "undecided"
        head = "it is not known whether the likelihood has a maximum" if unknown else "the likelihood has no maximum"
        message = (
            f"{head}: {doubts[0].claim.split(';')[0]}{describe_divergence(doubts[0])}; the coefficients say where the"
            ' fit stopped, not what they converge to. Use strength > 0, or on_separation="firth"'
        )
        if self.on_separation == "raise":
            raise SeparationError(message)
        warnings.warn(message, SeparationWarning, stacklevel=3)


def _doubts(verdicts: Sequence[SeparabilityCertificate]) -> list[SeparabilityCertificate]:
    """Return the verdicts that do not say that a maximum exists."""
    return [verdict for verdict in verdicts if verdict.verdict != "overlap"]
