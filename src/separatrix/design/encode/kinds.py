"""The kinds of encoding, by the word that a model file has for them."""

from __future__ import annotations

from separatrix.codec import Record
from separatrix.design.encode.base import ColumnEncoding
from separatrix.design.encode.boolean import BooleanEncoding
from separatrix.design.encode.category import CategoryEncoding
from separatrix.design.encode.date import DateEncoding
from separatrix.design.encode.number import NumberEncoding
from separatrix.design.encode.presence import PresenceEncoding
from separatrix.design.encode.text import TextEncoding
from separatrix.errors import ModelFileError

_KINDS: tuple[type[ColumnEncoding], ...] = (
    NumberEncoding,
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    TextEncoding,
    PresenceEncoding,
)
ALL: dict[str, type[ColumnEncoding]] = {kind.kind: kind for kind in _KINDS}


def column_from_record(record: Record) -> ColumnEncoding:
    """Make a column's encoding from what its `to_dict` returned; its features must be those that it says."""
    encoding = ALL[record.text("kind", ALL)].from_record(record)
    if record.texts("features") != encoding.names:
        raise ModelFileError(f"{record.at('features')} are not those of its encoding; the file was altered")
    return encoding
