"""What describes a whole likelihood fit; k counts its free coefficients, ℓ₀ is that of a model without columns.

    deviance −2ℓ,   McFadden's R² = 1 − ℓ/ℓ₀,   AIC 2k − 2ℓ,   BIC k·log n − 2ℓ,   likelihood ratio 2(ℓ − ℓ₀)

The last is tested by χ² of k − k₀. Where the classes are separated ℓ is the supremum, and AIC, BIC and the test, which
need a maximum, are absent. Reference: McFadden, Conditional logit analysis of qualitative choice behavior (1974).
"""

from __future__ import annotations

import math

import scipy.special

from separatrix.inference import eligibility
from separatrix.inference.likelihood.fit import LikelihoodFit
from separatrix.inference.table import Measure

NAMES = (
    "log-likelihood",
    "null log-likelihood",
    "deviance",
    "null deviance",
    "McFadden R²",
    "AIC",
    "BIC",
    "likelihood ratio",
)


def measures(fit: LikelihoodFit) -> tuple[Measure, ...]:
    """Return what describes a fit; all absent where its weights are no counts, or nothing is known of its maximum."""
    height, null = fit.loglik, fit.null_loglik
    if fit.weighting or height is None:
        reason = eligibility.weights_not_counts(fit.weighting) if fit.weighting else eligibility.maximum_not_shown()
        return tuple(Measure(name, None, absent=reason) for name in NAMES)
    exists = fit.existence.verdict == "overlap"
    reached = "" if exists else "its supremum, which no coefficients attain"
    shares = "the classes' shares" if fit.problem.design.virtual else "equal shares, as there is no intercept"
    return (
        Measure("log-likelihood", height, detail=reached),
        Measure("null log-likelihood", null, detail=shares),
        Measure("deviance", -2.0 * height, detail=reached),
        Measure("null deviance", -2.0 * null, detail=shares),
        Measure("McFadden R²", 1.0 - height / null, detail="1 − ℓ/ℓ₀"),
        *_of_a_maximum(fit, height, "" if exists else eligibility.no_maximum(len(fit.classes))),
    )


def _of_a_maximum(fit: LikelihoodFit, height: float, absent: str) -> tuple[Measure, ...]:
    free = fit.free
    tested = free - (len(fit.classes) - 1 if fit.problem.design.virtual else 0)
    if absent:
        return tuple(Measure(name, None, absent=absent) for name in NAMES[5:])
    ratio = max(2.0 * (height - fit.null_loglik), 0.0)
    return (
        Measure("AIC", 2.0 * free - 2.0 * height, detail="2k − 2ℓ"),
        Measure("BIC", free * math.log(fit.rows) - 2.0 * height, detail="k·log n − 2ℓ"),
        Measure(
            "likelihood ratio",
            ratio,
            p_value=float(scipy.special.chdtrc(tested, ratio)) if tested else None,
            detail=f"χ² of {tested} against the model without columns",
            absent="" if tested else eligibility.nothing_to_test(),
        ),
    )
