"""A sample of a table's rows as a model sees them: encoded, with what they were predicted to be.

Cost: the encoding of the rows taken, `MOST` at most, evenly over the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.encode.blocks import encode_source
from separatrix.model.learn.penalty import spreads
from separatrix.model.train import Trained, quantities_of, with_known_target
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

MOST = 20_000


@dataclass(frozen=True, eq=False)
class SampledRows:
    """`X` (m, p), dense or CSR, of the rows at `places` among those with a known target; the features' mean, spread.

    `spread` (p,) is the standard deviation of a feature that has a unit, and 1 of others; `quantities` (p,) says which.
    """

    X: Any
    places: Indices
    mean: Floats
    spread: Floats
    quantities: Bools


def sample_rows(trained: Trained, table: Table | TableSource) -> SampledRows:
    """Return rows of the table that the model was trained on."""
    model = trained.model
    known = with_known_target(as_source(table), model.target, "impute")[0]
    taken = evenly(known.n_rows, MOST)
    mask = np.zeros(known.n_rows, dtype=np.bool_)
    mask[taken] = True
    encoded = encode_source(model.encoding, known.select(mask))
    design: Design = make_design(encoded.X, intercept=False)
    quantities = quantities_of(model.encoding)
    mean = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    kept = model.options.get("scales")
    spread = spreads(design, quantities) if kept is None else np.asarray(kept, dtype=np.float64)
    return SampledRows(encoded.X, taken[encoded.kept], mean, spread, quantities)


def evenly(count: int, most: int) -> Indices:
    """Return the places of at most `most` of `count` things, at equal distances."""
    return np.arange(0, count, max(1, -(-count // most)), dtype=np.intp)
