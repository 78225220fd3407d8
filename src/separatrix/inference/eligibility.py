"""Reasons for absent numbers of inference: each is one sentence, with the remedy after a semicolon.

Every cell of a table is valid, or absent with one of these. A reason that concerns the whole fit takes precedence over
those of single coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from separatrix.errors import counted

NAMES_SHOWN = 6
CLASS_WEIGHTS = "class weights"


def aliased(name: str, shares: Mapping[str, float], *, rounded: bool = False) -> str:
    """A column is collinear with others, by share, or always 0 (no shares); `rounded`: only up to rounding."""
    if not shares:
        return f"{name!r} is 0 in every row, so that any coefficient fits as well; drop the column"
    return (
        f"{name!r} is {_combination(shares)} in every row{' but for rounding' if rounded else ''}, so that the data"
        f" cannot tell its coefficient from theirs; drop one of {_listed([name, *shares])}"
    )


def breaks_relation(row: int, name: str, shares: Mapping[str, float]) -> str:
    """The prediction of a new row is not unique, because it breaks a relation between columns."""
    relation = _combination(shares) if shares else "0"
    return (
        f"row {row} breaks a relation that held in every row of the fit, {name!r} being {relation}, so that its"
        " prediction is not unique; drop the row, or fit without one of these columns"
    )


def not_estimable(name: str, tied: Sequence[str]) -> str:
    """A coefficient is not identified, because aliased columns depend on its column."""
    return (
        f"the coefficient of {name!r} is not unique, as its column is tied to {_listed(tied)};"
        f" drop one of {_listed([name, *tied])}"
    )


def out_of_range(name: str, *, small: bool) -> str:
    """The variance of a coefficient overflows or underflows, because its column is tiny or huge."""
    size, remedy = ("small", "multiply") if small else ("large", "divide")
    return (
        f"the numbers of {name!r} are so {size} that the variance of its coefficient leaves the range of floats;"
        f" {remedy} the column by a number as large"
    )


def penalised(strength: float) -> str:
    """A penalty biases the estimates by an unknown amount."""
    return (
        f"the fit has a penalty (strength={strength:g}), which draws the coefficients towards 0 by an unknown amount;"
        " fit with strength=0"
    )


def not_factored(solver: str) -> str:
    """Least squares was fitted iteratively, without the factorisation that standard errors need."""
    if solver == "auto":
        return (
            "there are too many columns for a factorisation, which standard errors need; fit at most some thousand of"
            " them"
        )
    return (
        f"the fit was made in steps (solver={solver!r}) and not by a factorisation, which standard errors need;"
        ' use solver="auto" and at most some thousand columns'
    )


def chosen_by_cross_validation(strength: float) -> str:
    """The strength was chosen by cross-validation on the same rows."""
    return (
        f"the strength ({strength:g}) was chosen by cross-validation on these very rows, which no standard error allows"
        " for; fit with strength=0, if need be with the columns chosen here on rows not used for the choice"
    )


def no_degrees_of_freedom(rows: float, rank: int) -> str:
    """There are no residual degrees of freedom."""
    return (
        f"{counted(int(rows), 'row')} and {counted(rank, 'free coefficient')} leave no degrees of freedom to tell noise"
        f" from signal by; give more than {counted(rank, 'row')}, or fewer columns"
    )


def perfect_fit() -> str:
    """All residuals are 0 up to rounding."""
    return (
        "the fit is perfect but for rounding, so that there is no noise to test against;"
        " read the coefficients as exact, and see whether a column gives the target away"
    )


def constant_target(value: float) -> str:
    """The target does not vary."""
    return f"the target is {value:g} in every row, so that there is nothing to explain; give a target that varies"


def too_few_groups(groups: int, coefficients: int) -> str:
    """There are fewer groups than a joint test of so many coefficients needs."""
    return (
        f"the covariance of {counted(groups, 'group')} cannot test {counted(coefficients, 'coefficient')} at once;"
        f" give more than {counted(coefficients, 'group')}, or test fewer coefficients"
    )


def singular_covariance(coefficients: int, groups: int) -> str:
    """The rank of a robust covariance is too low for a joint test."""
    if groups:
        return too_few_groups(groups, coefficients)
    return (
        f"this covariance is singular, so that {counted(coefficients, 'coefficient')} cannot be tested at once;"
        ' test fewer, or use covariance="classical"'
    )


def no_variance(name: str, covariance: str) -> str:
    """All rows that determine a coefficient are fitted exactly, so that a robust variance is 0."""
    return (
        f"the rows that decide the coefficient of {name!r} are all fitted exactly, so that {covariance} has nothing to"
        ' judge by; use covariance="classical"'
    )


def leverage_one(covariance: str) -> str:
    """A row has leverage 1, where HC2 to HC4 are 0/0."""
    return (
        f"a row has leverage 1 (it alone decides a coefficient), where {covariance} divides 0 by 0; drop the row, or"
        ' use covariance="HC1"'
    )


def more_columns() -> str:
    """There are more columns than the rows can identify."""
    return "there are more columns than the rows can tell apart; drop columns, give more rows, or use a penalty"


def nothing_to_test() -> str:
    """The model has no column besides the intercept."""
    return "no column but the intercept is left to test; give columns that vary"


def likelihood_without_maximum(name: str, limit: float | None = None) -> str:
    """The likelihood has no maximum; `limit` is ±∞ if the coefficient diverges there."""
    if limit is not None and math.isinf(limit):
        head = f"the likelihood has no maximum: the coefficient of {name!r} runs to {'+' if limit > 0.0 else '−'}∞"
    else:
        head = f"the likelihood has no maximum, so that the coefficient of {name!r} has no standard error"
    return f'{head}; use on_separation="firth", whose intervals are of the profile likelihood, or a penalty'


def bias_reduced() -> str:
    """A bias-reduced fit has no likelihood to compare models by."""
    return (
        "the fit is bias-reduced, and its penalised likelihood is no likelihood to compare models by; read the p-values"
        " of its summary()"
    )


def no_joint_likelihood(fits: int) -> str:
    """One-vs-rest fits have no joint likelihood."""
    return (
        f"each of {fits} classes has a fit of its own against the rest, and these have no likelihood in common;"
        ' use multiclass="softmax"'
    )


def no_maximum(classes: int) -> str:
    """The likelihood of a whole fit has no maximum; bias reduction exists for two classes only."""
    remedy = 'on_separation="firth" or a penalty' if classes == 2 else "a penalty (strength above 0)"
    return f"the likelihood has no maximum, only a supremum; use {remedy}"


def nearly_dependent() -> str:
    """The information is numerically singular."""
    return (
        "the columns are so nearly dependent that floats cannot tell their coefficients apart;"
        " drop columns that others nearly make up"
    )


def maximum_not_shown() -> str:
    """The existence of a maximum is undecided."""
    return (
        'it could not be shown that the likelihood has a maximum; use rescaled columns, on_separation="firth" or a'
        " penalty"
    )


def weights_not_counts(kind: str) -> str:
    """Classical standard errors need frequency weights; `kind` names the weights of the fit."""
    instead = "no class_weight" if kind == CLASS_WEIGHTS else 'weight_kind="frequency" if they are counts'
    return (
        f"the rows count by {kind}, which do not say how often a row was seen, as model-based standard errors need;"
        f' use {instead}, or covariance="HC0"'
    )


def rows_not_saved(task: str) -> str:
    """A task needs the rows of the fit, which are not saved with it."""
    return (
        f"{task} needs the rows that the model was fitted on, and a model that was saved or copied does not carry them;"
        " fit again"
    )


def _combination(shares: Mapping[str, float]) -> str:
    parts = [_share(name, share, first=index == 0) for index, (name, share) in enumerate(shares.items())]
    more = len(parts) - NAMES_SHOWN
    return " ".join(parts[:NAMES_SHOWN]) + (f" + … ({more} more)" if more > 0 else "")


def _share(name: str, share: float, *, first: bool) -> str:
    sign = ("−" if share < 0.0 else "") if first else ("− " if share < 0.0 else "+ ")
    size = abs(share)
    return f"{sign}{name!r}" if abs(size - 1.0) < 1e-9 else f"{sign}{size:.6g} · {name!r}"


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:NAMES_SHOWN]]
    more = len(names) - NAMES_SHOWN
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
