"""The interface of a fitted model's inference, and inference that is refused with its reason.

A penalised fit has estimates but no standard errors; a model that was pickled no longer has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.errors import DataError, OptionError, SeparatrixError, require_choice
from separatrix.inference.covariance import CovarianceKind
from separatrix.inference.eligibility import Refusal
from separatrix.inference.hypotheses import TestedModel, WaldTest
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import InferenceTable, estimates_only_table, require_level


class Inference(Protocol):
    """Inference for a fitted model: tables, tests, intervals, and the covariance that a saved model keeps."""

    def table(
        self, covariance: str = "classical", groups: Any = None, level: float = 0.95, lag: int | None = None
    ) -> InferenceTable:
        """Return the table of coefficients."""

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients are all 0."""

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models need."""

    def intervals(self, level: float) -> Any:
        """Return the profile-likelihood interval of each coefficient."""

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> Any:
        """Return the predictions of a design's rows with their intervals; `weights` are those of new observations."""

    def score_covariance(self) -> tuple[Covariance | None, str]:
        """Return the covariance of intercept and coefficients, or None and the reason."""

    def without_rows(self) -> Inference:
        """Return what remains if the rows are dropped."""


class NoInference:
    """Inference of a model whose rows were dropped: every question raises an error with the reason."""

    def table(self, *_: Any, **__: Any) -> InferenceTable:
        raise self._error("the table")

    def wald_test(self, *_: Any, **__: Any) -> WaldTest:
        raise self._error("a test")

    def tested_model(self) -> TestedModel:
        raise self._error("a test of nested models")

    def intervals(self, level: float) -> Any:  # noqa: ARG002
        raise self._error("a profile of the likelihood")

    def predictions(self, *_: Any, **__: Any) -> Any:
        raise self._error("an interval of a prediction")

    def score_covariance(self) -> tuple[Covariance | None, str]:
        return None, Refusal.ROWS_NOT_SAVED(task="an interval")

    def without_rows(self) -> Self:
        return self

    def _error(self, task: str) -> SeparatrixError:
        return DataError(Refusal.ROWS_NOT_SAVED(task=task))


@dataclass(frozen=True, eq=False)
class RefusedInference(NoInference):
    """Estimates without inference; `coefs` are (output, coefficients with the intercept first) for the table."""

    reason: str
    model: Literal["linear", "logistic", "softmax"]
    names: tuple[str, ...]
    coefs: Sequence[tuple[Any, Floats]]
    rows: float

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,  # noqa: ARG002  # there are no errors to cluster
        level: float = 0.95,
        lag: int | None = None,  # noqa: ARG002
    ) -> InferenceTable:
        require_choice("covariance", covariance, get_args(CovarianceKind))
        return estimates_only_table(self.model, self.names, self.coefs, self.rows, self.reason, require_level(level))

    def tested_model(self) -> TestedModel:
        return TestedModel(self.model, self.names, 0, np.nan, objection=self.reason)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        return None, self.reason

    def _error(self, task: str) -> SeparatrixError:
        return OptionError(f"{task} cannot be given: {self.reason}")
