"""Models by formula, as "y ~ x1 + C(x2)": columns of a table become a design, the same one for new rows.

The right side is parsed by formulaic: numeric columns as they are, text and C(…) as dummies, interactions, splines and
so on; the state learned from the rows (levels, means) is stored and reused for predictions. The constant is the model's
intercept, and "0 +" omits it; "y ~ 1" has nothing else, and "y ~ ." has all other columns. A name that is no Python
name is written in backticks, as `my column`; dates are days since 1970. A bare name on the left is used as it is, so
that it may hold labels. A missing column, a missing value and an unseen level are refused. Cost: the design as a dense
table of floats.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from separatrix.errors import DataError, NeedsError, OptionError, counted, did_you_mean
from separatrix.estimators.linear import LinearRegression
from separatrix.inference.hypotheses import WaldTest
from separatrix.inference.table import InferenceTable

LEVELS_SHOWN = 8
FOR_A_DOT = "__formulaic_variables_available__"  # formulaic's name of the columns that a dot stands for
QUOTED = re.compile(r"`([^`]+)`")


class FormulaModel:
    """A fitted model and the formula that builds its columns.

    Attributes
    ----------
    formula, model : the formula as given, and the fitted estimator
    target_, feature_names_ : the left side, and the names of the columns, as "C(x2)[T.b]"
    terms_ : the columns of each term, by which `sx.diagnose` and `sx.anova` group dummies
    certificate_ : the certificate of the model, about the columns that `matrix` returns
    """

    def __init__(self, formula: str, model: Any, spec: Any, target: str) -> None:
        self.formula, self.model, self._spec, self.target_ = formula, model, spec, target
        self.terms_ = {
            str(term): tuple(spec.column_names[place] for place in places)
            for term, places in spec.term_indices.items()
            if str(term) != "1"
        }
        self.feature_names_ = tuple(name for names in self.terms_.values() for name in names)

    def matrix(self, data: Any) -> Any:
        """Return the columns of new rows as a frame, for use with any method of `model`."""
        frame = _frame(data)
        _require_columns(frame, _variables(self._spec.formula, frame))
        _refuse_unseen(frame, self._spec)
        return _without_constant(_materialise(self._spec, frame), self._spec)

    def target_values(self, data: Any) -> NDArray[Any]:
        """Return the left side of the formula for some rows, (n,)."""
        frame = _frame(data)
        left = _sides(self.formula, frame)[0]
        _require_columns(frame, _variables(left, frame))
        return _target(left, frame)

    def predict(self, data: Any, **options: Any) -> Any:
        """Return the model's predictions for new rows; `options` are passed to its `predict`."""
        return self.model.predict(self.matrix(data), **options)

    def summary(self, *options: Any, **named: Any) -> Any:
        """Return the model's inference table; `options` are passed to its `summary`."""
        table = self._inference("summary")(*options, **named)
        return replace(table, target=self.target_) if isinstance(table, InferenceTable) else table

    def wald_test(self, names: str | Sequence[str], *options: Any, **named: Any) -> WaldTest:
        """Test that all coefficients of the named terms or columns are 0; `options` are passed to the model's test."""
        terms = [names] if isinstance(names, str) else names
        columns = [column for name in terms for column in self.terms_.get(name, (name,))]
        return cast(WaldTest, self._inference("wald_test")(columns, *options, **named))

    @property
    def certificate_(self) -> Any:
        """The evidence for the fit, which `verify(self.matrix(data), y)` re-checks."""
        return self.model.certificate_

    def _inference(self, what: str) -> Any:
        if not hasattr(self.model, what):
            raise NeedsError(f"{self.model!r} has no {what}; fit LinearRegression or LogisticRegression")
        return getattr(self.model, what)

    def __repr__(self) -> str:
        return f"FormulaModel({self.formula!r}, {self.model!r})"


def from_formula(formula: str, data: Any, model: Any = None, *, sample_weight: Any = None) -> FormulaModel:
    """Fit a model to a table by a formula.

    Parameters
    ----------
    formula : "target ~ columns", such as "y ~ x1 + C(x2)", "y ~ x1 * x2", "np.log(y) ~ x1 + {x1**2}", "y ~ 0 + x1",
        "y ~ . - x1", "y ~ `body mass` + np.log(`a.b`)", "y ~ 1"
    data : a pandas or polars frame, or a mapping of names to columns
    model : an estimator, which is cloned; LinearRegression() if None
    sample_weight : (n,) weights of the rows

    Examples
    --------
    >>> import separatrix as sx
    >>> rows = {"y": [1.0, 2.0, 4.0, 3.0, 5.0, 8.0], "x": [0, 1, 2, 0, 1, 2], "kind": list("aaabbb")}
    >>> line = sx.from_formula("y ~ x + C(kind)", rows)
    >>> line.feature_names_, line.model.coef_.round(3).tolist()
    (('x', 'C(kind)[T.b]'), [2.0, 3.0])
    >>> line.predict({"x": [3], "kind": ["b"]}).round(3).tolist()
    [9.333]

    Reference: Wilkinson and Rogers, Symbolic description of factorial models for analysis of variance (1973).
    """
    frame = _frame(data)
    left, right = _sides(formula, frame)
    _require_columns(frame, {*_variables(left, frame), *_variables(right, frame)})
    matrix = _materialise(right, frame)
    spec = matrix.model_spec
    target = _target(left, frame)
    names = {str(term) for term in spec.term_indices}
    fitted = clone(LinearRegression() if model is None else model)
    if "fit_intercept" in fitted.get_params():
        fitted.set_params(fit_intercept="1" in names)
    elif "1" not in names:
        raise OptionError(f"{fitted!r} always has a constant; leave '0 +' out of the formula")
    if is_regressor(fitted) and target.dtype.kind not in "biuf":
        raise DataError(f"the target {left} has {target[0]!r} in row 0, no number; give numbers or a classifier")
    if not names - {"1"}:
        if not names or not getattr(fitted, "fits_intercept_alone", False):
            remedy = "name at least one after the ~, or fit LinearRegression or LogisticRegression to 'y ~ 1'"
            raise OptionError(f"formula={formula!r} has no column for {type(fitted).__name__}; {remedy}")
        fitted.least_columns = 0
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return FormulaModel(formula, fitted.fit(_without_constant(matrix, spec), target, **weights), spec, str(left))


def _formulaic() -> Any:
    try:
        import formulaic  # noqa: PLC0415  # an extra, and half a second
    except ModuleNotFoundError:
        raise NeedsError("formulas need formulaic; install it with: pip install 'separatrix[formula]'") from None
    return formulaic


def _sides(formula: str, frame: Any) -> tuple[Any, Any]:
    """Return the left and the right side of a formula; a dot stands for the columns of a frame not on the left."""
    formulaic = _formulaic()
    try:
        parsed = formulaic.Formula(formula, _context={FOR_A_DOT: list(map(str, frame.columns))})
    except (formulaic.errors.FormulaicError, SyntaxError) as refusal:
        raise OptionError(f"formula={formula!r} cannot be read: {_plain(refusal)}; write it as 'y ~ x1 + x2'") from None
    left = getattr(parsed, "lhs", None)
    if left is None or len(left) != 1:
        targets = "no target" if not left else f"{len(left)} targets"
        raise OptionError(f"formula={formula!r} has {targets}; write it as 'y ~ x1 + x2', with one name before the ~")
    return left, parsed.rhs


def _frame(data: Any) -> Any:
    """Return a table as a pandas frame, its rows numbered from 0."""
    _formulaic()
    import pandas as pd  # noqa: PLC0415  # formulaic brings it

    if isinstance(data, pd.DataFrame):
        return _with_days(data.reset_index(drop=True))
    if hasattr(data, "get_columns"):
        return _with_days(pd.DataFrame({column.name: column.to_numpy() for column in data.get_columns()}))
    if not isinstance(data, Mapping):
        raise DataError(f"data is a {type(data).__name__}; give a pandas or polars frame, or a mapping of columns")
    lengths = {name: len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the columns of data differ in length: {lengths}; give as many values in each")
    return _with_days(pd.DataFrame(dict(data)))


def _with_days(frame: Any) -> Any:
    """Return a frame with dates as days since 1970, as the dates of tables."""
    import pandas as pd  # noqa: PLC0415  # formulaic brings it

    for name in frame.columns:
        column = frame[name]
        if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in {"date", "datetime"}:
            column = pd.to_datetime(column)
        if pd.api.types.is_datetime64_any_dtype(column):
            since = column - pd.Timestamp(0, tz=column.dt.tz)
            frame = frame.assign(**{str(name): since / pd.Timedelta(days=1)})
    return frame


def _variables(side: Any, frame: Any) -> set[str]:
    """Return the columns that a side of a formula needs; a name with a dot is one name if a column has it."""
    factors = [factor.expr for term in side for factor in term.factors]
    quoted = {name for expression in factors for name in QUOTED.findall(expression)}
    dotted = {name for name in (*factors, *quoted) if "." in name and name in frame.columns}
    roots = {name.partition(".")[0] for name in dotted} - set(frame.columns)
    return {*map(str, side.required_variables)} - roots | dotted


def _require_columns(frame: Any, names: Any) -> None:
    """Raise a DataError for a missing column or a missing value."""
    for name in sorted(map(str, names)):
        if name not in frame.columns:
            raise DataError(f"data has no column {name!r}{did_you_mean(name, map(str, frame.columns))}")
        missing = np.flatnonzero(frame[name].isna().to_numpy())
        if missing.size:
            what = f"column {name!r} has {counted(missing.size, 'missing value')}"
            raise DataError(f"{what}, first in row {missing[0]}; drop such rows, or fill in a value")


def _refuse_unseen(frame: Any, spec: Any) -> None:
    """Raise a DataError for a level of a categorical column that the fit did not see."""
    for expression, (_, state) in spec.encoder_state.items():
        known = state.get("categories")
        name = re.fullmatch(r"(?:C\()?`?([^`,()]+?)`?(?:,.*)?\)?", str(expression))
        if known is None or name is None or name[1] not in frame.columns:
            continue
        column = frame[name[1]]
        unseen = np.flatnonzero(~column.isin(list(known)).to_numpy())
        if unseen.size:
            (value,) = column.iloc[unseen[:1]].tolist()
            levels = ", ".join(map(repr, list(known)[:LEVELS_SHOWN])) + (", …" if len(known) > LEVELS_SHOWN else "")
            raise DataError(
                f"column {name[1]!r} has {value!r} in row {unseen[0]}, which was not there at the fit;"
                f" known are {levels}: fit again with such rows, or leave them out"
            )


def _materialise(source: Any, frame: Any) -> Any:
    """Return the columns that a formula, or the spec of a fitted one, makes of a table; all finite numbers."""
    errors = _formulaic().errors
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", errors.DataMismatchWarning)
            warnings.filterwarnings("ignore", category=RuntimeWarning)  # the logarithm of 0 is refused below
            matrix = source.get_model_matrix(frame, na_action="ignore", output="pandas")
    except (errors.FormulaicError, errors.FormulaicWarning, ValueError, TypeError) as refusal:
        raise DataError(f"the formula cannot be applied to these rows: {_plain(refusal)}") from None
    bad = np.argwhere(~np.isfinite(matrix.to_numpy(dtype=np.float64)))
    if len(bad):
        row, column = bad[0].tolist()
        value = f"{matrix.columns[column]!r} is {matrix.iloc[row, column]} in row {row}"
        raise DataError(f"{value}; drop such rows, or change the formula so that it is a finite number there")
    return matrix


def _target(left: Any, frame: Any) -> NDArray[Any]:
    """Return the target: a column as it is, or the value of an expression."""
    (factor,) = left[0].factors
    if factor.expr in frame.columns:
        return np.asarray(frame[factor.expr])
    columns = _materialise(left, frame)
    if columns.shape[1] != 1:
        raise OptionError(f"the target {factor.expr} makes {columns.shape[1]} columns; give one that makes 1")
    return np.asarray(columns.iloc[:, 0], dtype=np.float64)


def _without_constant(matrix: Any, spec: Any) -> Any:
    """Return a frame of floats without the constant column."""
    columns = [place for term, places in spec.term_indices.items() if str(term) != "1" for place in places]
    return matrix.iloc[:, sorted(columns)].astype(np.float64) if columns else np.zeros((len(matrix), 0))


def _plain(refusal: BaseException) -> str:
    """Return the first line of a message without terminal colours."""
    return re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(refusal)).strip().splitlines()[0].rstrip(".")
