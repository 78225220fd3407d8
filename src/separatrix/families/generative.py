"""The Gaussian generative classifier: classes with shared variances, coefficients in closed form.

Cost: two passes over the rows.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.data import data_of
from separatrix.certificates.generative import Ball, GenerativeCertificate, class_moments, closed_form
from separatrix.design.base import Design
from separatrix.errors import OptionError
from separatrix.families.base import Fitted, Link, TrainingRows, weigh
from separatrix.families.options import GenerativeOptions
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.fit.run import Watch

PRIORS_TOLERANCE = 1e-8  # allowed distance of the sum of priors from 1
NO_INFERENCE = "standard errors are not available for a generative classifier"


def fit(rows: TrainingRows, options: GenerativeOptions, watch: Watch | None = None) -> Fitted:  # noqa: ARG001
    """Fit the classes in two passes."""
    weighted = weigh(rows.ordered(options.positive), intercept=True)
    result = fit_generative(weighted.design, weighted.class_targets, options.priors, weighted.weights)
    link: Link = "softmax" if len(weighted.labels) > 2 else "sigmoid"
    details = {name: np.asarray(result.provenance[name]) for name in ("means", "variances")}
    classes = weighted.class_targets.values
    return Fitted(options, result, classes, link=link, no_inference=NO_INFERENCE, details=details)


def fit_generative(design: Design, classes: Classes, priors: Any = None, weights: Floats | None = None) -> FitResult:
    """Fit Gaussian classes with shared variances; the objective is minus the mean joint log-likelihood."""
    start_time, passes_before = time.perf_counter(), design.passes
    if priors is not None:
        priors = np.asarray(priors, dtype=np.float64)
        shape = (len(classes.values),)
        if priors.shape != shape or not (priors > 0.0).all() or abs(float(priors.sum()) - 1.0) > PRIORS_TOLERANCE:
            needed = f"{len(classes.values)} numbers above 0 that sum to 1, for the classes {classes.plain}"
            raise OptionError(f"priors={priors.tolist()} must be {needed}")
        priors = priors / priors.sum()
    moments = class_moments(design, classes.codes, len(classes.values), weights)
    scores = closed_form(moments, moments.shares if priors is None else Ball(priors))
    coef, intercept = np.ldexp(scores.coef.mid, -moments.exponents), scores.intercept.mid
    shares, exponents = moments.shares.mid, moments.exponents
    log_variances = np.log(moments.variances.mid) + exponents * math.log(4.0)
    spread = float((math.log(2.0 * math.pi) + log_variances + 1.0).sum()) / 2.0
    objective = spread - float(shares @ np.log(shares if priors is None else priors))
    seconds, passes = time.perf_counter() - start_time, design.passes - passes_before
    targets = classes.signs() if len(classes.values) == 2 else classes.codes
    data = data_of(design, classes.plain, targets, weights=weights is not None)
    steps = {"passes": passes, "seconds": seconds, "objective": objective}
    return FitResult(
        coef=coef[0] if len(coef) == 1 else coef,
        intercept=np.asarray(intercept[0]) if len(coef) == 1 else intercept,
        status=Status.OPTIMAL,
        message="the weights in closed form, from the means and variances of the classes",
        objective=objective,
        passes=passes,
        seconds=seconds,
        certificate=GenerativeCertificate(data=data, coef=coef, intercept=intercept, priors=priors),
        trace=Trace({name: np.array([value]) for name, value in steps.items()}),
        facts={"rows": design.shape[0]},
        provenance={
            "names": list(design.names),
            "storage": type(design).__name__,
            "priors": None if priors is None else priors.tolist(),
            "means": (moments.reference + np.ldexp(moments.means.mid, exponents)).tolist(),
            "variances": np.ldexp(moments.variances.mid, 2 * exponents).tolist(),
        },
    )
