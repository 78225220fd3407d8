"""Wald's test that several coefficients of a likelihood fit are 0, of every class that has them: χ² of their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.errors import DataError
from separatrix.inference import eligibility
from separatrix.inference.likelihood.fit import LikelihoodFit
from separatrix.inference.linear.covariance import CovarianceChoice
from separatrix.inference.wald import WaldTest, places_of, wald_test_of


def likelihood_wald_test(fit: LikelihoodFit, choice: CovarianceChoice, names: Sequence[str]) -> WaldTest:
    """Return the test of some coefficients by name; a DataError where one cannot be estimated, or has no covariance."""
    known = fit.problem.design.names
    wanted = {known[place] for place in places_of(names, known)}
    contrasts = [contrast for contrast in fit.contrasts if contrast.name in wanted]
    reasons = [reason for contrast in contrasts if (reason := fit.estimability.reason(contrast))]
    errors, summit = fit.errors(choice), fit.summit
    if reasons or errors.covariance is None or summit is None:
        raise DataError(reasons[0] if reasons else errors.absent)
    rows = np.array([summit.row(contrast.entries) for contrast in contrasts])
    if not all(summit.sees(row) for row in rows):
        raise DataError(eligibility.nearly_dependent())
    labels = [c.name if c.output is None else f"{c.output}: {c.name}" for c in contrasts]
    test = wald_test_of(labels, rows @ summit.top.coef, rows @ errors.covariance @ rows.T, choice.kind)
    if test is None:
        raise DataError(eligibility.singular_covariance(len(contrasts), choice.group_count))
    return test
