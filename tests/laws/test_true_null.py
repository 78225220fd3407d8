"""The law of shown cells: under a true null, p < .05 in at most 6.5 % of them, or 8 % beside a flag.

Pooled over the columns of no effect; no cell of a regular design is absent. `scripts/true_null` draws 2,000 samples of
each design.
"""

import pytest
from true_null import DESIGNS, Design, count

RUNS = 200


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.model}-{design.name}")
def test_shown_cells_reject_a_true_null_as_often_as_they_say(design: Design) -> None:
    faults = [fault for share in count(design, RUNS) for fault in share.faults]
    assert not faults, "\n".join(faults)
