"""What the stories claim, asked of the library."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import separatrix as sx

STORIES = (Path(__file__).parent.parent.parent / "src/separatrix/lab/page/stories/index.js").as_uri()

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def rows(node: Any) -> Any:
    """Return the points of a story as rows and labels; the margin's at some γ."""

    def of(story: str, gamma: float | None = None) -> tuple[Any, Any]:
        ask = "story.points" if gamma is None else f"story.atMargin({gamma})"
        script = (
            f"import {{ storyById }} from {json.dumps(STORIES)}; const story = storyById({json.dumps(story)});"
            f" console.log(JSON.stringify({ask}));"
        )
        done = node("--input-type=module", "-e", script)
        assert done.returncode == 0, done.stderr
        points = np.array(json.loads(done.stdout), dtype=float)
        return points[:, :2], points[:, 2].astype(int)

    return of


def _perceptron(X: Any, y: Any, **options: Any) -> Any:
    return sx.Perceptron(**options).fit(X, y)


def test_five_points(rows: Any) -> None:
    X, y = rows("five-points")
    model = _perceptron(X, y, fit_intercept=False)
    assert (model.n_updates_, model.coef_[0].tolist(), round(model.certificate_.bound)) == (5, [5.0, 1.0], 17)
    X[0] = (-1, 4)
    bound = sx.mistake_bound(X, y).bound
    assert bound is not None
    assert round(bound) == 170


def test_no_line(rows: Any) -> None:
    X, y = rows("no-line")
    assert sx.check_separability(X, y).verdict == "overlap"
    stops = [sx.check_separability(np.delete(X, i, 0), np.delete(y, i)).verdict == "separable" for i in range(5)]
    assert stops == [False, False, True, True, True]
    updates = _perceptron(X, y, start=[1, 1, 1], tie="mistake", max_updates=400).trace_.updates
    weights = {visit: updates.weights[np.searchsorted(updates.visit, visit, side="right") - 1] for visit in (605, 650)}
    assert np.array_equal(weights[605], weights[650])


def test_margin(rows: Any) -> None:
    found = []
    for gamma in (1, 0.5, 0.2, 0.1):
        X, y = rows("margin", gamma)
        bound = sx.mistake_bound(X, y)
        assert bound.margin == pytest.approx(gamma)
        found.append((_perceptron(X, y, fit_intercept=False).n_updates_, int(bound.bound * (1 + 1e-9))))
    assert found == [(3, 13), (5, 41), (10, 241), (14, 949)]


def test_which_line(rows: Any) -> None:
    X, y = rows("which-line")
    orders = [list(order) for order in permutations(range(5))]
    models = [_perceptron(X[order], y[order], fit_intercept=False) for order in orders]
    counts = [model.n_updates_ for model in models]
    assert [counts.count(mistakes) for mistakes in (1, 3, 5)] == [40, 15, 65]
    lines = {tuple((model.coef_[0] / np.linalg.norm(model.coef_)).round(9).tolist()) for model in models}
    assert len(lines) == 2
    assert {count for order, count in zip(orders, counts, strict=True) if order[0] == 4} == {1}


def test_far_point(rows: Any) -> None:
    X, y = rows("far-point")

    def wrong(x: float) -> list[int]:
        X[3, 0] = x
        return np.flatnonzero(sx.LMSClassifier(tol=1e-14).fit(X, y).predict(X) != y).tolist()

    assert (wrong(2), wrong(6.9), wrong(7.1), wrong(8)) == ([], [], [1], [1])
    assert (_perceptron(X, y).predict(X) == y).all()
    X[3, 0] = 7
    b, w1, w2 = np.linalg.lstsq(np.column_stack([np.ones(8), X]), y, rcond=None)[0]
    assert b + w1 + 2 * w2 == pytest.approx(0, abs=1e-12)


def test_runs_off(rows: Any) -> None:
    X, y = rows("runs-off")
    X = X[:, :1]
    assert sx.LogisticRegression(on_separation="ignore").fit(X, y).existence_[0].verdict == "separable"
    X[2] = 1.5
    assert sx.LogisticRegression().fit(X, y).coef_[0, 0] == pytest.approx(1.415, abs=5e-4)


def test_xor(rows: Any) -> None:
    X, _ = rows("xor")
    labels = [np.array(each) for each in product([-1, 1], repeat=4)]
    assert sum(sx.check_separability(X, y).verdict == "separable" for y in labels) == 14
    lifted = np.column_stack([X, X[:, 0] * X[:, 1]])
    assert all(sx.check_separability(lifted, y).verdict == "separable" for y in labels)


def test_interval(rows: Any) -> None:
    X, y = rows("interval")
    for centre, verdict in (
        (0.0, "separable"),
        (0.49, "separable"),
        (0.5, "quasi"),
        (0.51, "overlap"),
        (-1.0, "overlap"),
    ):
        lifted = sx.maps.SquaredDistance([centre]).fit_transform(X[:, :1])
        assert sx.check_separability(lifted, y).verdict == verdict


def test_rings(rows: Any) -> None:
    X, y = rows("rings")
    assert sx.check_separability(X, y).verdict == "overlap"
    kernel = sx.KernelPerceptron(kernel="rbf", gamma=0.25).fit(X, y)
    assert (kernel.n_updates_, len(kernel.support_)) == (9, 8)
    assert _perceptron(sx.maps.SquaredDistance(None, keep=True).fit_transform(X), y).n_updates_ == 8


def test_outlier(rows: Any) -> None:
    X, y = rows("outlier")
    models = [sx.LMSClassifier(), sx.LogisticRegression(), sx.LinearSVM(strength=1 / len(y)), sx.ZeroOneClassifier()]
    assert [int((model.fit(X, y).predict(X) != y).sum()) for model in models] == [3, 3, 2, 1]
