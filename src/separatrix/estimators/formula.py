"""Models by formula, as "y ~ x1 + C(x2)": columns of a table become a design, the same one for new rows.

The right side is parsed by formulaic: numeric columns as they are, text and C(…) as dummies, interactions, splines and
so on; the state learned from the rows (levels, means) is stored and reused for predictions. The constant is the model's
intercept, and "0 +" omits it; "y ~ 1" has nothing else, and "y ~ ." has all other columns. A name that is no Python
name is written in backticks, as `my column`; dates are days since 1970. A bare name on the left is used as it is, so
that it may hold labels. A missing column, a missing target and an unseen level are refused. Rows with a missing cell
are left out of the fit where coefficients may be tested. In rows to be predicted missing cells are filled, with the
mean of a number and the most frequent value of any other column. Cost: the design as a dense table of floats.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from separatrix.design.encode.plan import LEAST_COMPLETE, Policy
from separatrix.errors import (
    DataError,
    MissingValueWarning,
    NeedsError,
    OptionError,
    counted,
    did_you_mean,
    require_choice,
)
from separatrix.estimators.linear import LinearRegression
from separatrix.families.base import refuse_imputed
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
    missing_, left_out_ : whether rows with a missing cell were left out ("drop") or their cells filled ("impute"), and
        how many rows were left out
    fills_ : the value of a missing cell in rows to be predicted, by column
    certificate_ : the certificate of the model, about the columns that `matrix` returns
    """

    def __init__(self, formula: str, model: Any, spec: Any, target: str, rows: _Rows) -> None:
        self.formula, self.model, self._spec, self.target_ = formula, model, spec, target
        self.missing_, self.left_out_, self.fills_ = rows.missing, int(np.count_nonzero(~rows.used)), rows.fills
        self.terms_ = {
            str(term): tuple(spec.column_names[place] for place in places)
            for term, places in spec.term_indices.items()
            if str(term) != "1"
        }
        self.feature_names_ = tuple(name for names in self.terms_.values() for name in names)

    def matrix(self, data: Any) -> Any:
        """Return the columns of new rows as a frame, for use with any method of `model`."""
        frame = self._checked(data)
        _refuse_unseen(frame, self._spec)
        return _without_constant(_materialise(self._spec, _filled(frame, self.fills_)), self._spec)

    def notes(self, data: Any) -> NDArray[np.object_]:
        """Return a note on the missing cells of each row and their fill values, (n,); None where there are none."""
        frame = self._checked(data)
        gaps = {name: frame[name].isna().to_numpy() for name in self.fills_}
        shown = {
            name: f"{value:.6g}" if isinstance(value, float) else repr(value) for name, value in self.fills_.items()
        }
        texts = {name: f"{name} was missing and filled with {value}" for name, value in shown.items()}
        rows = ("; ".join(texts[name] for name, gap in gaps.items() if gap[row]) for row in range(len(frame)))
        return np.asarray([text or None for text in rows], dtype=object)

    def used_rows(self, data: Any) -> NDArray[np.bool_]:
        """Return the mask of the rows that the fit uses, (n,): all, or those without a missing cell."""
        frame = self._checked(data)
        gaps = frame[list(self.fills_)].isna().any(axis=1).to_numpy()
        return np.asarray(~gaps) if self.missing_ == "drop" else np.ones(len(frame), dtype=np.bool_)

    def _checked(self, data: Any) -> Any:
        frame = _frame(data)
        _require_columns(frame, _variables(self._spec.formula, frame), complete=self.missing_ == "error")
        return frame

    def target_values(self, data: Any) -> NDArray[Any]:
        """Return the left side of the formula for some rows, (n,)."""
        frame = _frame(data)
        left = _sides(self.formula, frame)[0]
        _require_columns(frame, _variables(left, frame))
        return _target(left, frame)

    def predict(self, data: Any, **options: Any) -> Any:
        """Return the model's predictions for new rows; `options` are passed to its `predict`.

        Missing cells are filled, with a warning; `notes` says which.
        """
        notes = self.notes(data)
        filled = np.flatnonzero(notes != np.asarray(None))
        if len(filled):
            first = f"{notes[filled[0]]} in row {filled[0]}"
            message = f"missing cells were filled in {counted(len(filled), 'row')}: {first}; notes(data) has all"
            warnings.warn(message, MissingValueWarning, stacklevel=2)
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


def from_formula(
    formula: str, data: Any, model: Any = None, *, sample_weight: Any = None, missing: Policy = "auto"
) -> FormulaModel:
    """Fit a model to a table by a formula.

    Parameters
    ----------
    formula : "target ~ columns", such as "y ~ x1 + C(x2)", "y ~ x1 * x2", "np.log(y) ~ x1 + {x1**2}", "y ~ 0 + x1",
        "y ~ . - x1", "y ~ `body mass` + np.log(`a.b`)", "y ~ 1"
    data : a pandas or polars frame, or a mapping of names to columns
    model : an estimator, which is cloned; LinearRegression() if None
    sample_weight : (n,) weights of the rows
    missing : "drop" leaves out rows with a missing cell, "impute" fills the cells, after which no coefficient is
        tested, "error" rejects them; "auto" drops if coefficients may be tested and half of the rows are complete, else
        it imputes

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
    needed = _variables(right, frame)
    _require_columns(frame, _variables(left, frame))
    _require_columns(frame, needed, complete=missing == "error")
    given = LinearRegression() if model is None else model
    rows = _rows(frame, sorted(needed), missing, bool(getattr(given, "may_be_tested", False)))
    frame = _filled(frame[rows.used].reset_index(drop=True), rows.fills)
    matrix = _materialise(right, frame)
    spec = matrix.model_spec
    target = _target(left, frame)
    names = {str(term) for term in spec.term_indices}
    fitted = clone(given)
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
    weights = {} if sample_weight is None else {"sample_weight": _used(sample_weight, rows.used)}
    columns = _without_constant(matrix, spec)
    fitted.fit(columns, target, **weights)
    if rows.imputed:
        refuse_imputed(fitted.fitted_, columns.to_numpy(), list(columns.columns), rows.imputed)
    return FormulaModel(formula, fitted, spec, str(left), rows)


class _Rows(NamedTuple):
    """The mask of the rows of a fit, the policy for missing cells, their values by column, and the columns imputed."""

    used: NDArray[np.bool_]
    missing: Policy
    fills: dict[str, Any]
    imputed: tuple[str, ...]


def _rows(frame: Any, names: Sequence[str], missing: Policy, tested: bool) -> _Rows:
    """Return the rows of a frame that a policy uses, by some columns; `tested` if coefficients may have tests."""
    require_choice("missing", missing, get_args(Policy))
    gaps = {name: gap for name in names if (gap := frame[name].isna().to_numpy()).any()}
    complete = ~np.logical_or.reduce([np.zeros(len(frame), dtype=np.bool_), *gaps.values()])
    if missing == "auto":
        missing = "drop" if tested and np.count_nonzero(complete) >= LEAST_COMPLETE * len(frame) else "impute"
    if not complete.any() and missing == "drop":
        worst = max(gaps, key=lambda name: int(gaps[name].sum()))
        raise DataError(
            f"every row has a missing cell ({worst!r} in {counted(int(gaps[worst].sum()), 'row')}); leave out columns,"
            ' or use missing="impute"'
        )
    used = complete if missing == "drop" else np.ones(len(frame), dtype=np.bool_)
    fills = {name: _fill(frame[name][used], name) for name in names}
    return _Rows(used, missing, fills, tuple(gaps) if missing == "impute" else ())


def _fill(column: Any, name: str) -> Any:
    """Return the mean of a column of numbers, the most frequent value of any other."""
    known = column.dropna()
    if known.empty:
        raise DataError(f"column {name!r} is missing in every row; leave it out of the formula")
    if known.dtype.kind in "iuf":
        return float(known.mean())
    return known.mode().iloc[0]


def _filled(frame: Any, fills: Mapping[str, Any]) -> Any:
    """Return a frame with the missing cells of some columns filled."""
    gaps = [name for name in fills if frame[name].isna().any()]
    return frame.assign(**{name: _as_floats(frame[name]).fillna(fills[name]) for name in gaps})


def _as_floats(column: Any) -> Any:
    """Return whole numbers that may be missing as floats, any other column as it is."""
    return column.astype(np.float64) if column.dtype.kind in "iu" else column


def _used(weights: Any, rows: NDArray[np.bool_]) -> Any:
    """Return the weights of some rows; those of all rows as they are."""
    return weights if rows.all() else np.asarray(weights)[rows]


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
        return _with_days(pd.DataFrame({column.name: _cells(column) for column in data.get_columns()}))
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


def _cells(column: Any) -> Any:
    """Return a polars column as an array; one with declared levels as a category of pandas."""
    import pandas as pd  # noqa: PLC0415  # formulaic brings it

    levels = getattr(column.dtype, "categories", None)
    if levels is None or type(column.dtype).__name__ != "Enum":
        return column.to_numpy()
    return pd.Categorical(column.to_list(), categories=list(levels)).remove_unused_categories()


def _require_columns(frame: Any, names: Any, *, complete: bool = True) -> None:
    """Raise a DataError for a missing column or, if it is to be complete, a missing value."""
    for name in sorted(map(str, names)):
        if name not in frame.columns:
            raise DataError(f"data has no column {name!r}{did_you_mean(name, map(str, frame.columns))}")
        missing = np.flatnonzero(frame[name].isna().to_numpy())
        if missing.size and complete:
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
        unseen = np.flatnonzero((column.notna() & ~column.isin(list(known))).to_numpy())
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
