"""What LogisticRegression says of a population: a table, profile intervals, and intervals of its probabilities.

A fitted model keeps the rows of its fit by reference; they do not go along when it is pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import DataError, OptionError, require_choice
from separatrix.estimators.strength import ClassTask
from separatrix.fit.result import FitResult
from separatrix.inference import eligibility
from separatrix.inference.covariance import Covariance
from separatrix.inference.hypotheses import ModelOutline, WaldTest
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.logistic import LogisticModel, RowsGiven
from separatrix.inference.profile import FirthFit, Interval
from separatrix.inference.table import InferenceTable, refused_table, require_level
from separatrix.selection.cross_validation import CrossValidation


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
    _rows_given: RowsGiven
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

    def outline(self) -> ModelOutline:
        """Return what tests of nested models need of this one."""
        check_is_fitted(self)
        if getattr(self, "_model", "") is None:
            names, several = tuple(self.result_.provenance["names"]), len(self.classes_) > 2
            return ModelOutline("softmax" if several else "logistic", names, 0, np.nan, None, self._penalty_reason())
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
