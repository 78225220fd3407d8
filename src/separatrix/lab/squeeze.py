"""JavaScript and CSS without comments and idle spaces, everything else as it stands.

A scan by tokens: strings, templates (and the code inside them), regular expressions, comments. A slash begins a regular
expression unless it follows a value. Names are not changed, and line breaks stay where they may end a statement.
`const` becomes `let`: programs that assign to no constant run the same.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""(?P<gap>(?:\s|//[^\n]*|/\*.*?\*/)+)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$#]+|.""", re.DOTALL
)
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(\$\{|`)", re.DOTALL)
BEFORE_REGEX = {"return", "typeof", "case"}
WORD = re.compile(r"[\w$#]")
OPEN, CLOSE, APART = set("([{,;:?=&|!<>*%^~"), set(")]},;:?=&|<>*%^."), {"++", "--", "+-", "-+", "//"}


def squeeze(code: str) -> str:
    """Return the same JavaScript in fewer characters."""
    out, place, gap, depths = ["\n"], 0, "", list[int]()
    while match := TOKEN.match(code, place):
        text, before = match[0], out[-1]
        if match["gap"]:
            place, gap = match.end(), "\n" if "\n" in text else " "
            continue
        if text == "/" and (before in BEFORE_REGEX or not (WORD.match(before[-1]) or before[-1] in ")]}")):
            match = REGEX.match(code, place) or match
        resumes = text == "}" and bool(depths) and depths[-1] == 0
        if text == "`" or resumes:
            match = TEMPLATE.match(code, place + 1)
            assert match is not None, "a template has no end"
            depths = [*(depths[:-1] if resumes else depths), *([0] if match[1] == "${" else [])]
        elif depths and text in {"{", "}"}:
            depths[-1] += 1 if text == "{" else -1
        text = "let" if text == "const" else code[place : match.end()]
        space = _needed_space(gap, before[-1], text[0])
        out += [space, text] if space else [text]
        place, gap = match.end(), ""
    return "".join(out).strip() + "\n"


def _needed_space(gap: str, left: str, right: str) -> str:
    """Return the part of the space between two tokens that is needed."""
    if not gap or left in OPEN or right in CLOSE:
        return ""
    return gap if gap == "\n" or (WORD.match(left) and WORD.match(right)) or left + right in APART else ""


def squeeze_style(css: str) -> str:
    """Return the same CSS in fewer characters."""
    css = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))
    return re.sub(r" ?([{};,]) ?", r"\1", css).strip()
