"""Detection of separator, quotes and preamble: the rules of `separatrix.tables.sniff` against DuckDB's `sniff_csv`.

A file counts as right if the csv module, told the dialect found, reads the records that were written. The nasty csv
files are counted if they are beside the repository; of these the separator and the preamble are known.

    python benchmarks/dialects.py
"""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from separatrix.tables.sniff import find_dialect

FILES, SEED = 1500, 0
RESULTS = Path(__file__).parent / "results/dialects.md"
NASTY = Path(__file__).parents[2] / "shared/data/csv_nasty"
WORDS = ["north", "south", "east", "west", "red", "green", "blue", "Ann", "Bob", "oak", "elm", "low", "high"]
PREAMBLES = ["Report of today", "Source: office, 2024", "Station: A; North", "# made by hand", "Total 12 rows", ""]


class Found(NamedTuple):
    separator: str
    quote: str  # "" for none
    escape: str
    skip: int  # lines before the table


def by_rules(text: str, _path: Path) -> Found:
    found = find_dialect(text, whole=True)
    return Found(found.separator, '"', found.escape, found.skip - found.has_header)


def by_duckdb(_text: str, path: Path) -> Found | None:
    try:
        row = duckdb.execute("SELECT Delimiter, Quote, Escape, SkipRows FROM sniff_csv(?)", [str(path)]).fetchone()
    except duckdb.Error:
        return None
    return Found(*("" if each in {"(empty)", "\0"} else each for each in row))


def drawn_cell(rng: random.Random, kind: str, separator: str, comma: bool) -> str:
    return {
        "whole": str(rng.randint(0, 5000)),
        "decimal": f"{rng.uniform(-50, 999):.{rng.randint(1, 3)}f}".replace(".", "," if comma else "."),
        "word": rng.choice(WORDS),
        "phrase": f"{rng.choice(WORDS)}{separator} {rng.choice(WORDS)}",
        "quoted": f'the "{rng.choice(WORDS)}" {rng.choice(WORDS)}',
        "lines": f"{rng.choice(WORDS)}\n{rng.choice(WORDS)}",
        "date": f"{rng.randint(1, 28):02}/{rng.randint(1, 12):02}/{rng.randint(1990, 2025)}",
        "time": f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}",
        "gap": rng.choice(["", "NA", "?"]),
    }[kind]


def drawn_file(rng: random.Random) -> tuple[str, list[list[str]]]:
    """Return the text of a csv file, and its records, header first."""
    separator = rng.choice(",;\t|")
    comma = separator != "," and rng.random() < 0.3
    plain, special = ["whole", "decimal", "word", "date", "time"], ["phrase", "quoted", "lines"]
    kinds = [rng.choice(special if rng.random() < 0.2 else plain) for _ in range(rng.randint(2, 9))]
    records = [[f"{rng.choice(WORDS)}_{k}" for k in range(len(kinds))]]
    for _ in range(rng.randint(3, 60)):
        drawn = ["gap" if rng.random() < 0.08 else kind for kind in kinds]
        records.append([drawn_cell(rng, kind, separator, comma) for kind in drawn])
    text, end = io.StringIO(), rng.choice(["\n", "\r\n"])
    escape = {"escapechar": "\\", "doublequote": False, "quoting": csv.QUOTE_ALL} if rng.random() < 0.1 else {}
    # A line with as many fields as the table could be a header: nothing tells it from one.
    lines = [line for line in PREAMBLES if line.count(separator) + 1 < len(kinds)]
    preamble = rng.choices(lines, k=rng.randint(1, 3)) if rng.random() < 0.25 else []
    text.writelines(f"{line}{end}" for line in preamble)
    csv.writer(text, delimiter=separator, lineterminator=end, **escape).writerows(records)
    return text.getvalue(), records


def read(text: str, found: Found) -> list[list[str]]:
    lines = io.StringIO("".join(text.splitlines(keepends=True)[found.skip :]), newline="")
    quotes = {"quotechar": found.quote or None, "quoting": csv.QUOTE_MINIMAL if found.quote else csv.QUOTE_NONE}
    own = {} if found.escape in {"", found.quote} else {"escapechar": found.escape}
    return [row for row in csv.reader(lines, delimiter=found.separator, **quotes, **own) if row]


def nasty_file(entry: dict[str, Any]) -> tuple[str, str, int]:
    """Return the text, the separator and the length of the preamble."""
    told = entry.get("dialect") or {}
    text = (NASTY / entry["file"]).read_bytes().decode(told.get("encoding", "utf-8-sig"))
    return text, told.get("sep", ","), told.get("skiprows", 0)


def main() -> None:
    rng, contenders = random.Random(SEED), {"rules of separatrix": by_rules, "DuckDB's sniff_csv": by_duckdb}
    files, known_files = [drawn_file(rng) for _ in range(FILES)], NASTY / "expected.json"
    nasty = list(map(nasty_file, json.loads(known_files.read_text(encoding="utf-8")))) if known_files.exists() else []
    counts = {name: [0, 0] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.csv"
        for place, (text, *known) in enumerate([*files, *nasty]):
            path.write_text(text, encoding="utf-8", newline="")
            for name, contender in contenders.items():
                if found := contender(text.replace("\r\n", "\n"), path):
                    right = read(text, found) == known[0] if place < FILES else [found.separator, found.skip] == known
                    counts[name][place >= FILES] += right
    lines = [f"# Dialects of csv files\n\nSeed {SEED}; duckdb {duckdb.__version__}.\n"]
    lines += [f"| contender | right of {FILES:,} drawn files | right of {len(nasty)} nasty files |", "|---|---|---|"]
    lines += [f"| {name} | {drawn:,} | {nasty_count} |" for name, (drawn, nasty_count) in counts.items()]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
