"""What tests of several models need of each: the protocol by which estimators tell it.

An estimator has a method `outline()`; a test that needs the rows asks for them by `rows_for`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from separatrix.errors import DataError, OptionError
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.linear.facts import LinearFacts
from separatrix.problem import Problem


@dataclass(frozen=True)
class ModelOutline:
    """A fitted model: its family, free coefficients and likelihood; `objection` says why it may not be tested."""

    family: Literal["linear", "logistic", "softmax"]
    names: tuple[str, ...]  # of the columns, the intercept's first if there is one
    rank: int  # free coefficients, of all classes together
    log_likelihood: float
    problem: Problem | None = None
    objection: str = ""
    least_squares: LeastSquaresFit | None = None
    facts: LinearFacts | None = None

    def rows_for(self, what: str) -> Problem:
        """Return the rows of the fit, or raise a DataError that says what needs them."""
        if self.problem is None:
            raise DataError(eligibility.no_rows_kept(what))
        return self.problem

    def require_eligible(self) -> None:
        """Raise a DataError if the model may not be tested."""
        if self.objection:
            raise DataError(self.objection)


class Outlined(Protocol):
    """A fitted estimator that tells what tests need."""

    def outline(self) -> ModelOutline:
        """Return the model's outline."""
        ...


def outline_of(model: Any) -> ModelOutline:
    """Return the outline of a fitted estimator, or of a formula's model that is one."""
    inner = getattr(model, "model", model)
    if not hasattr(inner, "outline"):
        raise OptionError(f"{model!r} has no tests; give a fitted LinearRegression or LogisticRegression of separatrix")
    outline: ModelOutline = inner.outline()
    return outline
