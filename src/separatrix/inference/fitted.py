"""The inference of a fitted model: least squares, likelihoods of two or more classes, or refused with its reason.

A penalised fit has estimates but no standard errors; a model that was pickled no longer has its rows. The rows of a fit
are referenced, not copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Design
from separatrix.errors import DataError, OptionError, SeparationError, SeparatrixError, require_choice
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import linear, prediction
from separatrix.inference.basis import OrthonormalBasis, make_basis
from separatrix.inference.covariance import CovarianceChoice, CovarianceKind, WeightKind, choose_covariance
from separatrix.inference.eligibility import Refusal, no_maximum, not_frequencies
from separatrix.inference.firth import FirthFit, firth_lr_test, firth_table
from separatrix.inference.hypotheses import LikelihoodRatioTest, TestedModel, WaldTest, linear_wald_test
from separatrix.inference.likelihood import LikelihoodFit, each_class_table, likelihood_table, likelihood_wald_test
from separatrix.inference.likelihood_ratio import likelihood_ratio_table, likelihood_ratio_test
from separatrix.inference.prediction import Covariance, PredictionInterval, ProbabilityInterval
from separatrix.inference.profile import Interval, likelihood_intervals
from separatrix.inference.table import InferenceTable, estimates_only_table, require_level
from separatrix.problem import Problem

TestKind = Literal["wald", "lr"]


class Inference:
    """Tables, tests and intervals of a fitted model; this base class is that of a model without its rows."""

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,
        level: float = 0.95,
        lag: int | None = None,
        test: str | None = None,
    ) -> InferenceTable:
        """Return the table of coefficients; `test` is for a likelihood, None for that of the model."""
        raise self._error("the table", covariance, groups, level, lag, test)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients, of all classes, are 0."""
        raise self._error("a test", names, covariance, groups, lag)

    def lr_test(self, names: Sequence[str]) -> LikelihoodRatioTest:
        """Test by the likelihood ratio that the named coefficients, of all classes, are 0."""
        raise self._error("a test", names)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models and the analysis of variance need."""
        raise self._error("a test of nested models")

    def intervals(self, level: float) -> Any:
        """Return the profile-likelihood interval of each coefficient."""
        raise self._error("a profile of the likelihood", level)

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> Any:
        """Return the predictions of a design's rows with their intervals; `weights` are those of new observations."""
        raise self._error("an interval of a prediction", design, kind, level, covariance, weights)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        """Return the covariance of intercept and coefficients, which a saved model keeps, or None and the reason."""
        return None, Refusal.ROWS_NOT_SAVED(task="an interval")

    def limits(self) -> list[dict[str, float]] | None:
        """Return the limit of each coefficient of a likelihood by name, one record per fit; None for other fits."""
        return None

    def without_rows(self) -> Inference:
        """Return the inference without the training rows."""
        return self

    def _error(self, task: str, *_: Any) -> SeparatrixError:
        return DataError(Refusal.ROWS_NOT_SAVED(task=task))


@dataclass(frozen=True, eq=False)
class RefusedInference(Inference):
    """Estimates without inference; `coefs` are (output, coefficients with the intercept first) for the table.

    `notes` are those of the table.
    """

    reason: str
    model: Literal["linear", "logistic", "softmax"]
    names: tuple[str, ...]
    coefs: Sequence[tuple[Any, Floats]]
    rows: float
    notes: tuple[str, ...] = ()

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,  # noqa: ARG002  # there are no errors to cluster
        level: float = 0.95,
        lag: int | None = None,  # noqa: ARG002
        test: str | None = None,  # noqa: ARG002
    ) -> InferenceTable:
        require_choice("covariance", covariance, get_args(CovarianceKind))
        level = require_level(level)
        table = estimates_only_table(self.model, self.names, self.coefs, self.rows, self.reason, level)
        return replace(table, notes=self.notes)

    def tested_model(self) -> TestedModel:
        return TestedModel(self.model, 0, np.nan, objection=self.reason)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        return None, self.reason

    def _error(self, task: str, *_: Any) -> SeparatrixError:
        return OptionError(f"{task} cannot be given: {self.reason}")


@dataclass(eq=False)
class LinearInference(Inference):
    """Inference for least squares: table, tests, and intervals of predictions.

    It refers to the rows of the fit, without a copy, so that robust covariances can read them again. Without its rows
    it keeps the facts that classical inference needs.
    """

    problem: Problem | None
    fit: LeastSquaresFit
    weight_kind: WeightKind

    @cached_property
    def facts(self) -> linear.LinearFacts:
        """The facts about the targets that the table needs."""
        assert self.problem is not None  # `without_rows` keeps them
        return linear.linear_facts(self.problem, self.fit, self.weight_kind)

    @cached_property
    def basis(self) -> OrthonormalBasis:
        """The coordinates in which variances of predictions are computed."""
        assert self.problem is not None  # `without_rows` keeps them
        return make_basis(self.problem, self.fit)

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,
        level: float = 0.95,
        lag: int | None = None,
        test: str | None = None,
    ) -> InferenceTable:
        if test is not None:
            raise OptionError(f"test={test!r} is for a likelihood; t tests of least squares are exact, leave it out")
        return linear.table_of(self.facts, self._covariance(covariance, groups, lag), level)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        return linear_wald_test(self.facts, self._covariance(covariance, groups, lag), names)

    def tested_model(self) -> TestedModel:
        facts = self.facts
        loglik = math.nan if facts.objection else facts.log_likelihood
        return TestedModel("linear", self.fit.rank, loglik, self.problem, facts.objection, facts)

    def intervals(self, level: float) -> Any:
        raise OptionError(f"a least squares fit has no profile intervals; see summary(level={level:g})")

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> PredictionInterval:
        require_choice("covariance", covariance, ("classical",))
        if self.facts.objection:
            raise DataError(self.facts.objection)
        return prediction.prediction_interval(self.facts, self.basis, design, kind, level, weights)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        covariance = linear.classical_covariance(self.facts)
        df = covariance.degrees_of_freedom
        if covariance.objection or not self.fit.estimable.all():
            return None, covariance.objection or Refusal.NOT_IDENTIFIED()
        matrix = covariance.matrix if self.facts.virtual else np.pad(covariance.matrix, ((1, 0), (1, 0)))
        return Covariance(matrix, df, self.fit.rss / df), ""

    def without_rows(self) -> Inference:
        classical = LinearInference(None, self.fit, self.weight_kind)
        classical.facts, classical.basis = self.facts, self.basis
        return classical

    def _covariance(self, covariance: str, groups: Any, lag: int | None) -> linear.CoefficientCovariance:
        if self.problem is not None:
            choice = choose_covariance(covariance, self.problem, groups, lag)
            return linear.find_covariance(self.problem, self.facts, choice)
        if covariance == "classical" and groups is None and lag is None:
            return linear.classical_covariance(self.facts)
        reason = Refusal.ROWS_NOT_SAVED(task=f"covariance={covariance!r}")
        raise DataError(f'{reason}, or use covariance="classical"')


@dataclass(frozen=True)
class SampleRows:
    """The number of rows passed to a fit, and the indices of those with a weight above 0 (None: all)."""

    count: int
    indices: Indices | None = None

    def select(self, labels: Any) -> NDArray[Any]:
        """Return the labels of the rows with a weight above 0."""
        values = np.asarray(labels)
        if values.shape != (self.count,):
            raise DataError(f"groups have shape {values.shape}; give one label for each of the {self.count} rows")
        return values if self.indices is None else values[self.indices]


@dataclass(frozen=True)
class LogisticModel(Inference):
    """Unpenalised fits, one or one per class (one-vs-rest), and the bias-reduced fit if there is one.

    `notes` are added to those of the table.
    """

    fits: tuple[LikelihoodFit, ...]
    classes: tuple[Any, ...]
    rows: SampleRows
    firth: FirthFit | None = None
    notes: tuple[str, ...] = ()
    test: TestKind = "wald"

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,
        level: float = 0.95,
        lag: int | None = None,
        test: str | None = None,
    ) -> InferenceTable:
        _refuse_lag(lag)
        choice, level = self._choice(covariance, groups), require_level(level)
        test = self.test if test is None else require_choice("test", test, get_args(TestKind))
        if self.firth is not None:
            if choice.kind != "classical":
                raise OptionError(
                    f'covariance={choice.kind!r} is not for bias-reduced fits; use covariance="classical"'
                )
            return firth_table(self.firth.at(level), self.fits[0].problem, self._labels, self.fits[0].weighting)
        if test == "lr" and choice.kind != "classical":
            raise OptionError(f'covariance={choice.kind!r} is for Wald tests; use test="wald", or no covariance')
        tables = [
            likelihood_ratio_table(fit, level) if test == "lr" else likelihood_table(fit, choice, level)
            for fit in self.fits
        ]
        table = tables[0] if len(tables) == 1 else each_class_table(tables, self.classes)
        return replace(table, notes=(*table.notes, *self.notes))

    def intervals(self, level: float) -> tuple[Interval, ...]:
        level = require_level(level)
        if len(self.fits) > 1:
            raise OptionError(Refusal.NO_JOINT_LIKELIHOOD(fits=len(self.fits)))
        return likelihood_intervals(self.fits[0], level) if self.firth is None else self.firth.at(level).intervals

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> ProbabilityInterval:
        if weights is not None:
            raise OptionError("weights of new observations are for least squares; leave them out")
        require_choice("interval", kind, ("confidence",))
        self._refuse_more_classes("intervals of a probability are")
        fit, level = self.fits[0], require_level(level)
        if self.firth is not None:
            require_choice("covariance", covariance, ("classical",))
            if fit.weighting:
                raise OptionError(f"a probability has no interval here: {not_frequencies(fit.weighting, robust=False)}")
            return self.firth.known_maximum.probabilities(design, level)
        if not fit.has_maximum:
            claim = fit.existence.claim.split(";")[0]
            raise SeparationError(f"a probability has no interval here, as {claim}; see profile_intervals()")
        matrix, absent = fit.covariance(self._choice(covariance, None))
        if matrix is None:
            raise OptionError(f"a probability has no interval here: {absent}")
        return prediction.probability_interval(fit, matrix, design, level)

    @cached_property
    def _labels(self) -> tuple[Any, Any]:
        return self.classes[0], self.classes[1]

    def score_covariance(self) -> tuple[Covariance | None, str]:
        if len(self.classes) > 2:
            return None, Refusal.TWO_CLASSES()
        (fit,) = self.fits
        if self.firth is not None:
            if fit.weighting:
                return None, not_frequencies(fit.weighting, robust=False)
            return _padded(self.firth.known_maximum.covariance(), fit.problem), ""
        (covariance, absent), mle = fit.covariance(CovarianceChoice("classical")), fit.mle
        if not fit.has_maximum or covariance is None or mle is None:
            return None, absent or no_maximum(2)
        if not mle.all_estimable or len(mle.independent) < len(fit.coef):
            return None, Refusal.NOT_IDENTIFIED()
        transform = np.vstack([mle.row({place: 1}) for place in range(len(fit.coef))])
        matrix = transform @ covariance @ transform.T
        return _padded(matrix, fit.problem), ""

    def limits(self) -> list[dict[str, float]]:
        return [fit.limits() for fit in self.fits]

    def without_rows(self) -> Inference:
        return Inference()

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        _refuse_lag(lag)
        if self.objection:
            raise DataError(self.objection)
        return likelihood_wald_test(self.fits[0], self._choice(covariance, groups), names)

    def lr_test(self, names: Sequence[str]) -> LikelihoodRatioTest:
        if self.firth is None:
            if self.objection:
                raise DataError(self.objection)
            return likelihood_ratio_test(self.fits[0], names)
        if self.fits[0].weighting:
            raise DataError(not_frequencies(self.fits[0].weighting, robust=False))
        return firth_lr_test(self.firth, names)

    def tested_model(self) -> TestedModel:
        fit, objection = self.fits[0], self.objection
        if not objection and fit.mle is None:
            objection = no_maximum(len(self.classes)) if fit.loglik is not None else Refusal.MAXIMUM_NOT_SHOWN()
        if not objection and fit.weighting:
            objection = not_frequencies(fit.weighting)
        loglik = math.nan if objection or fit.loglik is None else fit.loglik
        family: Literal["softmax", "logistic"] = "softmax" if len(fit.classes) > 2 else "logistic"
        return TestedModel(family, fit.free, loglik, fit.problem, objection, likelihood=fit)

    @property
    def objection(self) -> str:
        """Why there is no likelihood to test coefficients by; empty if there is one."""
        if len(self.fits) > 1:
            return Refusal.NO_JOINT_LIKELIHOOD(fits=len(self.fits))
        return "" if self.firth is None else Refusal.BIAS_REDUCED()

    def _choice(self, covariance: object, groups: Any) -> CovarianceChoice:
        groups = None if groups is None else self.rows.select(groups)
        return choose_covariance(covariance, self.fits[0].problem, groups)

    def _refuse_more_classes(self, what: str) -> None:
        if len(self.classes) > 2:
            raise OptionError(f"{what} of two classes, and here are {len(self.classes)}; see summary(), or fit two")


def _padded(matrix: Floats, problem: Problem) -> Covariance:
    """Return the covariance of coefficients as that of intercept and coefficients; without an intercept, it is 0."""
    return Covariance(matrix if problem.design.virtual else np.pad(matrix, ((1, 0), (1, 0))))


def _refuse_lag(lag: int | None) -> None:
    if lag is not None:
        raise OptionError(f"lag={lag!r} is for covariance='newey_west' of a linear regression; leave it out")
