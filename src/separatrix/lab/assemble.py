"""The page as one file: its modules joined in the order of their imports, its styles, its data, and its policy.

Each module becomes a function that returns what it exports; imports become reads from the functions before it. Only the
plain forms of import and export are understood; any other raises an error, so that nothing is joined wrongly. The
policy names the hash of the one script and of the one style: nothing else may run or be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import normpath
from typing import Any

from separatrix.lab.squeeze import squeeze, squeeze_style
from separatrix.rendering.html import LOOK

PAGE = Path(__file__).parent / "page"
IMPORT = re.compile(r'^import \{([\w$,\s]*)\} from "(\.{1,2}/[\w./-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) ([\w$]+))", re.MULTILINE)
LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)
ENDS_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


def document(data: dict[str, Any] | None) -> str:
    """Return the page with some data in it."""
    script, style = _script(), _style()
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "CSS": f"<style>{style}</style>",
        "DATA": f'<script type="application/json" id="data">{as_json(data)}</script>',
        "SCRIPT": f"<script>{script}</script>",
    }
    text = (PAGE / "page.html").read_text(encoding="utf-8")
    places = re.split(r"<!-- (POLICY|CSS|DATA|SCRIPT) -->", text)
    if sorted(places[1::2]) != sorted(parts):
        raise RuntimeError(f"page.html has the places {places[1::2]}; it needs each of {sorted(parts)} once")
    return "".join(parts[place] if k % 2 else place for k, place in enumerate(places))


def as_json(data: Any) -> str:
    """Return JSON that no HTML parser mistakes for the end of a script, for any names and labels."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _script() -> str:
    """Return all modules as one strict script."""
    script = "\n".join(['"use strict";', "(() => {", *_modules("main.js", {}), "})();\n"])
    if ENDS_SCRIPT.search(script):
        raise RuntimeError("a module holds the end of a script, which would cut the page short")
    return script


def _modules(path: str, done: dict[str, bool]) -> Iterator[str]:
    """Yield the modules that one needs, then itself as a function's result, each once."""
    if done.get(path):
        return
    if path in done:
        raise RuntimeError(f"{path} imports itself through others")
    done[path] = False
    text = (PAGE / path).read_text(encoding="utf-8")
    needed = {match[2]: normpath(f"{path}/../{match[2]}") for match in IMPORT.finditer(text)}
    for other in needed.values():
        yield from _modules(other, done)
    body = IMPORT.sub(lambda match: f"const {{{match[1]}}} = {_name(needed[match[2]])};", text)
    body = squeeze(EXPORT.sub("", body))
    if strange := LEFT_OVER.search(body):
        raise RuntimeError(f"{path} has {strange[0].strip()!r}, which is neither a plain import nor a plain export")
    yield f"const {_name(path)}=(()=>{{\n{body}return{{{','.join(EXPORT.findall(text))}}};\n}})();"
    done[path] = True


def _name(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))


@cache
def _style() -> str:
    return squeeze_style(LOOK.read_text(encoding="utf-8") + (PAGE / "page.css").read_text(encoding="utf-8"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
