"""In which encoding a text file is written, by evidence: a byte order mark, else what its bytes can be.

UTF-8 is so strict that text in another encoding hardly ever passes for it. Where it fails, each candidate is tried on
the bytes, and the one whose characters look most like a language is taken: kana for the Japanese ones, common Chinese
and Korean letters, whole words of Cyrillic letters; else Western European, which any bytes can be. Cost: a pass over
the sample; a file that is not UTF-8 is rewritten once, in pieces, to a temporary file. Fails on a short text with few
special letters.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from separatrix.errors import DataError

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
class Encoding:
    """A name that Python knows, the name people use, and why it is believed."""

    codec: str
    name: str
    evidence: str

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB reads the file as it is."""
        return self.codec in {"utf-8", "utf-8-sig"}


def detect_encoding(sample: bytes) -> Encoding:
    """Return the encoding of a text of which the first bytes are given, perhaps cut off within a character."""
    for mark, codec, name in MARKS:
        if sample.startswith(mark):
            return Encoding(codec, name, "a byte order mark at its start")
    zeros = [sample[start : len(sample) // 2 * 2 : 2].count(0) for start in (0, 1)]
    if 5 * max(zeros) > len(sample) // 2 > 3:
        codec = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        return Encoding(codec, "UTF-16", "every second byte is zero")
    if _decoded(sample, "utf-8") is not None:
        return Encoding("utf-8", "UTF-8", "its bytes are valid UTF-8")
    return _by_language(sample)


def _by_language(sample: bytes) -> Encoding:
    shares = [(_share(sample, codec, telling), codec, name) for codec, name, telling in TELLING]
    share, codec, name = max(shares, key=lambda entry: entry[0] / LIKELY.get(entry[1], LIKELY_SHARE))
    if share >= LIKELY.get(codec, LIKELY_SHARE):
        return Encoding(codec, name, f"it is not UTF-8, and read so, {share:.0%} of its special characters are common")
    cyrillic = _decoded(sample, "cp1251") or ""
    if len("".join(CYRILLIC_WORD.findall(cyrillic))) > 0.8 * len(SPECIAL.findall(cyrillic)):
        return Encoding("cp1251", "Windows-1251", "it is not UTF-8, and read so, its words are Cyrillic throughout")
    if any(0x80 <= byte < 0xA0 for byte in sample) and _decoded(sample, "cp1252") is not None:
        return Encoding("cp1252", "Windows-1252", "it is not UTF-8, and has bytes that only Windows uses for letters")
    return Encoding("latin-1", "Latin-1", "it is not UTF-8, and nothing tells another language")


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


def rewrite(source: IO[bytes], target: IO[bytes], encoding: Encoding, name: str) -> None:
    """Copy a text as UTF-8 with one kind of line end, piece by piece; a byte that is no text raises a DataError."""
    for text in _unix_lines(_texts(source, encoding, name)):
        target.write(text.encode("utf-8"))


def _texts(source: IO[bytes], encoding: Encoding, name: str) -> Iterator[str]:
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
