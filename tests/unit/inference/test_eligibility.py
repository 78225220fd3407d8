"""The table of reasons: every template is used, and filled in without a gap."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import separatrix
from separatrix.inference.eligibility import Refusal, aliased, combination, listed, not_frequencies

SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in Path(separatrix.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("refusal", Refusal, ids=lambda refusal: refusal.name)
def test_every_reason_is_used_and_has_no_gap(refusal):
    assert re.search(rf"\bRefusal\.{refusal.name}\(", SOURCE)
    fields = {field for _, field, _, _ in Formatter().parse(refusal.value) if field}
    sentence = refusal(**{field: ["a", "b"] if field in {"names", "tied"} else 2 for field in fields})
    assert "{" not in sentence
    assert sentence[0].islower() or sentence[0].isdigit() or sentence.startswith("'a' and 'b' ")
    assert not sentence.endswith(".")


def test_numbers_have_their_noun_and_names_are_listed():
    assert Refusal.NO_FREEDOM(rows=1.0, rank=1).startswith("1 row and 1 free coefficient leave no degrees of freedom")
    assert Refusal.NO_FREEDOM(rows=2000, rank=2).startswith("2,000 rows and 2 free coefficients leave")
    assert listed(["a"]) == "'a'"
    assert listed(["a", "b", "c"]) == "'a', 'b' and 'c'"
    assert listed(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e', 'f' and 2 more"


def test_a_combination_of_columns_reads_as_a_formula():
    assert combination({"a": -1.0, "b": 2.5, "c": -0.5}) == "−'a' + 2.5 · 'b' − 0.5 · 'c'"
    assert combination({}) == "0"
    assert combination(dict.fromkeys("abcdefgh", 1.0)).endswith("+ 'f' + … (2 more)")
    assert aliased("x", {"a": 1.0}) == (
        "'x' is 'a' in every row (perfectly collinear), so its coefficient is not identified; drop one of 'x' and 'a'"
    )


def test_weights_that_are_no_frequencies_have_a_remedy():
    assert not_frequencies("class weights").endswith('use no class_weight, or covariance="HC0"')
    assert not_frequencies("precision weights", robust=False).endswith('use weight_kind="frequency" if they are counts')
