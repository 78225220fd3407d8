"""Text files into a raw table, parsed once by DuckDB, in parallel.

A column whose sample holds plain numbers only is parsed as DOUBLE straight away. Should a word come after all, one
more pass finds every column that has such, and these are read as text. Where a row has too few or too many fields,
the file is read again in Python up to there, to name the line.

A text file made ready for DuckDB: its encoding and its dialect found, and rewritten as UTF-8 where it must be.

The dialect is found on the first 256 kB; seven more places of the file are looked at, so that a column whose first
thousands of cells are numbers is not taken for one when a word or a code with leading zeros comes late. A file in
another encoding, or with line ends of two kinds, is copied once into a scratch folder.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import whitespace
from typing import IO, cast

from separatrix.errors import DataError, counted
from separatrix.tables.connection import Connection, first_line, literal, literal_list, memory_error, path_literal
from separatrix.tables.files import File, empty_file
from separatrix.tables.formats import MISSING_ANYWHERE, has_codes, is_plain_number
from separatrix.tables.raw import RAW, Raw, unique_names, without_empty_rows
from separatrix.tables.sniff import CharacterEncoding, Dialect, detect_encoding, find_dialect, records_of, rewrite

PIECE = 1 << 22  # bytes looked at in one go
SAMPLE = 1 << 18  # bytes at the start
PLACES, PLACE = 7, 1 << 15  # further places looked at, and bytes at each
CONTROL = re.compile(r"[\x00\x02-\x08\x0b\x0e-\x1a]")
FEW_CONTROLS = 0.05  # control characters among all; a table has next to none
LONE_FEED, FEED = re.compile(r"(?<!\r)\n"), "\r\n"
BYTE_ORDER_MARK = "\ufeff"
ZSTD_LINES = 2000  # of a file that Python cannot unpack


@dataclass(frozen=True)
class TextFile:
    """A text file as DuckDB can read it: where, compressed how, and in which dialect."""

    file: File
    path: Path
    compression: str
    encoding: CharacterEncoding
    dialect: Dialect
    notes: tuple[str, ...]


def prepare_text(connection: Connection, file: File, scratch: Path) -> TextFile:
    """Return a text file made ready; a file that is no text raises a DataError."""
    head = _head(connection, file)
    return _prepared(file, head, detect_encoding(head), scratch)


def prepare_text_anew(text: TextFile, scratch: Path) -> TextFile:
    """Return a file made ready after all of it was seen: it is not UTF-8 throughout, or its line ends are mixed."""
    encoding = text.encoding
    if encoding.is_plain:
        with _opened(text.file) as stream:
            encoding = detect_encoding(_special_bytes(stream))
    with _opened(text.file) as stream:
        head = stream.read(SAMPLE)
    return _prepared(text.file, head, encoding, scratch, must_rewrite=True)


def text_lines(text: TextFile) -> IO[str]:
    """Open the file that DuckDB was to read, as text."""
    stream = _opened(text.file) if text.path == text.file.path else text.path.open("rb")
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")


def trailing_separators(text: TextFile) -> int:
    """Return the number of lines that end in a separator; 0 for a file that Python cannot unpack."""
    if text.compression == "zstd":
        return 0
    sign, count, last = text.dialect.separator.encode(), 0, b""
    end = b"\r" if text.compression == "none" and b"\r" in _start(text.path) else b"\n"
    with _opened(text.file) if text.path == text.file.path else text.path.open("rb") as stream:
        while piece := stream.read(PIECE):
            piece = last + piece
            count += piece.count(sign + end)
            last = piece[-1:]
    return count + (last == sign)


def _start(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SAMPLE)


def _prepared(
    file: File, head: bytes, encoding: CharacterEncoding, scratch: Path, *, must_rewrite: bool = False
) -> TextFile:
    sample = head.decode(encoding.codec, errors="replace")
    _refuse_controls(sample, file.name)
    if len(head) < SAMPLE and not sample.strip(BYTE_ORDER_MARK + whitespace):
        raise empty_file(file.name)
    mixed = FEED in sample and LONE_FEED.search(sample) is not None
    notes = [] if encoding.is_plain else [f"read as {encoding.name}: {encoding.evidence}"]
    path, compression = file.path, str(file.compression)
    if must_rewrite or mixed or not encoding.is_plain:
        path, compression = _rewritten(file, encoding, scratch), "none"
        notes += ["line ends of two kinds are read as one"] if mixed else []
    sample = sample.replace(FEED, "\n").replace("\r", "\n")
    dialect = find_dialect(sample, whole=len(head) < SAMPLE)
    text = TextFile(file, path, compression, encoding, dialect, (*notes, *dialect.notes))
    return replace(text, dialect=replace(dialect, rows=dialect.rows + tuple(_later_rows(text))))


def _refuse_controls(sample: str, name: str) -> None:
    found = CONTROL.search(sample)
    if found and (found[0] == "\x00" or len(CONTROL.findall(sample)) > FEW_CONTROLS * len(sample)):
        line = sample.count("\n", 0, found.start()) + 1
        raise DataError(f"{name!r} has control bytes, first in line {line}: is this a table at all?")


def _head(connection: Connection, file: File) -> bytes:
    if file.compression == "zstd":
        return _first_lines(connection, file)
    with _opened(file) as stream:
        return stream.read(SAMPLE)


def _opened(file: File) -> IO[bytes]:
    if file.compression == "zstd":
        raise DataError(f"{file.name!r} is not UTF-8 throughout; unpack it first, so that it can be rewritten")
    return cast(IO[bytes], gzip.open(file.path)) if file.compression == "gzip" else file.path.open("rb")


def _first_lines(connection: Connection, file: File) -> bytes:
    """Return the first lines of a file that only DuckDB can unpack."""
    read = (
        f"read_csv({path_literal(file.path)}, auto_detect = false, delim = '\x1e', quote = '', escape = '',"
        " header = false, compression = 'zstd', columns = {'line': 'VARCHAR'})"
    )
    lines = connection.execute(f"SELECT line FROM {read} LIMIT {ZSTD_LINES}").fetchall()
    text = "\n".join(line or "" for (line,) in lines) + "\n"
    return text.encode()[:SAMPLE]


def _special_bytes(stream: IO[bytes]) -> bytes:
    """Return lines of a file that are not plain ASCII, as many as a sample holds."""
    found, size = [], 0
    while size < SAMPLE and (lines := stream.readlines(SAMPLE)):
        special = [line for line in lines if not line.isascii()]
        found += special
        size += sum(map(len, special))
    return b"".join(found)


def _rewritten(file: File, encoding: CharacterEncoding, scratch: Path) -> Path:
    path = next(place for k in itertools.count() if not (place := scratch / f"text_{k}.csv").exists())
    with _opened(file) as source, path.open("wb") as target:
        rewrite(source, target, encoding, file.name)
    return path


def _later_rows(text: TextFile) -> Iterator[tuple[str, ...]]:
    """Yield whole rows from further places of a file that can be entered anywhere."""
    if text.compression != "none" or (size := text.path.stat().st_size) <= SAMPLE:
        return
    dialect, width = text.dialect, len(text.dialect.names)
    with text.path.open("rb") as stream:
        for place in range(1, PLACES + 1):
            stream.seek(SAMPLE + (size - SAMPLE - PLACE) * place // PLACES if size > SAMPLE + PLACE else SAMPLE)
            part = stream.read(PLACE).decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n", 1)[-1]
            records = records_of(part, dialect.separator, dialect.escape)[:-1]
            yield from (tuple(record) for record in records if len(record) == width)


BUFFER = 4 << 20  # bytes that DuckDB parses at a time: less memory than it would take, and no slower
COMMON_GAPS = ("", "NA")
SHOWN = 60  # characters of a line at fault


def load_text(
    connection: Connection, texts: Sequence[TextFile], scratch: Path, words: Collection[str], missing: Sequence[str]
) -> Raw:
    """Return the raw table of text files; columns named in `words` stay as written, `missing` adds words for a gap."""
    files, gaps = list(texts), (*MISSING_ANYWHERE, *missing)
    names, notes = common_names(files)
    types = ["VARCHAR" if name in words else _type(files, k, gaps) for k, name in enumerate(names)]
    met = _gaps_met(files, gaps)
    _fill_with_care(connection, files, types, tuple(dict.fromkeys((*COMMON_GAPS, *missing, *met))), scratch)
    _refuse_trailing_fields(connection, files)
    comma = any(text.dialect.decimal_comma for text in files)
    said = tuple(dict.fromkeys(note for text in files for note in text.notes))
    raw = Raw(names, tuple(types), (*said, *notes), decimal_comma=comma, written=True, gaps=met)
    return without_empty_rows(connection, raw, [not name.strip() for name in files[0].dialect.names])


def _gaps_met(texts: Sequence[TextFile], gaps: Sequence[str]) -> tuple[str, ...]:
    """Return the words for a gap in the sample, which DuckDB is to look for; each costs time in every cell.

    The others are found later, in columns of words.
    """
    met = {cell for text in texts for row in text.dialect.rows for cell in row}
    return tuple(word for word in gaps if word in met)


def common_names(texts: Sequence[TextFile]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns; files whose headers differ raise a DataError that names the first difference."""
    first = texts[0].dialect.names
    for text in texts[1:]:
        if text.dialect.names == first:
            continue
        lacking = [name for name in first if name not in text.dialect.names]
        more = [name for name in text.dialect.names if name not in first]
        told = f"lacks {lacking[0]!r}" if lacking else f"has also {more[0]!r}" if more else "has them in another order"
        raise DataError(
            f"{text.file.name!r} has not the columns of {texts[0].file.name!r}: it {told};"
            " read files of one header together"
        )
    return unique_names(first)


def _type(texts: Sequence[TextFile], k: int, gaps: Sequence[str]) -> str:
    """Return the type to parse a column as: DOUBLE if its sample holds numbers, plain ones only, and no codes."""
    cells = [row[k] for text in texts for row in text.dialect.rows]
    told = [cell for cell in cells if cell not in gaps]
    comma = any(text.dialect.decimal_comma for text in texts)
    if not told or not all(map(is_plain_number, told)) or has_codes(told):
        return "VARCHAR"
    return "VARCHAR" if comma and any("." in cell for cell in told) else "DOUBLE"


def _fill_with_care(
    connection: Connection, files: list[TextFile], types: list[str], gaps: Sequence[str], scratch: Path
) -> None:
    """Fill the raw table; where a file is other than its sample, change `files` or `types` and try again."""
    import duckdb  # noqa: PLC0415

    late_words = False
    while True:
        place = 0
        try:
            if late_words:
                types[:] = _types_of_all(connection, files, types, gaps)
            for place, text in enumerate(files):
                _fill(connection, text, types, gaps, anew=place == 0)
        except duckdb.OutOfMemoryException as problem:
            raise memory_error(files[place].file.name, problem) from problem
        except duckdb.ConversionException as problem:
            if late_words:
                raise _refusal(files[place], problem) from problem
            late_words = True
        except duckdb.Error as problem:
            place = _file_at_fault(files, problem, place)
            if not _may_be_rewritten(files[place], problem):
                raise _refusal(files[place], problem) from problem
            files[place] = prepare_text_anew(files[place], scratch)
        else:
            return


def _file_at_fault(files: Sequence[TextFile], problem: Exception, place: int) -> int:
    """Return the place of the file that DuckDB names in a message, else of the one that was read."""
    told = str(problem)
    return next((k for k, text in enumerate(files) if f"file = {text.path}\n" in told), place)


def _fill(connection: Connection, text: TextFile, types: Sequence[str], gaps: Sequence[str], *, anew: bool) -> None:
    if anew:
        connection.execute(f"DROP TABLE IF EXISTS {RAW}")
    into = f"CREATE TABLE {RAW} AS" if anew else f"INSERT INTO {RAW}"
    connection.execute(f"{into} SELECT * FROM {_reader(text, types, gaps)}")


def _reader(text: TextFile, types: Sequence[str], gaps: Sequence[str]) -> str:
    """Return the call that reads a text file; everything is told, nothing left to be guessed."""
    dialect = text.dialect
    columns = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(types))
    gaps = [word for word in gaps if dialect.separator not in word and '"' not in word]
    return (
        f"read_csv({path_literal(text.path)}, auto_detect = false, strict_mode = true,"
        f" delim = {literal(dialect.separator)}, quote = '\"', escape = {literal(dialect.escape)},"
        f" header = false, skip = {dialect.skip}, compression = '{text.compression}', nullstr = [{literal_list(gaps)}],"
        f" columns = {{{columns}}}, buffer_size = {BUFFER})"
    )


def _types_of_all(
    connection: Connection, files: Sequence[TextFile], types: Sequence[str], gaps: Sequence[str]
) -> list[str]:
    """Return the types with VARCHAR for every column that has a cell, in any file, which is no number."""
    numbers = [k for k, kind in enumerate(types) if kind == "DOUBLE"]
    found = ", ".join(f"bool_or(c{k} IS NOT NULL AND TRY_CAST(c{k} AS DOUBLE) IS NULL)" for k in numbers)
    late: set[int] = set()
    for text in files:
        row = connection.execute(f"SELECT {found} FROM {_reader(text, ['VARCHAR'] * len(types), gaps)}").fetchone()
        late |= {k for k, has_words in zip(numbers, row, strict=True) if has_words}
    return ["VARCHAR" if k in late else kind for k, kind in enumerate(types)]


def _may_be_rewritten(text: TextFile, problem: Exception) -> bool:
    """Tell whether a file may be read after all, once it is rewritten: another encoding, or line ends of two kinds."""
    told = str(problem)
    as_found = text.path == text.file.path and text.file.compression != "zstd"
    return as_found and ("not utf-8 encoded" in told or "state machine reached an invalid state" in told)


def _refusal(text: TextFile, problem: Exception) -> DataError:
    """Return the error for a text that DuckDB cannot read, with the line at fault where there is one."""
    if (ragged := _first_ragged(text)) is not None:
        return _ragged(text, *ragged)
    name, told = text.file.name, str(problem)
    if "unterminated quote" in told:
        return DataError(f"{name!r}: {_place(told)} has a quote that is not closed; close it, or write it twice")
    if "Maximum line size" in told or "max_line_size" in told:
        return DataError(
            f"{name!r}: {_place(told)} is longer than 2 MB; is a quote not closed, or is this a table at all?"
        )
    return DataError(f"{name!r} cannot be read: {first_line(problem)}; save it as UTF-8 text with one header line")


def _refuse_trailing_fields(connection: Connection, files: Sequence[TextFile]) -> None:
    """Raise a DataError for a row with one field too many that is empty, which DuckDB lets pass.

    There is one only if more lines end in a separator than rows have an empty last field.
    """
    last = f"c{len(files[0].dialect.names) - 1}"
    empty = connection.execute(f"SELECT count(*) FILTER ({last} IS NULL) FROM {RAW}").fetchone()[0]
    if sum(map(trailing_separators, files)) <= empty:
        return
    for text in files:
        if (ragged := _first_ragged(text)) is not None:
            raise _ragged(text, *ragged)


def _place(told: str) -> str:
    number = told.split("CSV Error on Line: ", 1)[-1].split("\n", 1)[0]
    return f"line {number} or one after it" if number.isdigit() else "a line"


def _ragged(text: TextFile, line: int, fields: int, shown: str) -> DataError:
    model = "header has" if text.dialect.has_header else "others have"
    return DataError(
        f"{text.file.name!r}: line {line} has {counted(fields, 'field')} where the {model} {len(text.dialect.names)}:"
        f" {shown!r}; give every row as many fields, and put quotes around a field that holds the separator"
    )


def _first_ragged(text: TextFile) -> tuple[int, int, str] | None:
    """Return line, number of fields and start of the first row whose number of fields is not that of the others."""
    dialect, width = text.dialect, len(text.dialect.names)
    escape = None if dialect.escape == '"' else dialect.escape
    with text_lines(text) as lines:
        reader = csv.reader(lines, delimiter=dialect.separator, escapechar=escape)
        before = 0
        try:
            for place, record in enumerate(reader):
                if place >= dialect.skip and record and len(record) != width:
                    return before + 1, len(record), dialect.separator.join(record)[:SHOWN]
                before = reader.line_num
        except (csv.Error, UnicodeDecodeError):
            return None
    return None
