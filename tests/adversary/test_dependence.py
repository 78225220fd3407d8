"""No fit of dependent columns states anything false, and nearly all are certified.

`scripts/dependence` runs many more designs, and writes `benchmarks/results/dependence.md`.
"""

from __future__ import annotations

import dependence
import pytest
from dependence import Judged


def faults(results: list[Judged]) -> list[tuple[float, str, str]]:
    """Return what is false, with its design."""
    return [(each.design.dependence, each.design.name, fault) for each in results for fault in each.faults]


def assert_laws(results: list[Judged]) -> None:
    """Assert that nothing is false, and that fits with a minimum are certified up to a dependence of 1e9."""
    assert not faults(results)
    assert dependence.certified_share(results) >= dependence.LEAST_SHARE


def test_nothing_is_false_at_any_dependence() -> None:
    results = dependence.run(0, 2, small=True)
    assert len(results) == 2 * len(dependence.DEPENDENCES)
    assert_laws(results)


@pytest.mark.slow
def test_nothing_is_false_in_more_designs() -> None:
    results = dependence.run(1, 10)
    assert_laws(results)
    assert sum(not each.attained for each in results) > 5


def test_a_false_statement_is_found_out() -> None:
    """Coefficients that are not optimal, with the numbers of those that are: the judge must object."""
    import json

    import judge

    maker = dependence.Maker(3, small=True)
    design = next(each for each in iter(lambda: maker.design(1e3), None) if each.name.startswith("logistic, ridge"))
    document = json.loads(dependence.fitted(design, design.X).to_json())
    assert not judge.fault(document, design.X, design.y, design.weights)
    document["witness"]["coef"][-1] += 0.01 * (1.0 + abs(document["witness"]["coef"][-1]))
    assert judge.fault(document, design.X, design.y, design.weights)
