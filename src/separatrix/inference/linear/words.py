"""By which conventions a linear table's numbers hold, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from separatrix.errors import counted
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.linear.covariance import CovarianceChoice
from separatrix.inference.linear.facts import LinearFacts

HIGH_CONDITION = 1e6  # at which some six digits of the data do not reach the coefficients
COVARIANCES = {
    "classical": "errors are taken to be independent and of equal variance",
    "HC0": "errors may differ in variance (HC0, White's)",
    "HC1": "errors may differ in variance (HC1: HC0 times n / (n − rank))",
    "HC2": "errors may differ in variance (HC2: squared residuals over 1 − leverage)",
    "HC3": "errors may differ in variance (HC3: squared residuals over (1 − leverage)²)",
    "HC4": "errors may differ in variance (HC4: squared residuals over (1 − leverage)^min(4, n · leverage / rank))",
}


def conventions(facts: LinearFacts, fit: LeastSquaresFit, choice: CovarianceChoice) -> tuple[str, ...]:
    """Return the conventions of a table, the covariance's first."""
    df = facts.degrees_of_freedom(fit)
    return (
        f"standard errors: {_covariance(choice)}",
        *_weights(facts),
        f"σ² = RSS / (n − rank), n = {facts.rows:.12g}, rank = {fit.rank}: {counted(round(df), 'degree')} of freedom",
        "the log-likelihood is Gaussian with σ² = RSS / n; AIC and BIC count σ² as a parameter (k = rank + 1)",
    )


def notes(facts: LinearFacts, fit: LeastSquaresFit) -> tuple[str, ...]:
    """Return what a reader should know of the columns."""
    return tuple(_notes(facts, fit))


def _notes(facts: LinearFacts, fit: LeastSquaresFit) -> Iterator[str]:
    if fit.aliased:
        names = [facts.names[place] for place in fit.aliased]
        few = ", ".join(map(repr, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        yield (
            f"{counted(len(names), 'column')} ({few}) can be written by the others: fitted values, RSS, R² and F are"
            " unique, the coefficients of the columns concerned are not"
        )
    if fit.condition > HIGH_CONDITION:
        yield (
            f"the columns are nearly dependent (condition {fit.condition:.1e}): a change of the data in digit"
            f" {max(1, 16 - len(f'{fit.condition:.0f}') + 1)} can show in the first of a coefficient"
        )


def _covariance(choice: CovarianceChoice) -> str:
    if choice.kind == "newey_west":
        return f"errors may be related over {counted(choice.lag, 'row')} (Newey and West, Bartlett weights)"
    if choice.groups is None:
        return COVARIANCES[choice.kind]
    corrected = "times G/(G − 1) · (n − 1)/(n − rank)" if choice.kind == "clustered" else "not corrected for few groups"
    return f"errors may be related within {choice.group_count:,} groups ({corrected}; t has G − 1 degrees of freedom)"


def _weights(facts: LinearFacts) -> Iterator[str]:
    if facts.weighted and facts.weight_kind == "frequency":
        yield "a row counts as many times as its weight says: n is the sum of the weights"
    elif facts.weighted:
        yield "a row's error has variance σ² / weight: n is the number of rows of weight above 0"
