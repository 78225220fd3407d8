"""The inference of a fitted model, refused with its reason unless a subclass answers.

A penalised fit has estimates but no standard errors; a model that was pickled no longer has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.errors import DataError, OptionError, SeparatrixError, require_choice
from separatrix.inference.covariance import CovarianceKind
from separatrix.inference.eligibility import Refusal
from separatrix.inference.hypotheses import TestedModel, WaldTest
from separatrix.inference.table import InferenceTable, estimates_only_table, require_level

if TYPE_CHECKING:
    from separatrix.inference.prediction import Covariance


class Inference:
    """Tables, tests and intervals of a fitted model; this base class is that of a model without its rows."""

    def table(
        self, covariance: str = "classical", groups: Any = None, level: float = 0.95, lag: int | None = None
    ) -> InferenceTable:
        """Return the table of coefficients."""
        raise self._error("the table", covariance, groups, level, lag)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients, of all classes, are 0."""
        raise self._error("a test", names, covariance, groups, lag)

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

    def without_rows(self) -> Inference:
        """Return what remains if the rows are dropped."""
        return self

    def _error(self, task: str, *_: Any) -> SeparatrixError:
        return DataError(Refusal.ROWS_NOT_SAVED(task=task))


@dataclass(frozen=True, eq=False)
class RefusedInference(Inference):
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

    def _error(self, task: str, *_: Any) -> SeparatrixError:
        return OptionError(f"{task} cannot be given: {self.reason}")
