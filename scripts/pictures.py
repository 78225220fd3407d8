"""Draw the pictures of documentation pages again: `python scripts/pictures.py docs/plots.md`.

A page's Python blocks are one session, as the tests run them; where an image follows, the last `display` is saved.
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

DOTS = 72  # an inch: small files
PART = re.compile(r"```python\n(?P<block>.*?)```|!\[[^\]]*\]\((?P<image>[^)]+)\)", re.DOTALL)


def draw(page: Path) -> None:
    """Run a page's blocks and save its pictures beside it."""
    session: dict[str, Any] = {}
    for part in PART.finditer(page.read_text(encoding="utf-8")):
        if part["image"]:
            target = page.parent / part["image"]
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(session["display"].image(target.suffix[1:], dots=DOTS))
            continue
        for example in doctest.DocTestParser().get_examples(part["block"]):
            exec(compile(example.source, str(page), "single"), session)  # the repository's own pages


if __name__ == "__main__":
    matplotlib.use("agg")
    for name in sys.argv[1:]:
        draw(Path(name))
