"""A journal of passes: the result of each is written down, so that a fit that was killed need not make it again.

A solver is a function of the results of its passes and of nothing else, so a fit that is run again, and given these
results from the journal, walks the same way bit for bit and goes on with the data where the journal ends. A result is
found by a digest of all that it depends on (the data, how the design was derived from them, task and arguments), so
none is taken for another. The first records are the identity of the fit; with another the journal is refused.

The file never grows beyond its limit: results that no longer fit, and those that take a good part of the matrix
themselves, are not kept and are computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

from separatrix.design.checkpoint.record_file import PlacedRecord, RecordFile
from separatrix.design.checkpoint.results import pack, unpack
from separatrix.errors import OptionError

FILE = "fit.journal"
LIMIT = 2**31  # bytes of a journal, unless told otherwise
LARGEST = 2**30  # bytes of a result, which is read at once

_OPEN: WeakValueDictionary[Path, Journal] = WeakValueDictionary()


def open_journal(folder: str | Path, identity: Mapping[str, str], *, limit: int = LIMIT) -> Journal:
    """Return the journal in a folder, a new one if there is none; refuse, by name, one of another fit.

    `identity` is all that must be the same for the journal to be of use: options, versions, the data's source.
    """
    place = Path(folder).resolve()
    earlier = _OPEN.get(place)
    if earlier is not None:
        earlier.close()  # in this process the latest has it
    journal = _OPEN[place] = Journal(RecordFile(Path(folder) / FILE), limit)
    try:
        journal.admit("fit", identity)
    except OptionError:
        journal.close()
        raise
    return journal


def remove_journal(folder: str | Path) -> None:
    """Delete the journal in a folder, and the folder if nothing else is in it."""
    (Path(folder) / FILE).unlink(missing_ok=True)
    with suppress(OSError):  # others' files stay, and so does their folder
        Path(folder).rmdir()


class Journal:
    """Results of passes by their digest; `found` counts those there were, `replayed` and `made` the passes since."""

    def __init__(self, file: RecordFile, limit: int = LIMIT) -> None:
        self.limit = limit
        self.replayed = self.made = 0
        self._file, self._compared = file, set[str]()
        self._identities = {
            record.head["of"]: record.head["identity"] for record in file.records if "of" in record.head
        }
        self._results = {record.head["key"]: record for record in file.records if "key" in record.head}
        self.found = len(self._results)

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self._file.path

    @property
    def size(self) -> int:
        """Bytes of the journal."""
        return self._file.end

    def admit(self, of: str, identity: Mapping[str, str]) -> None:
        """Have the fit, or its data, be what is said here first: noted in a new journal, compared in an old one."""
        if of in self._compared:
            return
        if of in self._identities:
            self._compare(self._identities[of], identity)
        else:
            self._file.append({"of": of, "identity": dict(identity)}, b"")
        self._compared.add(of)

    def look_up(self, key: str) -> tuple[Any] | None:
        """Return the result kept by a key, in a tuple of its own; None if there is none."""
        record: PlacedRecord | None = self._results.get(key)
        if record is None:
            return None
        try:
            return (unpack(record.head["result"], self._file.body(record)),)
        except (KeyError, TypeError, AttributeError, ImportError):
            raise self._file.altered(record.start) from None

    def keep(self, key: str, task: str, result: Any, most: float) -> None:
        """Write a result down, if it has bytes, takes no more than `most` of them and the limit allows."""
        packed = None if key in self._results else pack(result)
        if packed is None:
            return
        description, body = packed
        if len(body) <= min(most, LARGEST):
            record = self._file.append({"key": key, "task": task, "result": description}, body, self.limit)
            if record is not None:
                self._results[key] = record

    def close(self) -> None:
        """Close the file; it stays for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Close and delete the journal, and its folder if nothing else is in it: the fit is done."""
        self.close()
        remove_journal(self.path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _compare(self, known: Mapping[str, str], given: Mapping[str, str]) -> None:
        """Refuse an identity other than the one known, with what differs."""
        for name in {**known, **given}:
            was, now = known.get(name, "not given"), given.get(name, "not given")
            if was != now:
                raise OptionError(
                    f"the checkpoint {self.path} is of another fit: its {name} was {was}, now it is {now};"
                    " run what it was begun with, give another folder, or delete it"
                )
