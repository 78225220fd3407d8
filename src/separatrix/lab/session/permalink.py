"""A link to a whole session: the state as a short text that goes into an address, and back.

Points are written as where they are from and what was changed by hand; of a table only its name, columns and digest
are in it, so the table must be open where the link is used. The text is JSON, compressed, in letters that an address
can hold. Whoever made a link is not trusted: its length is bounded before and after decompression, it is read value by
value (`records`), every option is checked as one that was typed, and nothing in it is evaluated. What is wrong with a
link is said in a DataError.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from dataclasses import fields
from typing import Any

import numpy as np

from separatrix.errors import DataError, OptionError, SeparatrixError
from separatrix.lab.session.options import MOST_STEPS, PaneOptions
from separatrix.lab.session.points import LARGEST, Points, make_points
from separatrix.lab.session.presets import MOST, PRESETS, Drawing
from separatrix.lab.session.setting import refuse_large
from separatrix.lab.session.state import MOST_PANES, SPEEDS, Origin, State, original_points
from separatrix.lab.session.table import MOST_COLUMNS, MOST_ROWS, TableData
from separatrix.records import Record, parse_json

__all__ = ["LONGEST", "from_token", "to_token"]

VERSION = 1
LONGEST = 8192  # characters of a link
LARGEST_JSON = 2**17  # bytes, decompressed
LETTERS = re.compile(r"[A-Za-z0-9_-]+")
LARGEST_SEED = 2**32 - 1
LARGEST_ID = 2.0**53


def to_token(state: State) -> str:
    """Return a state as text; one with too many points changed by hand raises an OptionError."""
    content: dict[str, Any] = {
        "version": VERSION,
        "origin": _origin_content(state.origin),
        "panes": [_pane_content(pane) for pane in state.panes],
        "step": state.step,
        "speed": state.speed,
        "axes": list(state.axes),
        "weight_axes": list(state.weight_axes),
    }
    if state.edited:
        content["edits"] = _edits(original_points(state.origin, state.table), state.points)
    plain = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    token = base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")
    if len(token) > LONGEST or len(plain) > LARGEST_JSON:
        raise OptionError(
            f"so many points were changed by hand that the link would be {len(token):,} characters long, where"
            f" {LONGEST:,} are allowed; take away the Python code or the table instead"
        )
    return token


def from_token(token: str, table: TableData | None = None) -> State:
    """Return the state of a link; `table` is the one that is open, if any."""
    try:
        return _read(Record(parse_json(_unpacked(token)), "link"), table)
    except (SeparatrixError, OverflowError) as trouble:  # a whole number may be beyond all floats
        raise DataError(f"this link cannot be used: {trouble}") from None


def _unpacked(token: str) -> bytes:
    """Return the JSON of a link, refusing anything that is too long or no link at all."""
    if len(token) > LONGEST:
        raise DataError(f"it has {len(token):,} characters, where {LONGEST:,} are allowed")
    if not LETTERS.fullmatch(token):
        raise DataError("it has other characters than letters, digits, - and _, or none at all")
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(packed, LARGEST_JSON)
    except (binascii.Error, zlib.error):
        raise DataError("it was cut short or altered") from None
    if not unpacker.eof or unpacker.unused_data:
        raise DataError("it was cut short, or is larger than any session")
    return plain


def _read(record: Record, table: TableData | None) -> State:
    record.whole("version", least=VERSION, most=VERSION)
    origin = _read_origin(record.record("origin"))
    points = original_points(origin, table)
    if record.has("edits"):
        points = _edited(points, record.record("edits"))
    panes = tuple(_read_pane(pane) for pane in record.records("panes"))
    if not 1 <= len(panes) <= MOST_PANES:
        raise DataError(f"it has {len(panes)} panes, where 1 to {MOST_PANES} are allowed")
    for pane in panes:
        refuse_large(points, pane)
    speed = record.number("speed")
    if not SPEEDS[0] <= speed <= SPEEDS[-1]:
        record.refuse("speed", speed, f"a speed from {SPEEDS[0]:g} to {SPEEDS[-1]:g}")
    return State(
        points=points,
        origin=origin,
        panes=panes,
        step=record.whole("step", most=MOST_STEPS),
        speed=speed,
        axes=_pair(record, "axes", points.dimension - 1),
        weight_axes=_pair(record, "weight_axes", 10_000),
        table=table,
    )


def _pair(record: Record, key: str, most: int) -> tuple[int, int]:
    first, second = (int(number) for number in record.numbers(key, 2))
    for number in (first, second):
        if not 0 <= number <= most:
            record.refuse(key, number, f"two places from 0 to {most}")
    return first, second


# Origin


def _origin_content(origin: Origin) -> dict[str, Any]:
    if origin.kind == "preset":
        drawn = {"drawing": list(origin.drawing)} if PRESETS[origin.name].slides else {}
        return {"preset": origin.name, **drawn}
    return {
        "table": origin.name,
        "digest": origin.digest,
        "columns": list(origin.columns),
        "positive": origin.positive,
        "components": origin.components,
    }


def _read_origin(record: Record) -> Origin:
    if record.has("preset"):
        name = record.text("preset", PRESETS)
        if not PRESETS[name].slides:
            return Origin(name=name, drawing=PRESETS[name].drawing)
        n, margin, noise, seed = record.numbers("drawing", 4).tolist()
        if n != int(n) or seed != int(seed) or seed > LARGEST_SEED:
            raise DataError("the number of points and the seed must be whole numbers")
        return Origin(name=name, drawing=Drawing(int(n), margin, noise, int(seed)))
    columns = record.texts("columns")
    if len(columns) > MOST_COLUMNS:
        raise DataError(f"it has {len(columns)} columns, where {MOST_COLUMNS} are allowed")
    return Origin(
        "table",
        record.text("table"),
        columns=columns,
        positive=record.text("positive"),
        components=record.whole("components", most=3),
        digest=record.text("digest"),
    )


# Panes


def _pane_content(pane: PaneOptions) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pane.changes().items()}


def _read_pane(record: Record) -> PaneOptions:
    known = {field.name for field in fields(PaneOptions)}
    strange = [name for name in record.values if name not in known]
    if strange:
        raise DataError(f"{record.place} has an option {strange[0][:40]!r} that no pane has")
    values = dict(record.values)
    if isinstance(values.get("start"), list):
        values["start"] = tuple(record.numbers("start").tolist())
    return PaneOptions(**values)


# Points


def _edits(before: Points, after: Points) -> dict[str, Any]:
    """Return what was changed by hand: ids that are gone, and [id, label, *coordinates] of those changed or added."""
    places = {int(point): place for place, point in enumerate(before.ids)}
    gone = sorted(set(places) - set(after.ids.tolist()))
    changed = []
    for point, label, row in zip(after.ids.tolist(), after.y.tolist(), after.X.tolist(), strict=True):
        place = places.get(point)
        if place is None or before.y[place] != label or before.X[place].tolist() != row:
            changed.append([point, int(label), *row])
    return {"gone": gone, "changed": changed}


def _edited(before: Points, record: Record) -> Points:
    gone = record.numbers("gone")
    changed = record.matrix("changed", before.dimension + 2)
    kept = ~np.isin(before.ids, np.append(gone, changed[:, 0]))
    X, y = np.vstack([before.X[kept], changed[:, 2:]]), np.append(before.y[kept], changed[:, 1])
    ids = np.append(before.ids[kept].astype(np.float64), changed[:, 0])
    _refuse_strange(ids, y)
    reach = max(LARGEST, float(np.abs(before.X).max()))
    if (np.abs(changed[:, 2:]) > reach).any():
        raise DataError(f"points of the link are further out than {reach:g}")
    order = np.argsort(ids)
    return make_points(X[order], y[order], ids[order].astype(np.int64), before.names, before.labels)


def _refuse_strange(ids: Any, y: Any) -> None:
    """Refuse points that no session could have come to."""
    strange = (ids != np.rint(ids)) | (ids < 0.0) | (ids > LARGEST_ID)
    if len(ids) > MOST + MOST_ROWS or len(np.unique(ids)) < len(ids) or strange.any():
        raise DataError("points of the link have the same number, or none that counts points")
    if not np.isin(y, (-1.0, 1.0)).all() or len(np.unique(y)) < 2:
        raise DataError("points of the link are not of two classes, −1 and +1")
