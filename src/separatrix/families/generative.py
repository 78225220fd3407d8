"""The Gaussian generative model as a fit: one pass over the rows, weights in closed form, nothing to search."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.generative import GenerativeCertificate, class_moments, closed_form
from separatrix.design.base import Design
from separatrix.errors import OptionError
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult, Status, Trace

PRIORS_SUM = 1e-8  # how far from 1 the sum of priors may be


def fit_generative(design: Design, classes: Classes, priors: Any = None, weights: Floats | None = None) -> FitResult:
    """Fit Gaussian classes of shared variances; the objective is minus the mean log-likelihood of rows and labels."""
    began, passes_before = time.perf_counter(), design.passes
    given = None if priors is None else _checked_priors(priors, classes.plain)
    moments = class_moments(design, classes.codes, len(classes.values), weights)
    shares = moments.counts / moments.counts.sum()
    scores = closed_form(moments, shares if given is None else given)
    kept = scores.against_first() if len(classes.values) == 2 else scores
    spread = float(np.log(2.0 * math.pi * moments.variances).sum() + len(moments.variances)) / 2.0
    objective = spread - float(shares @ np.log(shares if given is None else given))
    seconds, passes = time.perf_counter() - began, design.passes - passes_before
    steps = {"passes": passes, "seconds": seconds, "objective": objective}
    return FitResult(
        coef=kept.coef[0] if len(kept.coef) == 1 else kept.coef,
        intercept=np.asarray(kept.intercept[0]) if len(kept.coef) == 1 else kept.intercept,
        status=Status.OPTIMAL,
        message="the weights in closed form, from the means and variances of the classes",
        objective=objective,
        passes=passes,
        seconds=seconds,
        certificate=GenerativeCertificate(tuple(classes.plain), kept.coef, kept.intercept, given),
        trace=Trace({name: np.array([value]) for name, value in steps.items()}),
        facts={"rows": design.shape[0]},
        provenance={
            "names": list(design.names),
            "storage": type(design).__name__,
            "priors": None if given is None else given.tolist(),
            "means": moments.means.tolist(),
            "variances": moments.variances.tolist(),
        },
    )


def _checked_priors(priors: Any, classes: list[Any]) -> Floats:
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (len(classes),) or not (given > 0.0).all() or abs(float(given.sum()) - 1.0) > PRIORS_SUM:
        raise OptionError(
            f"priors={given.tolist()} must be {len(classes)} numbers above 0 that sum to 1, for the classes {classes}"
        )
    return np.asarray(given / given.sum())
