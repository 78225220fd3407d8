"""Every classification set, unscaled as it is: each convex estimator certifies its optimum or says why not."""

from __future__ import annotations

from typing import Any

import pytest
from classification_sets import NAMES, read
from data import needs_data

import separatrix as sx
from separatrix.fit import Status

pytestmark = [needs_data, pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")]
ROWS = 300
GAP = 1e-6
MODELS: dict[str, Any] = {
    "maximum likelihood": lambda _: sx.LogisticRegression(tol=GAP),
    "logistic L2": lambda s: sx.LogisticRegression(strength=s, tol=GAP),
    "logistic L1": lambda s: sx.LogisticRegression(strength=s, l1_ratio=1.0, tol=GAP),
    "logistic elastic net": lambda s: sx.LogisticRegression(strength=s, l1_ratio=0.5, tol=GAP),
    "hinge": lambda s: sx.LinearSVM(strength=s, tol=GAP),
    "squared hinge": lambda s: sx.LinearSVM(strength=s, tol=GAP, loss="squared_hinge"),
    "lasso": lambda s: sx.LinearRegression(strength=s, l1_ratio=1.0, tol=GAP),
}
SHORT_OF_THE_GAP = {("hinge", "census"): "both solvers of the hinge end just above the gap on 300 rows of 400 columns"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_the_gap_is_certified_in_the_units_of_the_data(name: str, model: str, request: pytest.FixtureRequest) -> None:
    if (model, name) in SHORT_OF_THE_GAP:
        request.applymarker(pytest.mark.xfail(reason=SHORT_OF_THE_GAP[model, name], strict=True))
    X, _, y = read(name, ROWS)
    fitted = MODELS[model](1.0 / len(y)).fit(X, y)
    if model == "maximum likelihood" and fitted.result_.status is Status.SEPARATED:
        assert (y * fitted.decision_function(X) > 0.0).all()
        return
    assert fitted.result_.status is Status.OPTIMAL
    assert fitted.certificate_.relative_gap <= GAP
    assert fitted.certificate_.verify(X, y).holds
