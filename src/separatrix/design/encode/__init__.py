"""From typed columns to the matrix of a design, decided once in training and applied alike ever after."""

from separatrix.design.encode.base import ColumnEncoding, ColumnReport, add_reports
from separatrix.design.encode.boolean import BooleanEncoding
from separatrix.design.encode.category import CategoryEncoding
from separatrix.design.encode.choose import MAX_LEVELS
from separatrix.design.encode.date import DateEncoding
from separatrix.design.encode.encoding import POLICIES, Encoded, Encoding, Omitted
from separatrix.design.encode.filled import FilledEncoding
from separatrix.design.encode.number import NumberEncoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.design.encode.presence import PresenceEncoding
from separatrix.design.encode.stored import encode_source, row_blocks
from separatrix.design.encode.text import TextEncoding

__all__ = [
    "MAX_LEVELS",
    "POLICIES",
    "BooleanEncoding",
    "CategoryEncoding",
    "ColumnEncoding",
    "ColumnReport",
    "DateEncoding",
    "Encoded",
    "Encoding",
    "FilledEncoding",
    "NumberEncoding",
    "Omitted",
    "PresenceEncoding",
    "TextEncoding",
    "add_reports",
    "encode_source",
    "plan_encoding",
    "row_blocks",
]
