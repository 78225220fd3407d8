"""Text files (csv, tsv, …) loaded into a raw table, parsed by DuckDB in parallel.

Preparation: the encoding and the dialect are detected on the first 256 kB, or more if lines are long. Rows from seven
later places of the file join the sample, so that a late word, or a late code with leading zeros, keeps a column from
being taken for numbers. Files in another encoding, or with mixed line ends, are copied once to a scratch folder as
UTF-8.

Loading: a column whose sample has plain numbers only is parsed as DOUBLE. If this fails, one more pass finds all
columns with other cells, and these are read as text. If a row has too few or too many fields, the file is read again
in Python up to that row, so that the error can name the line.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from string import whitespace
from typing import IO

from separatrix.errors import DataError, counted
from separatrix.tables.connection import Connection, first_line, literal, literal_list, memory_error, path_literal
from separatrix.tables.files import File, empty_file, open_unpacked
from separatrix.tables.formats import MISSING_ANYWHERE, has_codes, is_plain_number
from separatrix.tables.raw import (
    RAW,
    RawTable,
    column_names,
    first_rounded,
    large_columns,
    refuse_other_columns,
    without_empty_rows,
)
from separatrix.tables.sniff import CharacterEncoding, Dialect, detect_encoding, find_dialect, records_of, rewrite

PIECE = 1 << 22  # bytes scanned at a time
SAMPLE = 1 << 18  # bytes at the start of the file
FIRST_LINES, LARGEST_SAMPLE = 30, 1 << 23  # least number of lines of the sample, up to this many bytes
LATER_SAMPLES, LATER_SAMPLE = 7, 1 << 15  # number of further samples, and bytes of each
CONTROL = re.compile(r"[\x00\x02-\x08\x0b\x0e-\x1a]")
MAX_CONTROLS = 0.05  # share of control characters; a table has next to none
LONE_FEED, FEED = re.compile(r"(?<!\r)\n"), "\r\n"
BYTE_ORDER_MARK = "\ufeff"
ZSTD_LINES = 2000  # lines that DuckDB samples, as Python cannot unpack zstd
BUFFER = 4 << 20  # bytes that DuckDB parses at a time: less memory than its default, and no slower
INTEGER = "[-+]?[0-9]+"
COMMON_MISSING = ("", "NA")
# DuckDB's messages on another encoding and on mixed line ends
FIXED_BY_REWRITING = ("not utf-8 encoded", "state machine reached an invalid state")
SHOWN = 60  # characters of a faulty line in a message


@dataclass(frozen=True)
class TextFile:
    """A text file that DuckDB can read, perhaps rewritten, with its dialect."""

    file: File
    rewritten: bool
    dialect: Dialect


def prepare_text(
    connection: Connection,
    file: File,
    scratch: Path,
    separator: str | None = None,
    *,
    rewrite_as: CharacterEncoding | None = None,
) -> TextFile:
    """Return a file prepared for `load_text`, rewritten if an encoding is given; a DataError if it is not text."""
    head, whole = _head(connection, file)
    encoding = rewrite_as or detect_encoding(head)
    sample = head.decode(encoding.codec, errors="replace")
    _refuse_binary(sample, file.name)
    if whole and not sample.strip(BYTE_ORDER_MARK + whitespace):
        raise empty_file(file.name)
    mixed = FEED in sample and LONE_FEED.search(sample) is not None
    notes = [] if encoding.is_plain else [f"read as {encoding.name}: {encoding.evidence}"]
    rewritten = rewrite_as is not None or mixed or not encoding.is_plain
    if rewritten:
        file = _rewritten(file, encoding, scratch)
        notes += ["line ends of two kinds are both accepted"] if mixed else []
    sample = sample.replace(FEED, "\n").replace("\r", "\n")
    dialect = find_dialect(sample, whole=whole, separator=separator)
    rows = (*dialect.rows, *_later_rows(file, dialect))
    return TextFile(file, rewritten, replace(dialect, rows=rows, notes=(*notes, *dialect.notes)))


def _prepare_again(connection: Connection, text: TextFile, scratch: Path) -> TextFile:
    """Prepare a file again, rewritten: after its sample it is not UTF-8, or its line ends are mixed."""
    with open_unpacked(text.file) as stream:
        encoding = detect_encoding(_non_ascii_lines(stream))
    return prepare_text(connection, text.file, scratch, text.dialect.separator, rewrite_as=encoding)


def _refuse_binary(sample: str, name: str) -> None:
    control = CONTROL.search(sample)
    if control and (control[0] == "\x00" or len(CONTROL.findall(sample)) > MAX_CONTROLS * len(sample)):
        line = sample.count("\n", 0, control.start()) + 1
        raise DataError(f"{name!r} has control bytes, first in line {line}; it is probably not a text table")


def _head(connection: Connection, file: File) -> tuple[bytes, bool]:
    """Return the bytes at the start of a file, enough for its first lines, and whether they are all."""
    if file.compression == "zstd":
        head = _first_lines(connection, file)
        return head, len(head) < SAMPLE
    with open_unpacked(file) as stream:
        head = stream.read(SAMPLE)
        while len(head) < LARGEST_SAMPLE and head.count(b"\n") + head.count(b"\r") < FIRST_LINES:
            more = stream.read(SAMPLE)
            if not more:
                return head, True
            head += more
        return head, len(head) < SAMPLE


def _first_lines(connection: Connection, file: File) -> bytes:
    """Return the first lines of a zstd file, which only DuckDB can unpack."""
    read = (
        f"read_csv({path_literal(file.path)}, auto_detect = false, delim = '\x1e', quote = '', escape = '',"
        " header = false, compression = 'zstd', columns = {'line': 'VARCHAR'})"
    )
    lines = connection.execute(f"SELECT line FROM {read} LIMIT {ZSTD_LINES}").fetchall()
    text = "\n".join(line or "" for (line,) in lines) + "\n"
    return text.encode()[:LARGEST_SAMPLE]


def _non_ascii_lines(stream: IO[bytes]) -> bytes:
    """Return the first lines that are not ASCII, up to the size of a sample."""
    result, size = [], 0
    while size < SAMPLE and (lines := stream.readlines(SAMPLE)):
        special = [line for line in lines if not line.isascii()]
        result += special
        size += sum(map(len, special))
    return b"".join(result)


def _rewritten(file: File, encoding: CharacterEncoding, scratch: Path) -> File:
    path = next(candidate for k in itertools.count() if not (candidate := scratch / f"text_{k}.csv").exists())
    with open_unpacked(file) as source, path.open("wb") as target:
        rewrite(source, target, encoding, file.name)
    return replace(file, path=path, compression="none")


def _later_rows(file: File, dialect: Dialect) -> Iterator[tuple[str, ...]]:
    """Yield complete rows from later places of an uncompressed file."""
    if file.compression != "none" or (size := file.path.stat().st_size) <= SAMPLE:
        return
    with file.path.open("rb") as stream:
        for number in range(1, LATER_SAMPLES + 1):
            stream.seek(SAMPLE + max(size - SAMPLE - LATER_SAMPLE, 0) * number // LATER_SAMPLES)
            part = stream.read(LATER_SAMPLE).decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n", 1)[-1]
            records = records_of(part, dialect.separator, dialect.escape)[:-1]
            yield from (tuple(record) for record in records if len(record) == len(dialect.names))


def load_text(
    connection: Connection,
    texts: Sequence[TextFile],
    scratch: Path,
    text_columns: Collection[str],
    missing: Sequence[str],
) -> RawTable:
    """Return the raw table of text files.

    The columns in `text_columns` are not parsed; `missing` are further words for missing values.
    """
    files, missing_words = list(texts), (*MISSING_ANYWHERE, *missing)
    names, notes = common_names(files)
    types = ["VARCHAR" if name in text_columns else _type(files, k, missing_words) for k, name in enumerate(names)]
    # DuckDB replaces the words for missing values in the sample, each at a cost per cell; others are replaced later.
    cells = {cell for text in files for row in text.dialect.rows for cell in row}
    sample_words = tuple(word for word in missing_words if word in cells)
    _fill_or_retry(connection, files, types, tuple(dict.fromkeys((*COMMON_MISSING, *missing, *sample_words))), scratch)
    _refuse_trailing_fields(connection, files)
    comma = any(text.dialect.decimal_comma for text in files)
    file_notes = tuple(dict.fromkeys(note for text in files for note in text.dialect.notes))
    raw = RawTable(
        names, tuple(types), (*file_notes, *notes), decimal_comma=comma, from_text=True, missing_words=sample_words
    )
    raw = replace(raw, rounded=_rounded(connection, files, raw, missing_words))
    return without_empty_rows(connection, raw, [not name.strip() for name in files[0].dialect.names])


def _rounded(
    connection: Connection, files: Sequence[TextFile], raw: RawTable, missing_words: Sequence[str]
) -> dict[str, tuple[str, int]]:
    """Return the first integer that DOUBLE cannot represent, and its row, by column."""
    rounded: dict[str, tuple[str, int]] = {}
    for place in large_columns(connection, raw):
        before = 0
        for text in files:
            source = _reader(text, ["VARCHAR"] * len(raw.names), missing_words)
            first = first_rounded(connection, f"trim(c{place})", source, f"regexp_full_match(cell, '{INTEGER}')")
            if first is not None:
                rounded[raw.names[place]] = first[0], first[1] + before
                break
            before += connection.execute(f"SELECT count(*) FROM {source}").fetchone()[0]
    return rounded


def common_names(texts: Sequence[TextFile]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the column names and notes; a DataError names the first difference between the files' headers."""
    names, notes = column_names(texts[0].dialect.names)
    for text in texts[1:]:
        others, _ = column_names(text.dialect.names)
        refuse_other_columns(texts[0].file.name, dict.fromkeys(names, ""), text.file.name, dict.fromkeys(others, ""))
    return names, notes


def _type(texts: Sequence[TextFile], index: int, missing_words: Sequence[str]) -> str:
    """Return the type as which to parse a column: DOUBLE if its sample has only plain numbers, and no codes."""
    cells = [row[index] for text in texts for row in text.dialect.rows]
    non_missing = [cell for cell in cells if cell not in missing_words]
    comma = any(text.dialect.decimal_comma for text in texts)
    if not non_missing or not all(map(is_plain_number, non_missing)) or has_codes(non_missing):
        return "VARCHAR"
    return "VARCHAR" if comma and any("." in cell for cell in non_missing) else "DOUBLE"


def _fill_or_retry(
    connection: Connection, files: list[TextFile], types: list[str], missing_words: Sequence[str], scratch: Path
) -> None:
    """Fill the raw table; if a file differs from its sample, change `files` or `types` and try again."""
    import duckdb  # noqa: PLC0415  # takes 0.1 s, and demos do without it

    late_words = False
    while True:
        index = 0
        try:
            if late_words:
                types[:] = _types_of_all_rows(connection, files, types, missing_words)
            for index, text in enumerate(files):
                into = f"INSERT INTO {RAW}" if index else f"CREATE OR REPLACE TABLE {RAW} AS"
                connection.execute(f"{into} SELECT * FROM {_reader(text, types, missing_words)}")
        except duckdb.OutOfMemoryException as problem:
            raise memory_error(files[index].file.name, problem) from problem
        except duckdb.ConversionException as problem:
            if late_words:
                raise _reading_error(files[index], problem) from problem
            late_words = True
        except duckdb.Error as problem:
            named = (k for k, text in enumerate(files) if f"file = {text.file.path}\n" in str(problem))
            index = next(named, index)
            text, may_help = files[index], any(message in str(problem) for message in FIXED_BY_REWRITING)
            if not may_help or text.rewritten or text.file.compression == "zstd":
                raise _reading_error(text, problem) from problem
            files[index] = _prepare_again(connection, text, scratch)
        else:
            return


def _reader(text: TextFile, types: Sequence[str], missing_words: Sequence[str]) -> str:
    """Return the DuckDB call that reads a text file, with every option given and nothing left to detection."""
    dialect = text.dialect
    columns = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(types))
    nulls = literal_list(word for word in missing_words if dialect.separator not in word and '"' not in word)
    return (
        f"read_csv({path_literal(text.file.path)}, auto_detect = false, strict_mode = true,"
        f" delim = {literal(dialect.separator)}, quote = '\"', escape = {literal(dialect.escape)},"
        f" header = false, skip = {dialect.skip}, compression = '{text.file.compression}', nullstr = [{nulls}],"
        f" columns = {{{columns}}}, buffer_size = {BUFFER})"
    )


def _types_of_all_rows(
    connection: Connection, files: Sequence[TextFile], types: Sequence[str], missing_words: Sequence[str]
) -> list[str]:
    """Return the types, with VARCHAR for each column that has a cell, in any file, that is not a number."""
    numbers = [k for k, kind in enumerate(types) if kind == "DOUBLE"]
    has_text = ", ".join(f"bool_or(c{k} IS NOT NULL AND TRY_CAST(c{k} AS DOUBLE) IS NULL)" for k in numbers)
    late: set[int] = set()
    for text in files:
        reader = _reader(text, ["VARCHAR"] * len(types), missing_words)
        row = connection.execute(f"SELECT {has_text} FROM {reader}").fetchone()
        late |= {k for k, is_text in zip(numbers, row, strict=True) if is_text}
    return ["VARCHAR" if k in late else kind for k, kind in enumerate(types)]


def _reading_error(text: TextFile, problem: Exception) -> DataError:
    """Return the error for a file that DuckDB cannot read, with the faulty line where there is one."""
    name, message = text.file.name, str(problem)
    number = message.split("CSV Error on Line: ", 1)[-1].split("\n", 1)[0]
    line = f"line {number} or one after it" if number.isdigit() else "a line"
    if (ragged := _ragged_error(text)) is not None:
        return ragged
    if "unterminated quote" in message:
        return DataError(f"{name!r}: {line} has a quote that is not closed; close it, or write it twice")
    if "Maximum line size" in message or "max_line_size" in message:
        return DataError(f"{name!r}: {line} is longer than 2 MB; a quote may be unclosed, or it is not a text table")
    return DataError(f"{name!r} cannot be read: {first_line(problem)}; save it as UTF-8 text with one header line")


def _refuse_trailing_fields(connection: Connection, files: Sequence[TextFile]) -> None:
    """Raise a DataError for a row with an extra empty field at its end, which DuckDB accepts.

    There is one only if more lines end with a separator than rows have an empty last field.
    """
    last = f"c{len(files[0].dialect.names) - 1}"
    empty = connection.execute(f"SELECT count(*) FILTER ({last} IS NULL) FROM {RAW}").fetchone()[0]
    if sum(map(_trailing_separators, files)) <= empty:
        return
    for text in files:
        if (ragged := _ragged_error(text)) is not None:
            raise ragged


def _trailing_separators(text: TextFile) -> int:
    """Return the number of lines that end with a separator; 0 for zstd files, which Python cannot unpack."""
    if text.file.compression == "zstd":
        return 0
    separator, count, last = text.dialect.separator.encode(), 0, b""
    with open_unpacked(text.file) as stream:
        while piece := stream.read(PIECE):
            count += sum((last + piece).count(separator + end) for end in (b"\n", b"\r"))
            last = piece[-1:]
    return count + (last == separator)


def _ragged_error(text: TextFile) -> DataError | None:
    """Return the error that names the first row with too few or too many fields, None if there is none."""
    dialect, width, last_line = text.dialect, len(text.dialect.names), 0
    escape = None if dialect.escape == '"' else dialect.escape
    with open_unpacked(text.file) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
        reader = csv.reader(lines, delimiter=dialect.separator, escapechar=escape)
        with suppress(csv.Error, UnicodeDecodeError):
            for number, record in enumerate(reader):
                if number >= dialect.skip and record and len(record) != width:
                    others = "header has" if dialect.has_header else "others have"
                    return DataError(
                        f"{text.file.name!r}: line {last_line + 1} has {counted(len(record), 'field')} where the"
                        f" {others} {width}: {dialect.separator.join(record)[:SHOWN]!r};"
                        " give every row the same number of fields, quote a field that holds the separator, or give"
                        " another separator (--separator)"
                    )
                last_line = reader.line_num
    return None
