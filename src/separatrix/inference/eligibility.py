"""When a number of inference may not be given: each reason is one sentence, with the remedy after a semicolon.

A cell of a table is valid, or absent with one of these. Reasons of the whole fit come before those of one coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from separatrix.errors import counted

NAMES_SHOWN = 6
CLASS_WEIGHTS = "class weights"


def aliased(name: str, shares: Mapping[str, float], *, rounded: bool = False) -> str:
    """Say that a column is a combination of others, by name and share; of none, that it is constantly 0.

    `rounded`: the combination was not found exactly.
    """
    if not shares:
        return f"{name!r} is 0 in every row, so that any coefficient fits as well; drop the column"
    return (
        f"{name!r} is {_combination(shares)} in every row{' but for rounding' if rounded else ''}, so that the data"
        f" cannot tell its coefficient from theirs; drop one of {_listed([name, *shares])}"
    )


def breaks_relation(row: int, name: str, shares: Mapping[str, float]) -> str:
    """Say that a new row's prediction is not unique."""
    relation = _combination(shares) if shares else "0"
    return (
        f"row {row} breaks a relation that held in every row of the fit, {name!r} being {relation}, so that its"
        " prediction is not unique; drop the row, or fit without one of these columns"
    )


def not_estimable(name: str, tied: Sequence[str]) -> str:
    """Say that a coefficient is not unique, because of columns that depend on its column."""
    return (
        f"the coefficient of {name!r} is not unique, as its column is tied to {_listed(tied)};"
        f" drop one of {_listed([name, *tied])}"
    )


def out_of_range(name: str, *, small: bool) -> str:
    """Say that a column's numbers are so small or large that floats do not hold the variance of its coefficient."""
    size, remedy = ("small", "multiply") if small else ("large", "divide")
    return (
        f"the numbers of {name!r} are so {size} that the variance of its coefficient leaves the range of floats;"
        f" {remedy} the column by a number as large"
    )


def penalised(strength: float) -> str:
    """Say that a penalty biases the estimates, so that standard errors say nothing of the truth."""
    return (
        f"the fit has a penalty (strength={strength:g}), which draws the coefficients towards 0 by an unknown amount;"
        " fit with strength=0"
    )


def not_factored(solver: str) -> str:
    """Say that least squares was fitted in steps, which leave no inverse to take errors from."""
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
    """Say that the strength was chosen by looking at the same targets."""
    return (
        f"the strength ({strength:g}) was chosen by cross-validation on these very rows, which no standard error allows"
        " for; fit with strength=0, if need be with the columns chosen here on rows not used for the choice"
    )


def no_degrees_of_freedom(rows: float, rank: int) -> str:
    """Say that as many coefficients are free as there are rows."""
    return (
        f"{counted(int(rows), 'row')} and {counted(rank, 'free coefficient')} leave no degrees of freedom to tell noise"
        f" from signal by; give more than {counted(rank, 'row')}, or fewer columns"
    )


def perfect_fit() -> str:
    """Say that the residuals are 0 but for rounding."""
    return (
        "the fit is perfect but for rounding, so that there is no noise to test against;"
        " read the coefficients as exact, and see whether a column gives the target away"
    )


def constant_target(value: float) -> str:
    """Say that there is nothing to explain."""
    return f"the target is {value:g} in every row, so that there is nothing to explain; give a target that varies"


def too_few_groups(groups: int, coefficients: int) -> str:
    """Say that groups are too few for a joint test of so many coefficients."""
    return (
        f"the covariance of {counted(groups, 'group')} cannot test {counted(coefficients, 'coefficient')} at once;"
        f" give more than {counted(coefficients, 'group')}, or test fewer coefficients"
    )


def singular_covariance(coefficients: int, groups: int) -> str:
    """Say that a robust covariance has too low a rank for a joint test."""
    if groups:
        return too_few_groups(groups, coefficients)
    return (
        f"this covariance is singular, so that {counted(coefficients, 'coefficient')} cannot be tested at once;"
        ' test fewer, or use covariance="classical"'
    )


def no_variance(name: str, covariance: str) -> str:
    """Say that the residuals of the rows that decide a coefficient are all 0."""
    return (
        f"the rows that decide the coefficient of {name!r} are all fitted exactly, so that {covariance} has nothing to"
        ' judge by; use covariance="classical"'
    )


def leverage_one(covariance: str) -> str:
    """Say that a row alone decides a coefficient, which leaves 0/0 in HC2 to HC4."""
    return (
        f"a row has leverage 1 (it alone decides a coefficient), where {covariance} divides 0 by 0; drop the row, or"
        ' use covariance="HC1"'
    )


def more_columns() -> str:
    """Say that columns are dependent in ways too many to list."""
    return "there are more columns than the rows can tell apart; drop columns, give more rows, or use a penalty"


def nothing_to_test() -> str:
    """Say that a model has no columns but the intercept."""
    return "no column but the intercept is left to test; give columns that vary"


def likelihood_without_maximum(name: str, limit: float | None = None) -> str:
    """Say that the likelihood has no maximum, and where a coefficient runs, if it does."""
    if limit is not None and math.isinf(limit):
        head = f"the likelihood has no maximum: the coefficient of {name!r} runs to {'+' if limit > 0.0 else '−'}∞"
    else:
        head = f"the likelihood has no maximum, so that the coefficient of {name!r} has no standard error"
    return f'{head}; use on_separation="firth", whose intervals are of the profile likelihood, or a penalty'


def bias_reduced() -> str:
    """Say that tests of a likelihood are not for a bias-reduced fit."""
    return (
        "the fit is bias-reduced, and its penalised likelihood is no likelihood to compare models by; read the p-values"
        " of its summary()"
    )


def no_joint_likelihood(fits: int) -> str:
    """Say that classes each against the rest have fits of their own."""
    return (
        f"each of {fits} classes has a fit of its own against the rest, and these have no likelihood in common;"
        ' use multiclass="softmax"'
    )


def no_maximum(classes: int) -> str:
    """Say of a whole fit that its likelihood has no maximum; bias reduction is for two classes."""
    remedy = 'on_separation="firth" or a penalty' if classes == 2 else "a penalty (strength above 0)"
    return f"the likelihood has no maximum, only a supremum; use {remedy}"


def nearly_dependent() -> str:
    """Say that floats cannot invert the information."""
    return (
        "the columns are so nearly dependent that floats cannot tell their coefficients apart;"
        " drop columns that others nearly make up"
    )


def maximum_not_shown() -> str:
    """Say that it could not be decided whether the likelihood has a maximum."""
    return (
        'it could not be shown that the likelihood has a maximum; use rescaled columns, on_separation="firth" or a'
        " penalty"
    )


def weights_not_counts(kind: str) -> str:
    """Say that model-based errors need rows that were seen as often as they count; kind: whose weights they are."""
    instead = "no class_weight" if kind == CLASS_WEIGHTS else 'weight_kind="frequency" if they are counts'
    return (
        f"the rows count by {kind}, which do not say how often a row was seen, as model-based standard errors need;"
        f' use {instead}, or covariance="HC0"'
    )


def unfinished(message: str) -> str:
    """Say that the fit was stopped before it was optimal, in the words of its result."""
    return f"the fit is not optimal ({message}); fit again with a larger max_passes or tol"


def no_rows_kept(what: str) -> str:
    """Say that something needs the rows of the fit, which are not saved with it."""
    return (
        f"{what} needs the rows that the model was fitted on, and a model that was saved or copied does not carry them;"
        " fit again"
    )


def _combination(shares: Mapping[str, float]) -> str:
    parts = [_share(name, share, first=place == 0) for place, (name, share) in enumerate(shares.items())]
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
