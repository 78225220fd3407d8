"""A text as its words: hashed tf-idf.

    feature of bucket b in a row = count of its words in the row · idf_b,  idf_b = ln((1 + n) / (1 + n_b)) + 1

over the n rows of training, n_b of them with a word of bucket b; each row's features are then divided by their length
‖·‖. Words are runs of letters, digits and underscores, caseless; a word's bucket is the CRC-32 of its UTF-8 bytes
modulo the number of buckets, on any machine, in any release. Two words may share a bucket; then they share a feature,
which is named by the more frequent one. Only buckets that training saw in at least two rows are features: a word seen
once says nothing of another row. The cost is some 0.2 µs a word.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.codec import Record
from separatrix.design.encode.base import Cells, ColumnEncoding, Entries, gap_name
from separatrix.design.encode.retype import read_texts
from separatrix.errors import ModelFileError
from separatrix.tables.table import Column

BUCKETS = 2**18
MOST_BUCKETS = 2**32
FEWEST_ROWS = 2  # that a bucket must have been seen in
TEXTS = 8192  # learnt from at a time
WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case."""
    return WORD.findall(text.casefold())


def bucket_of(word: str, buckets: int) -> int:
    """Return a word's bucket."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets


class Vocabulary(NamedTuple):
    """The buckets of a text column that are features, ascending, with a word for each and its idf."""

    buckets: list[int]
    words: list[str]
    idf: list[float]
    left_out: int


@dataclass(frozen=True)
class TextEncoding(ColumnEncoding):
    """Words by their buckets: `seen` are those with a feature, `words` the most frequent word of each."""

    buckets: int
    seen: tuple[int, ...]
    words: tuple[str, ...]
    idf: tuple[float, ...]
    indicator: bool
    kind: ClassVar[str] = "text"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features, as "message: free"."""
        own = tuple(f"{self.name}: {word}" for word in self.words)
        return (*own, gap_name(self.name)) if self.indicator else own

    @cached_property
    def places(self) -> dict[int, int]:
        """The feature of each bucket, by place."""
        return {bucket: place for place, bucket in enumerate(self.seen)}

    def read(self, column: Column) -> Cells:
        return read_texts(column)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        rows, places, counts = count_places(cells.values, self._place_of)
        values = counts * np.asarray(self.idf)[places]
        lengths = np.sqrt(np.bincount(rows, values * values, minlength=len(cells.values)))
        yield Entries(rows, places, values / lengths[rows])
        gaps = np.flatnonzero(cells.missing)
        if self.indicator and len(gaps):
            yield Entries(gaps, np.full(len(gaps), len(self.seen), dtype=np.intp), 1.0)

    def _place_of(self, word: str) -> int:
        return self.places.get(bucket_of(word, self.buckets), -1)

    def inverse(self, features: Floats) -> list[Any]:
        """Return the words known of each row, the weightiest first, None where missing: what is left of a text."""
        marked = features[:, -1] != 0.0 if self.indicator else np.zeros(len(features), dtype=bool)
        return [None if gap else self._words(row) for row, gap in zip(features, marked, strict=True)]

    def _words(self, row: Floats) -> str:
        own = row[: len(self.words)]
        return " ".join(self.words[place] for place in np.argsort(-own, kind="stable") if own[place] > 0.0)

    def facts(self) -> dict[str, Any]:
        return {
            "buckets": self.buckets,
            "seen": list(self.seen),
            "words": list(self.words),
            "idf": list(self.idf),
            "indicator": self.indicator,
        }

    @classmethod
    def from_record(cls, record: Record) -> Self:
        words, buckets = record.texts("words"), record.whole("buckets", least=1, most=MOST_BUCKETS)
        seen = record.numbers("seen", len(words))
        idf = record.numbers("idf", len(words))
        steps = np.diff(seen, prepend=-1.0, append=float(buckets))
        if (steps <= 0.0).any() or (seen != np.rint(seen)).any():
            raise ModelFileError(f"{record.at('seen')} is not of whole numbers ascending below {buckets}")
        if (idf <= 0.0).any():
            raise ModelFileError(f"{record.at('idf')} has a number that is not above 0")
        head = record.text("name"), record.text("decision"), buckets
        return cls(*head, tuple(seen.astype(int).tolist()), words, tuple(idf.tolist()), record.flag("indicator"))


def learn_vocabulary(texts: Iterable[str | None], buckets: int) -> Vocabulary:
    """Return the buckets that at least two texts have a word in; the texts are gone through once, some at a time."""
    known: dict[str, int] = {}
    hashed: list[int] = []

    def place_of(word: str) -> int:
        hashed.append(bucket_of(word, buckets))
        return known.setdefault(word, len(known))

    count, frequency, in_rows = 0, np.zeros(0, dtype=np.int64), np.zeros(buckets, dtype=np.int64)
    remaining = iter(texts)
    while some := list(islice(remaining, TEXTS)):
        rows, places, _ = count_places(some, place_of, known)
        count += len(some)
        frequency = np.bincount(places, minlength=len(known)) + np.pad(frequency, (0, len(known) - len(frequency)))
        pairs = np.unique(rows * buckets + np.asarray(hashed, dtype=np.int64)[places]) % buckets
        in_rows += np.bincount(pairs, minlength=buckets)
    seen = np.flatnonzero(in_rows)
    kept = in_rows[seen] >= FEWEST_ROWS
    words = _most_frequent(list(known), hashed, frequency)
    idf = np.log((1.0 + count) / (1.0 + in_rows[seen[kept]])) + 1.0
    numbers = seen[kept].tolist()
    return Vocabulary(numbers, [words[number] for number in numbers], idf.tolist(), int((~kept).sum()))


def _most_frequent(words: Sequence[str], hashed: Sequence[int], frequency: Ints) -> dict[int, str]:
    """Return the word of each bucket that most rows have, of equals the first in the alphabet."""
    best: dict[int, tuple[int, str]] = {}
    for word, bucket, rows in zip(words, hashed, frequency.tolist(), strict=True):
        claim = (-rows, word)
        best[bucket] = min(best.get(bucket, claim), claim)
    return {bucket: word for bucket, (_, word) in best.items()}


def count_places(
    texts: Iterable[str | None], place_of: Callable[[str], int], known: dict[str, int] | None = None
) -> tuple[Ints, Ints, Floats]:
    """Return (rows, places, counts) of the words of texts (n,); words whose place is negative are left out.

    Places once asked for are kept, in `known` if that is given.
    """
    cache = {} if known is None else known
    listed: list[int] = []
    lengths: list[int] = []
    for text in texts:
        words = () if text is None else words_of(text)
        lengths.append(len(words))
        for word in words:
            place = cache.get(word)
            if place is None:
                place = cache[word] = place_of(word)
            listed.append(place)
    places = np.asarray(listed, dtype=np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)[places >= 0]
    places = places[places >= 0]
    width = int(places.max(initial=0)) + 1
    pairs, counts = np.unique(rows * width + places, return_counts=True)
    return pairs // width, pairs % width, counts.astype(np.float64)
