"""Detection of a text file's dialect (separator, preamble, header) and character encoding.

Dialect. The csv module splits a sample of the file at each common separator. The best one splits the most records into
equally many fields, and the most fields into numbers, dates and missing values, below a first record of words. Records
before the first one of full width are a preamble. The first full record is the header, unless it has a number, or words
that recur in their column. Cost: one pass over the sample per separator. If none splits the records alike, the file has
a single column; other separators must be given.

Encoding. A byte order mark decides; otherwise bytes that are valid UTF-8 are UTF-8, since text in another encoding
hardly ever is. Otherwise each candidate decodes the sample, and the one whose characters look most like a language
wins: kana for Japanese, common Chinese and Korean characters, whole words of Cyrillic letters; else Western European,
which any bytes can be. Cost: one pass over the sample per candidate; a file in another encoding is rewritten once, in
pieces. Fails on short texts with few special characters.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import IO

from separatrix.errors import DataError, OptionError
from separatrix.tables.formats import (
    date_candidates,
    is_missing_word,
    is_number,
    is_plain_number,
    number_format,
    proves_decimal_comma,
)

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
NO_SEPARATOR = "\x1e"  # a character that no cell contains, for files of one column
LONGEST_PREAMBLE = 25  # records
EXAMINED = 100  # records whose cells are examined
FULL_SHARE = 0.5  # of the records must have the same width for a separator to be plausible
HEADER_SCORE = 0.5  # for a first full record of words only
TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
YEAR = re.compile(r"(1[89]|20|21)\d\d")

PIECE = 1 << 20  # bytes rewritten at a time
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
# Characters that are frequent in texts of the language, after their least share of the special characters.
FREQUENT = (
    ("cp932", "Shift-JIS", 0.1, re.compile("[\u3001\u3002\u3041-\u3093\u30a1-\u30f4\u30fc]")),
    ("euc_jp", "EUC-JP", 0.1, re.compile("[\u3001\u3002\u3041-\u3093\u30a1-\u30f4\u30fc]")),
    ("euc_kr", "EUC-KR", 0.5, re.compile("[\uac00-\ud7a3]")),
    ("gb18030", "GB 18030", 0.1, re.compile("[的一是不了人我在有他这为之大来以个中上们，。]")),
    ("big5", "Big5", 0.1, re.compile("[的一是不了人我在有他這為之大來以個中上們，。]")),
)
CYRILLIC_WORD = re.compile("[а-яё]{3,}", re.IGNORECASE)
SPECIAL = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True)
class Dialect:
    """How a text file writes a table: after `skip` records, rows with one field per name."""

    separator: str
    escape: str
    skip: int
    names: tuple[str, ...]  # empty where the header has none
    has_header: bool
    decimal_comma: bool
    rows: tuple[tuple[str, ...], ...]  # of the sample
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Split:
    """The records of a sample, split at one separator."""

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
        """The share of records of full width, plus that of their typed cells, plus a constant for a first of words."""
        full = [record for record in self.filled if len(record) == self.width]
        if self.width < 2 or len(full) < FULL_SHARE * len(self.filled):
            return 0.0
        typed = [_is_typed(cell) for record in full[:EXAMINED] for cell in record]
        header = HEADER_SCORE * (not any(_is_value(cell) for cell in full[0]))
        return len(full) / len(self.filled) + sum(typed) / len(typed) + header

    @property
    def start(self) -> int:
        """The number of records before the table."""
        filled = [k for k, record in enumerate(self.records) if not _is_blank(record)]
        if self.width < 2 or not filled:
            return filled[0] if filled else 0
        for k, following in pairwise((*filled, filled[-1])):
            record, below = self.records[k], self.records[following]
            short = len(record) == self.width - 1 > 1 and len(below) == self.width  # a header may be one name short
            if len(record) >= self.width or (short and any(map(_is_typed, below))):
                return k if k <= LONGEST_PREAMBLE else filled[0]
        return filled[0]


def find_dialect(sample: str, *, whole: bool, separator: str | None = None) -> Dialect:
    """Return the dialect of a text from a sample at its start, or from all of it if `whole`."""
    escapes = ("\\", '"') if '\\"' in sample else ('"',)
    candidates = SEPARATORS if separator is None else (separator,)
    splits = [_split(sample, candidate, escape, whole) for escape in escapes for candidate in candidates]
    best = max(splits, key=lambda split: split.score)
    if separator is None and not best.score:
        best = _split(sample, NO_SEPARATOR, '"', whole)
    if separator not in {None, NO_SEPARATOR} and best.width < 2:
        raise OptionError(f"separator={separator!r} does not separate the fields of most lines; give the one that does")
    return _dialect(best)


def records_of(text: str, separator: str, escape: str) -> list[list[str]]:
    """Return the records of a text, with blank lines as empty records, up to an error of the csv module."""
    escaped = None if escape == '"' else escape
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, escapechar=escaped)
    records = []
    with suppress(csv.Error):  # a quote that is never closed
        for record in reader:
            records.append(record)  # noqa: PERF402  # keeps the records before an error
    return records


def _split(sample: str, separator: str, escape: str, whole: bool) -> _Split:
    records = records_of(sample, separator, escape)
    return _Split(separator, escape, records if whole or len(records) < 2 else records[:-1])


def _dialect(split: _Split) -> Dialect:
    width, start = max(split.width, 1), split.start
    filled = [record for record in split.records[start:] if not _is_blank(record)]
    header, body = (filled[0], filled[1:]) if filled else ([], [])
    full = [record for record in body if len(record) == width]
    names = _names(header, full, width)
    has_header = names is not None and _is_header(names, full)
    rows = full if has_header else [record for record in filled if len(record) == width]
    columns = list(zip(*rows, strict=True))
    return Dialect(
        split.separator,
        split.escape,
        start + has_header,
        tuple(names) if names is not None and has_header else ("",) * width,
        has_header,
        _uses_decimal_comma(columns),
        tuple(map(tuple, rows)),
        tuple(_notes(split, names if has_header else None, header, full)),
    )


def _names(header: list[str], rows: list[list[str]], width: int) -> list[str] | None:
    """Return one name per field: a header that is one short lacks a name for the row names or an empty last field."""
    if len(header) == width:
        return header
    if len(header) == width + 1 and not header[-1].strip():
        return header[:-1]
    if len(header) != width - 1 or not rows:
        return None
    return [*header, ""] if all(not row[-1].strip() for row in rows) else ["", *header]


def _is_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a record is a header: no numbers unless they count; words that do not recur, or over numbers."""
    non_empty = [name for name in names if name.strip()]
    if not non_empty:
        return False
    numbers = [name for name in non_empty if _is_value(name)]
    if numbers:
        return _counts_columns(numbers)
    recurring = sum(any(row[k] == name for row in rows) for k, name in enumerate(names) if name.strip())
    return 2 * recurring < len(non_empty) or _words_over_values(names, rows)


def _words_over_values(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a first record has a word over a column of numbers or dates, which proves it a header."""
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return any(not is_missing_word(name) and not _is_value(name) and _are_values(cells) for name, cells in columns)


def _are_values(cells: Sequence[str]) -> bool:
    """Return whether all non-missing cells are numbers or dates."""
    non_missing = [cell for cell in cells if not is_missing_word(cell)]
    return bool(non_missing) and all(map(_is_value, non_missing))


def _counts_columns(numbers: list[str]) -> bool:
    """Return whether the numbers in a first record are 0, 1, 2, … or consecutive years, and so names."""
    if len(numbers) < 3 or not all(number.strip().isdigit() for number in numbers):
        return False
    integers = [int(number) for number in numbers]
    consecutive = all(after == before + 1 for before, after in pairwise(integers))
    return consecutive and (integers[0] == 0 or all(YEAR.fullmatch(number.strip()) for number in numbers))


def _uses_decimal_comma(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether some column proves decimal commas, and none decimal points."""
    non_missing = [[cell.strip() for cell in column[:EXAMINED] if not is_missing_word(cell)] for column in columns]
    if not any(map(proves_decimal_comma, non_missing)):
        return False
    return not any(
        cells and all(map(is_plain_number, cells)) and number_format(cells, decimal_comma=True)[0].decimal == "."
        for cells in non_missing
    )


def _notes(split: _Split, names: list[str] | None, header: list[str], rows: list[list[str]]) -> list[str]:
    """Return notes on the separator, the preamble, and a header (`names`) that is absent, short or not certain."""
    separator = SEPARATORS.get(split.separator, repr(split.separator))
    notes = [f"fields are separated by {separator}"] if split.separator not in {",", NO_SEPARATOR} else []
    preamble = [record for record in split.records[: split.start] if not _is_blank(record)]
    if preamble:
        shown = split.separator.join(preamble[0])[:40]
        notes.append(f"{len(preamble)} line{'s' * (len(preamble) > 1)} before the table left out: {shown!r}")
    if names is None:
        notes.append(f"the file has no header; columns are called column_1 to column_{max(split.width, 1)}")
    elif len(header) == len(names) - 1:
        notes.append("the header has one name fewer than the rows have fields")
    if names is not None and rows and not _words_over_values(names, rows):
        shown = ", ".join(map(repr, names[:3])) + ", …" * (len(names) > 3)
        notes.append(f"line {split.start + 1} is taken as the header: {shown}; if it is data, add a header above it")
    return notes + (["quotes within quotes are escaped by a backslash"] if split.escape == "\\" else [])


def _is_blank(record: Sequence[str]) -> bool:
    return not record or (len(record) == 1 and not record[0].strip())


def _is_value(cell: str) -> bool:
    return is_number(cell) or bool(date_candidates([cell]))


def _is_typed(cell: str) -> bool:
    return is_missing_word(cell) or _is_value(cell) or TIME.fullmatch(cell) is not None


@dataclass(frozen=True)
class CharacterEncoding:
    """An encoding: Python's name for it, its usual name, and the evidence for it."""

    codec: str
    name: str
    evidence: str

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB reads the file as it is."""
        return self.codec in {"utf-8", "utf-8-sig"}


def detect_encoding(sample: bytes) -> CharacterEncoding:
    """Return the encoding of a text from its first bytes, which may end within a character."""
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
    shares = [(_share(sample, codec, frequent), least, codec, name) for codec, name, least, frequent in FREQUENT]
    share, least, codec, name = max(shares, key=lambda entry: entry[0] / entry[1])
    cyrillic = _decoded(sample, "cp1251") or ""
    if share >= least:
        evidence = f"read as such, {share:.0%} of its special characters are common"
    elif len("".join(CYRILLIC_WORD.findall(cyrillic))) > 0.8 * len(SPECIAL.findall(cyrillic)):
        codec, name, evidence = "cp1251", "Windows-1251", "read as such, its words are Cyrillic throughout"
    elif any(0x80 <= byte < 0xA0 for byte in sample) and _decoded(sample, "cp1252") is not None:
        codec, name, evidence = "cp1252", "Windows-1252", "has bytes that only Windows uses for letters"
    else:
        codec, name, evidence = "latin-1", "Latin-1", "nothing indicates another language"
    return CharacterEncoding(codec, name, f"it is not UTF-8, and {evidence}")


def _share(sample: bytes, codec: str, frequent: re.Pattern[str]) -> float:
    """Return the share of frequent characters among the special ones, 0 if the bytes are not in this encoding."""
    text = _decoded(sample, codec)
    special = [] if text is None else SPECIAL.findall(text)
    return sum(frequent.match(sign) is not None for sign in special) / len(special) if special else 0.0


def _decoded(sample: bytes, codec: str) -> str | None:
    """Return the decoded sample without an incomplete character at its end, None if it is not in this encoding."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return None


def rewrite(source: IO[bytes], target: IO[bytes], encoding: CharacterEncoding, name: str) -> None:
    """Copy a text as UTF-8 with Unix line ends, piece by piece; a DataError names the line of an invalid byte."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding.codec)(), translate=True)
    piece, line = b"start", 1
    while piece:
        piece = source.read(PIECE)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as problem:
            line += piece[: problem.start].count(b"\n")
            raise DataError(
                f"{name!r}: line {line} has a byte that is not valid {encoding.name}; save the file as UTF-8"
            ) from problem
        target.write(text.encode("utf-8"))
        line += text.count("\n")
