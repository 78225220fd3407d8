"""How a text file writes its table: what separates fields, which lines come before it, and whether it has a header.

Found on a sample of its records, as the csv module reads them. The separator is the sign that cuts the most records
into equally many fields, and the most fields into numbers, dates and gaps. A record before the first of full width is
no part of the table. The first full record is the header unless it holds a number, or words that come again in their
column. Cost: a pass over the sample for each separator tried. Fails where nothing is repeated: then the file is one
column.

In which encoding a text file is written, by evidence: a byte order mark, else what its bytes can be.

UTF-8 is so strict that text in another encoding hardly ever passes for it. Where it fails, each candidate is tried on
the bytes, and the one whose characters look most like a language is taken: kana for the Japanese ones, common Chinese
and Korean letters, whole words of Cyrillic letters; else Western European, which any bytes can be. Cost: a pass over
the sample; a file that is not UTF-8 is rewritten once, in pieces, to a temporary file. Fails on a short text with few
special letters.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import IO

from separatrix.errors import DataError
from separatrix.tables.formats import (
    date_candidates,
    is_missing_word,
    is_number,
    is_plain_number,
    number_format,
    proves_decimal_comma,
)

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
RARE_SEPARATORS = {" ": "blanks", ":": "colons", "^": "carets", "~": "tildes", "\x01": "control-A", "\x1f": "control-_"}
NO_SEPARATOR = "\x1e"  # a sign that no table has in a cell: the file is one column
LONGEST_PREAMBLE = 25  # records before a table
JUDGED = 100  # records whose cells are looked at
FULL_SHARE = 0.5  # of the records must have the same width for a separator to be believed
RARE_TYPED, RARE_GAIN = 0.4, 0.25  # cells that must be typed for a rare separator, and how many more than whole lines
TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
YEAR = re.compile(r"(1[89]|20|21)\d\d")


@dataclass(frozen=True)
class Dialect:
    """What it takes to read a text as a table: `skip` records, then rows of as many fields as there are `names`."""

    separator: str
    escape: str
    skip: int
    names: tuple[str, ...]  # as in the header; empty where it has none
    has_header: bool
    decimal_comma: bool
    rows: tuple[tuple[str, ...], ...]  # of the sample
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Cut:
    """The records of a sample, cut at one separator."""

    separator: str
    escape: str
    records: list[list[str]]

    @cached_property
    def filled(self) -> list[list[str]]:
        return [record for record in self.records if not _is_blank(record)]

    @cached_property
    def width(self) -> int:
        widths = Counter(map(len, self.filled))
        return max(widths, key=lambda width: (widths[width], width), default=0)

    @cached_property
    def score(self) -> float:
        """The share of records of full width, and of their cells that are a number, a date or a gap."""
        filled, width = self.filled, self.width
        full = [record for record in filled if len(record) == width]
        if width < 2 or len(full) < FULL_SHARE * len(filled):
            return 0.0
        typed = [_is_typed(cell) for record in full[:JUDGED] for cell in record]
        return len(full) / len(filled) + sum(typed) / len(typed)


def find_dialect(sample: str, *, whole: bool) -> Dialect:
    """Return the dialect of the text that begins with a sample, or is it, whole."""
    escapes = ("\\", '"') if '\\"' in sample else ('"',)
    cuts = [_cut(sample, sign, escape, whole) for escape in escapes for sign in SEPARATORS]
    best = max(cuts, key=lambda cut: cut.score)
    if not best.score:
        one = _cut(sample, NO_SEPARATOR, '"', whole)
        rare = max((_cut(sample, sign, '"', whole) for sign in RARE_SEPARATORS), key=lambda cut: cut.score)
        typed = sum(_is_typed(" ".join(record)) for record in one.filled[:JUDGED]) / max(len(one.filled[:JUDGED]), 1)
        best = rare if rare.score >= 1.0 + max(typed + RARE_GAIN, RARE_TYPED) else one
    return _described(best)


def records_of(text: str, separator: str, escape: str) -> list[list[str]]:
    """Return the records of a text, blank lines as empty ones, up to a field longer than the csv module allows."""
    escaped = None if escape == '"' else escape
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, escapechar=escaped)
    records = []
    with suppress(csv.Error):  # a quote that is never closed
        for record in reader:
            records.append(record)  # noqa: PERF402  # what was read before the fault is kept
    return records


def _cut(sample: str, separator: str, escape: str, whole: bool) -> _Cut:
    records = records_of(sample, separator, escape)
    return _Cut(separator, escape, records if whole or len(records) < 2 else records[:-1])


def _described(cut: _Cut) -> Dialect:
    width = max(cut.width, 1)
    least = width - 1 if width > 2 else width  # a header may be one name short
    start = next((k for k, record in enumerate(cut.records) if len(record) >= least and not _is_blank(record)), 0)
    if start > LONGEST_PREAMBLE or width == 1:
        start = next((k for k, record in enumerate(cut.records) if not _is_blank(record)), 0)
    filled = [record for record in cut.records[start:] if not _is_blank(record)]
    header, body = (filled[0], filled[1:]) if filled else ([], [])
    full = [record for record in body if len(record) == width]
    names = _fitted(header, full, width)
    has_header = names is not None and _is_header(names, full)
    rows = full if has_header else [record for record in filled if len(record) == width]
    columns = list(zip(*rows, strict=True))
    return Dialect(
        cut.separator,
        cut.escape,
        start + has_header,
        tuple(names) if names is not None and has_header else ("",) * width,
        has_header,
        _uses_decimal_comma(columns),
        tuple(map(tuple, rows)),
        tuple(_notes(cut, start, has_header, header, width)),
    )


def _fitted(header: list[str], rows: list[list[str]], width: int) -> list[str] | None:
    """Return as many names as fields: a header one short has no name for the row names, or for an empty last field."""
    if len(header) == width:
        return header
    if len(header) == width + 1 and not header[-1].strip():
        return header[:-1]
    if len(header) != width - 1 or not rows:
        return None
    return [*header, ""] if all(not row[-1].strip() for row in rows) else ["", *header]


def _is_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a record names columns: no number in it, unless they count; a word over numbers, or of no column."""
    told = [name for name in names if name.strip()]
    if not told:
        return False
    numbers = [name for name in told if _is_value(name)]
    if numbers:
        return _counts_columns(numbers)
    again = sum(any(row[k] == name for row in rows) for k, name in enumerate(names) if name.strip())
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return 2 * again < len(told) or any(not is_missing_word(name) and _are_values(cells) for name, cells in columns)


def _are_values(cells: Sequence[str]) -> bool:
    """Tell whether cells are numbers or dates wherever there is something."""
    told = [cell for cell in cells if not is_missing_word(cell)]
    return bool(told) and all(map(_is_value, told))


def _counts_columns(numbers: list[str]) -> bool:
    """Tell whether numbers in a first record are 0, 1, 2, … or years in a row: names after all."""
    if len(numbers) < 3 or not all(number.strip().isdigit() for number in numbers):
        return False
    whole = [int(number) for number in numbers]
    in_a_row = all(after == before + 1 for before, after in pairwise(whole))
    return in_a_row and (whole[0] == 0 or all(YEAR.fullmatch(number.strip()) for number in numbers))


def _uses_decimal_comma(columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether some column proves decimal commas, and none decimal points."""
    told = [[cell.strip() for cell in column[:JUDGED] if not is_missing_word(cell)] for column in columns]
    if not any(map(proves_decimal_comma, told)):
        return False
    return not any(
        cells and all(map(is_plain_number, cells)) and number_format(cells, decimal_comma=True)[0].decimal == "."
        for cells in told
    )


def _notes(cut: _Cut, start: int, has_header: bool, header: list[str], width: int) -> list[str]:
    known = SEPARATORS | RARE_SEPARATORS
    notes = [f"fields are separated by {known[cut.separator]}"] if cut.separator not in {",", NO_SEPARATOR} else []
    before = [record for record in cut.records[:start] if not _is_blank(record)]
    if before:
        shown = cut.separator.join(before[0])[:40]
        notes.append(f"{len(before)} line{'s' * (len(before) > 1)} before the table left out: {shown!r}")
    if not has_header:
        notes.append(f"the file has no header; columns are called column_1 to column_{width}")
    elif len(header) == width - 1:
        notes.append("the header has one name fewer than the rows have fields")
    return notes + (["a backslash stands before a quote within quotes"] if cut.escape == "\\" else [])


def _is_blank(record: Sequence[str]) -> bool:
    return not record or (len(record) == 1 and not record[0].strip())


def _is_value(cell: str) -> bool:
    return is_number(cell) or bool(date_candidates([cell]))


def _is_typed(cell: str) -> bool:
    return is_missing_word(cell) or _is_value(cell) or TIME.fullmatch(cell) is not None


PIECE = 1 << 20  # bytes rewritten at a time
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
# Characters that a text of the language is full of; all of the others of the encoding are rare in it.
TELLING = (
    ("cp932", "Shift-JIS", re.compile("[\u3001\u3002\u3041-\u3093\u30a1-\u30f4\u30fc]")),
    ("euc_jp", "EUC-JP", re.compile("[\u3001\u3002\u3041-\u3093\u30a1-\u30f4\u30fc]")),
    ("euc_kr", "EUC-KR", re.compile("[\uac00-\ud7a3]")),
    ("gb18030", "GB 18030", re.compile("[的一是不了人我在有他这为之大来以个中上们，。]")),
    ("big5", "Big5", re.compile("[的一是不了人我在有他這為之大來以個中上們，。]")),
)
LIKELY = {"euc_kr": 0.5}  # the share of telling characters among all special ones from which on a language is believed
LIKELY_SHARE = 0.1
CYRILLIC_WORD = re.compile("[а-яё]{3,}", re.IGNORECASE)
SPECIAL = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True)
class CharacterEncoding:
    """A name that Python knows, the name people use, and why it is believed."""

    codec: str
    name: str
    evidence: str

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB reads the file as it is."""
        return self.codec in {"utf-8", "utf-8-sig"}


def detect_encoding(sample: bytes) -> CharacterEncoding:
    """Return the encoding of a text of which the first bytes are given, perhaps cut off within a character."""
    for mark, codec, name in MARKS:
        if sample.startswith(mark):
            return CharacterEncoding(codec, name, "a byte order mark at its start")
    zeros = [sample[start : len(sample) // 2 * 2 : 2].count(0) for start in (0, 1)]
    if 5 * max(zeros) > len(sample) // 2 > 3:
        codec = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        return CharacterEncoding(codec, "UTF-16", "every second byte is zero")
    if _decoded(sample, "utf-8") is not None:
        return CharacterEncoding("utf-8", "UTF-8", "its bytes are valid UTF-8")
    return _by_language(sample)


def _by_language(sample: bytes) -> CharacterEncoding:
    shares = [(_share(sample, codec, telling), codec, name) for codec, name, telling in TELLING]
    share, codec, name = max(shares, key=lambda entry: entry[0] / LIKELY.get(entry[1], LIKELY_SHARE))
    if share >= LIKELY.get(codec, LIKELY_SHARE):
        return CharacterEncoding(
            codec, name, f"it is not UTF-8, and read so, {share:.0%} of its special characters are common"
        )
    cyrillic = _decoded(sample, "cp1251") or ""
    if len("".join(CYRILLIC_WORD.findall(cyrillic))) > 0.8 * len(SPECIAL.findall(cyrillic)):
        return CharacterEncoding(
            "cp1251", "Windows-1251", "it is not UTF-8, and read so, its words are Cyrillic throughout"
        )
    if any(0x80 <= byte < 0xA0 for byte in sample) and _decoded(sample, "cp1252") is not None:
        return CharacterEncoding(
            "cp1252", "Windows-1252", "it is not UTF-8, and has bytes that only Windows uses for letters"
        )
    return CharacterEncoding("latin-1", "Latin-1", "it is not UTF-8, and nothing tells another language")


def _share(sample: bytes, codec: str, telling: re.Pattern[str]) -> float:
    """Return the share of telling characters among the special ones, 0 if the bytes are not of this encoding."""
    text = _decoded(sample, codec)
    special = [] if text is None else SPECIAL.findall(text)
    return sum(telling.match(sign) is not None for sign in special) / len(special) if special else 0.0


def _decoded(sample: bytes, codec: str) -> str | None:
    """Return the text of a sample, its cut-off end left out, or None if it cannot be of this encoding."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None


def rewrite(source: IO[bytes], target: IO[bytes], encoding: CharacterEncoding, name: str) -> None:
    """Copy a text as UTF-8 with one kind of line end, piece by piece; a byte that is no text raises a DataError."""
    for text in _unix_lines(_texts(source, encoding, name)):
        target.write(text.encode("utf-8"))


def _texts(source: IO[bytes], encoding: CharacterEncoding, name: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    line = 1
    while True:
        piece = source.read(PIECE)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as problem:
            line += piece[: problem.start].count(b"\n")
            raise DataError(
                f"{name!r}: line {line} has a byte that is no {encoding.name} text; save the file as UTF-8"
            ) from problem
        yield text
        line += text.count("\n")
        if not piece:
            return


def _unix_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts with every \\r\\n and \\r as \\n, also where a piece ends between the two."""
    held = ""
    for text in texts:
        whole = held + text
        held = "\r" if whole.endswith("\r") else ""
        yield whole.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
    yield held.replace("\r", "\n")
