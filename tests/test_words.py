"""Plain words: messages, docstrings, comments and guides have no telegraphic idioms; a glossary explains the terms."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUFFIXES = {".py", ".js", ".j2", ".html", ".css", ".md"}
TEXTS = [
    ROOT / "README.md",
    *(path for top in ("src", "docs") for path in sorted((ROOT / top).rglob("*")) if path.suffix in SUFFIXES),
]
PHRASES = (
    "of always the commonest",
    "above its least value",
    "nothing tells their errors",
    "no column is made of others",
    "cannot tell its coefficient",
    "times spread",
    "95 % from",
    "running off",
    "kept apart",
    "a row a pass",
    "floats cannot tell",
    "on its own rows",
    "a step a step",
    "as no other was asked for",
)
UNITS = "row|pass|step|line|class|fit|column|partition|update|core|panel|fold"
IDIOMS = (
    rf"\ba ({UNITS}) an? ({UNITS})\b",  # one row per pass
    rf"\b(one|entry|task|number|byte|bytes|blocks) an? ({UNITS})\b(?! of)",
    r"\btold by name\b",
    r"\btells? (its|their) errors?\b",
    r"\bfloats (could not|can) tell\b",
    r"\bas floats can go no further\b",
    r"\btruth values?\b",
    r"\bby \d+ rows that cancel\b",
    r"\bno other coefficients reach\b",
    r"\bif not said\b",
    r"\bmay be given often\b",
    r"\bas the model asks\b",
    r"\bsays itself\b",
    r"\bcolumn is tied to\b",
    r"\bwhat others print\b",
    r"\bat the weights kept\b",
    r"\bwas asked for\b",
    r"\bnothing to explain\b",
    r"\bgives weight to\b",
    r"\breturn what (is|are|can|follows|remains|happened)\b",
)
BETWEEN_WORDS = r"(?:\s|[#*/]|[\"']\s+f?[\"'])+"  # also where a comment or a string continues


def pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase in any capitals, also across the lines of a paragraph, a comment or a string."""
    return re.compile(phrase.replace(" ", BETWEEN_WORDS), re.IGNORECASE)


def places(sought: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    """Return where a pattern occurs, as file:line with the text found."""
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for name, text in texts.items()
        for match in sought.finditer(text)
    ]


@pytest.fixture(scope="module")
def texts():
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in TEXTS}


def test_the_texts_are_those_of_the_package_and_its_guides(texts):
    suffixes = {Path(name).suffix for name in texts}
    assert suffixes >= {".py", ".js", ".j2", ".css", ".md"}
    assert "docs/glossary.md" in texts


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_gone(phrase, texts):
    assert not places(pattern(re.escape(phrase).replace(r"\ ", " ")), texts)


@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_idiom_is_gone(idiom, texts):
    assert not places(pattern(idiom), texts)


@pytest.mark.parametrize(
    "text",
    [
        "a row a pass",
        "A Row\na pass",
        "# with a row\n    # a pass each",
        '"reads a row"\n        f" a pass"',
        "/**\n * a row\n * a pass\n */",
    ],
    ids=["plain", "capitals and lines", "comment", "string", "block comment"],
)
def test_a_phrase_is_found_however_it_is_broken(text):
    assert places(pattern("a row a pass"), {"text": text})


def test_plain_english_is_not_mistaken_for_the_idiom():
    text = "one row per pass; a class of one row; one column of a table; the step of a fit"
    assert not [idiom for idiom in IDIOMS if pattern(idiom).search(text)]


def test_the_glossary_is_sorted_and_linked():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| (?!term|--)([^|]+?) \|", page, re.MULTILINE)
    assert 30 <= len(terms) <= 60
    assert terms == sorted(terms, key=str.lower)
    assert "docs/glossary.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    used = {name.strip("s") for name in re.findall(r"(?<!\*)\*([^*|]+)\*(?!\*)", page)} - {"italic"}
    known = " ".join(terms).lower()
    assert not [name for name in used if name.lower() not in known and name.lower()[:-2] not in known]
