"""Bounds in the words of a check: rounded outward, and the same number as in the claim."""

from __future__ import annotations

import re

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.enclosures import lower_claim, shown_down, shown_up, upper_claim


@pytest.mark.parametrize("digits", [3, 10])
def test_bounds_are_rounded_outward(digits: int) -> None:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-12.0, 12.0, size=2000)
    for x in (*sizes.tolist(), 1.0, 0.1, 0.1 + 0.2, 0.9999999999999999, 17.000000000000004):
        low, high = float(shown_down(x, digits)), float(shown_up(x, digits))
        assert x * (1.0 - 10.0 ** (2 - digits)) <= low <= x <= high <= x * (1.0 + 10.0 ** (2 - digits))
        assert float(shown_down(-x, digits)) <= -x
    assert (shown_down(0.0, digits), shown_down(0.25, digits), shown_up(0.25, digits)) == ("0", "0.25", "0.25")


def test_a_check_that_holds_has_one_number() -> None:
    assert upper_claim(0.55867039432320365, 0.55867039431881638) == "at most 0.5586703944"
    assert lower_claim(0.5584429656652582, 0.55844296566983109) == "at least 0.5584429656"
    assert upper_claim(0.5, 0.75) == "at most 0.75 is proved; claimed 0.5"
    assert lower_claim(0.75, 0.5) == "at least 0.5 is proved; claimed 0.75"


def test_no_check_that_holds_shows_a_higher_bound_than_the_claim() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y = np.where(X @ [1.0, 1.0] + 0.5 * rng.normal(size=30) > 0.0, 1, -1)
    certificate = sx.KernelSVM(strength=0.1).fit(X, y).certificate_
    checks = {check.name: check.detail for check in certificate.verify(X, y).checks}
    most, least = (float(re.search(r"at (?:most|least) (\S+)$", checks[name])[1]) for name in ("objective", "bound"))
    assert least <= certificate.dual <= certificate.primal <= most
    assert most - least == pytest.approx(certificate.gap, rel=1e-5)
