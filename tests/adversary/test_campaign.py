"""Mutations of honest certificates: none whose statement is false is proved, and nothing hangs or ends in a traceback.

`scripts/campaign` runs many more, and writes `benchmarks/results/campaign.md`.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from campaign import Result, counts, extremes, run
from honest import case, cases, names

from separatrix.certificates import base

pytestmark = pytest.mark.slow

KINDS = (*base.KINDS, base.MIXED)
BAD = ("false, proved", "failed", "law broken")


def faults(results: list[Result]) -> list[tuple[str, str, str]]:
    """Return the results that must not be, with what was changed."""
    return [(result.group, result.mutation.name, result.reason) for result in results if result.group in BAD]


def test_every_kind_has_cases() -> None:
    assert {each.kind for each in cases()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_mutations(kind: str) -> None:
    results = run(kind, 60, seed=zlib.crc32(kind.encode()))
    assert not faults(results)
    made = counts(results)
    assert made["true, proved"] > 5
    assert made["other, refused"] > 20
    assert made["harmless, refused"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_verifier_that_believes_everything_is_found_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    believed = base.Verification((base.Check("nothing", True, "was checked"),))
    monkeypatch.setattr(base.Certificate, "verify", lambda *_: believed)
    found = {group for group, _, _ in faults(run(kind, 25, seed=3))}
    assert found & {"false, proved", "law broken"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_more_mutations(kind: str) -> None:
    results = run(kind, 600, seed=1)
    assert not faults(results)
    harmless = [result for result in results if result.mutation.harmless]
    assert counts(results)["harmless, refused"] <= 0.01 * len(harmless)


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_extremes(name: str, tmp_path: Path) -> None:
    assert not faults(list(extremes(case(name), tmp_path)))


@pytest.mark.parametrize("name", ["margin", "kernel margin", "zero-one", "separability, quasi"])
def test_extremes_of_some(name: str, tmp_path: Path) -> None:
    results = list(extremes(case(name), tmp_path))
    assert results
    assert not faults(results)
