"""Text columns: tf-idf of hashed words.

    feature of bucket b in a row = count of its words in the row · idf_b,  idf_b = ln((1 + n) / (1 + n_b)) + 1

for n training rows, n_b of them with a word of bucket b; the features of each row are then divided by their norm. Words
are runs of letters, digits and underscores, case-folded. The bucket of a word is the CRC-32 of its UTF-8 bytes modulo
the number of buckets, the same on every machine and in every release. Words that share a bucket share a feature, named
after the most frequent one. Only buckets that occur in at least two training rows are features: a word seen once says
nothing about other rows.

Cost: some 0.2 µs per word.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import Annotated, Any, Literal

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.codec import Items, Range
from separatrix.design.encode.base import Cells, ColumnEncoding, Entries
from separatrix.design.encode.columns import read_texts
from separatrix.tables.table import Column

BUCKETS = 2**18
MOST_BUCKETS = 2**32
FEWEST_ROWS = 2  # of training, in which a bucket must occur
BATCH = 8192  # texts counted in one go
WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, case-folded."""
    return WORD.findall(text.casefold())


def bucket_of(word: str, buckets: int) -> int:
    """Return a word's bucket."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets


@dataclass(frozen=True)
class TextEncoding(ColumnEncoding):
    """Hashed tf-idf: `seen` are the buckets with a feature, `words` the most frequent word of each."""

    kind: Literal["text"] = field(default="text", init=False)
    buckets: Annotated[int, Range(1, MOST_BUCKETS)]
    seen: tuple[int, ...]
    words: Annotated[tuple[str, ...], Items(distinct=True)]
    idf: tuple[Annotated[float, Range(above=0.0)], ...]
    indicator: bool
    decision: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(first >= second for first, second in pairwise((-1, *self.seen, self.buckets))):
            raise ValueError(f"seen must have ascending whole numbers below {self.buckets}")
        if not len(self.seen) == len(self.words) == len(self.idf):
            raise ValueError("seen, words and idf have different numbers of entries")

    def value_names(self) -> Iterable[str]:
        """Return the names of the features, as "message: free"."""
        return (f"{self.name}: {word}" for word in self.words)

    @cached_property
    def places(self) -> dict[int, int]:
        """The index of each bucket's feature."""
        return {bucket: place for place, bucket in enumerate(self.seen)}

    def read(self, column: Column) -> Cells:
        return read_texts(column)

    def value_entries(self, cells: Cells) -> Iterable[Entries]:
        rows, places, counts = count_places(cells.values, self._place_of, {})
        values = counts * np.asarray(self.idf)[places]
        norms = np.sqrt(np.bincount(rows, values * values, minlength=len(cells.values)))
        yield rows, places, values / norms[rows]

    def _place_of(self, word: str) -> int:
        return self.places.get(bucket_of(word, self.buckets), -1)


def learn_vocabulary(texts: Iterable[str | None], buckets: int) -> tuple[dict[str, Any], int]:
    """Return `seen`, `words` and `idf` of the buckets that occur in at least two texts, and the number of the others.

    The texts are read once, in batches.
    """
    places_of: dict[str, int] = {}
    buckets_of: list[int] = []  # by the place of the word

    def place_of(word: str) -> int:
        buckets_of.append(bucket_of(word, buckets))
        return places_of.setdefault(word, len(places_of))

    count, frequency, in_rows = 0, np.zeros(0, dtype=np.int64), np.zeros(buckets, dtype=np.int64)
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        rows, places, _ = count_places(batch, place_of, places_of)
        count += len(batch)
        new = len(places_of) - len(frequency)
        frequency = np.bincount(places, minlength=len(places_of)) + np.pad(frequency, (0, new))
        pairs = np.unique(rows * buckets + np.asarray(buckets_of, dtype=np.int64)[places]) % buckets
        in_rows += np.bincount(pairs, minlength=buckets)
    frequent = np.flatnonzero(in_rows >= FEWEST_ROWS)
    words = _most_frequent(list(places_of), buckets_of, frequency)
    idf = np.log((1.0 + count) / (1.0 + in_rows[frequent])) + 1.0
    seen = tuple(frequent.tolist())
    vocabulary = {"seen": seen, "words": tuple(words[bucket] for bucket in seen), "idf": tuple(idf.tolist())}
    return vocabulary, int(np.count_nonzero(in_rows)) - len(seen)


def _most_frequent(words: Sequence[str], buckets: Sequence[int], frequency: Ints) -> dict[int, str]:
    """Return the word of each bucket that occurs in most rows; of equals, the alphabetically first."""
    best: dict[int, tuple[int, str]] = {}
    for word, bucket, rows in zip(words, buckets, frequency.tolist(), strict=True):
        candidate = (-rows, word)
        best[bucket] = min(best.get(bucket, candidate), candidate)
    return {bucket: word for bucket, (_, word) in best.items()}


def count_places(
    texts: Iterable[str | None], place_of: Callable[[str], int], known: dict[str, int]
) -> tuple[Ints, Ints, Floats]:
    """Return (rows, places, counts) of the words of texts (n,), `known` caching places; negative ones are left out."""
    all_places: list[int] = []
    lengths: list[int] = []
    for text in texts:
        words = () if text is None else words_of(text)
        lengths.append(len(words))
        for word in words:
            place = known.get(word)
            if place is None:
                place = known[word] = place_of(word)
            all_places.append(place)
    places = np.asarray(all_places, dtype=np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)[places >= 0]
    places = places[places >= 0]
    width = int(places.max(initial=0)) + 1
    pairs, counts = np.unique(rows * width + places, return_counts=True)
    return pairs // width, pairs % width, counts.astype(np.float64)
