"""The codec: dataclasses to JSON and back unchanged; whatever is altered is refused with its place."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix import codec
from separatrix.arrays import Floats, Ints
from separatrix.codec import Items, Range, Shape, Tag, parse_json, plain, read, write
from separatrix.errors import ModelFileError, OptionError


@dataclass(frozen=True)
class Ball:
    kind: Literal["ball"] = field(default="ball", init=False)
    radius: Annotated[float, Range(above=0.0)]


@dataclass(frozen=True)
class Group:
    kind: Literal["group"] = field(default="group", init=False)
    parts: tuple[AnyBody, ...]


AnyBody = Annotated[Ball | Group, Tag("kind")]


@dataclass(frozen=True, eq=False)
class Content:
    name: str
    size: int = field(init=False, metadata={"key": "length"})
    order: Literal["first", "last"]
    share: Annotated[float, Range(0.0, 1.0)]
    count: Annotated[int, Range(0)]
    pair: tuple[bool, float]
    words: Annotated[tuple[str, ...], Items(1, distinct=True)]
    exact: Fraction
    coef: Annotated[Floats, Shape("scores", "columns")]
    intercept: Annotated[Floats, Shape("scores")]
    rows: Annotated[Ints, Shape(None), Range(0, 9)]
    body: AnyBody
    level: float | Literal["auto"] | None
    free: Mapping[str, Any]
    note: str | None = field(default=None, metadata={"optional": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.words))
        if self.name == "nobody":
            raise OptionError("name is nobody, which nothing is called")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
BODIES = st.recursive(
    st.builds(Ball, st.floats(1e-300, 1e300)), lambda body: st.builds(Group, st.lists(body, max_size=3).map(tuple))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def contents(draw: Any) -> Content:
    scores, columns = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    matrix = [draw(st.lists(NUMBERS, min_size=columns, max_size=columns)) for _ in range(scores)]
    return Content(
        name=draw(TEXTS),
        order=draw(st.sampled_from(["first", "last"])),
        share=draw(st.floats(0.0, 1.0)),
        count=draw(st.integers(0, 2**60)),
        pair=(draw(st.booleans()), draw(NUMBERS)),
        words=tuple(draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))),
        exact=draw(st.fractions()),
        coef=np.asarray(matrix, dtype=float).reshape(scores, columns),
        intercept=np.asarray(draw(st.lists(NUMBERS, min_size=scores, max_size=scores)), dtype=float),
        rows=np.asarray(draw(st.lists(st.integers(0, 9), max_size=3)), dtype=np.int64),
        body=draw(BODIES),
        level=draw(st.none() | st.just("auto") | NUMBERS),
        free=draw(st.dictionaries(TEXTS, JSON, max_size=3)),
        note=draw(st.none() | TEXTS),
    )


@given(contents())
def test_values_come_back_bit_for_bit(content: Content) -> None:
    text = json.dumps(write(content), allow_nan=False)
    again = read(Content, parse_json(text.encode()), "content")
    assert json.dumps(write(again)) == text
    assert again.coef.tobytes() == content.coef.tobytes()
    assert (again.body, again.exact, again.level) == (content.body, content.exact, content.level)
    assert (again.coef.dtype, again.rows.dtype) == (np.float64, np.int64)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value within another."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*place, key)
        yield from places(inner, (*place, key))


def spelled(place: tuple[Any, ...]) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{ascii(key)[1:-1][: codec.MAX_SHOWN]}" for key in place)
    return "content" + "".join(parts)


@given(contents(), st.data())
def test_what_is_altered_is_refused_with_its_place_or_comes_back(content: Content, data: Any) -> None:
    values = json.loads(json.dumps(write(content)))
    place = data.draw(st.sampled_from(list(places(values))))
    holder = values
    for key in place[:-1]:
        holder = holder[key]
    change = data.draw(st.sampled_from(["replace", "delete", "wrap", "add"]))
    if change == "delete":
        del holder[place[-1]]
    elif change == "wrap":
        holder[place[-1]] = [holder[place[-1]]]
    elif change == "add" and isinstance(holder, dict):
        holder["added"] = 1
    else:
        holder[place[-1]] = data.draw(JSON | st.sampled_from([math.nan, math.inf, -math.inf, 10**400, "\ud800"]))
    try:
        again = read(Content, parse_json(json.dumps(values).encode()), "content")
    except codec.FormatError as refused:
        assert str(refused).isascii()  # noqa: PT017
        named, altered = refused.place, spelled((*place[:-1], "added") if "added" in holder else place)
        together = {"coef", "intercept"}, {"words", "length"}  # whose sizes are compared
        assert (
            named.startswith(altered)
            or altered.startswith(named)
            or (isinstance(holder, list) and named.startswith(spelled(place[:-1])))  # entries have moved
            or any(place[0] in keys and named.removeprefix("content.").split("[")[0] in keys for keys in together)
        )
    else:
        assert write(again) == values


@given(contents(), st.integers(0, 10**6), st.integers(0, 255))
def test_altered_bytes_are_refused_or_read(content: Content, place: int, byte: int) -> None:
    text = bytearray(json.dumps(write(content)).encode())
    text[place % len(text)] = byte
    with suppress(ModelFileError):
        json.dumps(write(read(Content, parse_json(bytes(text)))), allow_nan=False)


def whole() -> dict[str, Any]:
    content = Content("a", "last", 0.5, 3, (True, 1.0), ("x", "y"), Fraction(1, 3), np.eye(2), np.zeros(2),
                      np.arange(2), Group((Ball(1.0), Group((Ball(2.0),)))), None, {"a": [1]})  # fmt: skip
    values: dict[str, Any] = json.loads(json.dumps(write(content)))
    return values


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        (("name",), [], "content.name is a list; text is needed"),
        (("name",), "nobody", "content: name is nobody, which nothing is called"),
        (("length",), 3, "content.length does not agree with the values beside it; the file was altered"),
        (("order",), "lst", "content.order is \"lst\"; did you mean 'last'?"),
        (("share",), True, "content.share is true; a finite number is needed"),
        (("share",), [0.5], "content.share is a list; a finite number is needed"),
        (("share",), 2, "content.share is 2; a number of at least 0 and of at most 1 is needed"),
        (("count",), 1.0, "content.count is 1.0; a whole number is needed"),
        (("count",), True, "content.count is true; a whole number is needed"),
        (("pair",), [True], "content.pair has 1 entries; 2 are needed"),
        (("pair", 0), 1, "content.pair[0] is 1; true or false is needed"),
        (("words",), [], "content.words has 0 entries; at least 1 are needed"),
        (("words", 1), "x", 'content.words[1] is "x"; a distinct entry is needed'),
        (("exact",), "1/0", 'content.exact is "1/0"; a fraction is needed'),
        (("exact",), "nan", 'content.exact is "nan"; a fraction is needed'),
        (("coef", 1), "a", 'content.coef[1] is "a"; a list is needed'),
        (("coef", 1, 0), "a", 'content.coef[1][0] is "a"; a finite number is needed'),
        (("coef", 1, 0), "Infinity", 'content.coef[1][0] is "Infinity"; a finite number is needed'),
        (("coef", 1), [1.0], "content.coef[1] has 1 entries; 2 are needed"),
        (("intercept",), [1.0], "content.intercept has 1 entries; 2 are needed"),
        (("rows", 1), 10, "content.rows[1] is 10; a whole number of at least 0 and of at most 9 is needed"),
        (("body", "kind"), "bal", "content.body.kind is \"bal\"; did you mean 'ball'?"),
        (("body", "parts", 1, "parts", 0, "radius"), 0, "content.body.parts[1].parts[0].radius is 0; a number above 0"),
        (("level",), "cv", 'content.level is "cv"; a finite number or "auto" is needed'),
        (("free", "b"), {"c": [math.inf]}, "content.free.b.c[0] is Infinity; a finite number is needed"),
        (("shape",), 1, "content.shape is unknown; did you mean 'share'?"),
    ],
)
def test_a_fault_names_its_place(place: tuple[Any, ...], value: Any, fault: str) -> None:
    values = whole()
    holder: Any = values
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    with pytest.raises(ModelFileError) as refused:
        read(Content, values, "content")
    assert str(refused.value).startswith(fault)


@pytest.mark.parametrize("key", [key for key in whole() if key != "note"])
def test_no_key_may_be_missing(key: str) -> None:
    values = whole()
    del values[key]
    with pytest.raises(ModelFileError, match=f"^content.{key} is missing$"):
        read(Content, values, "content")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_no_spelling_of_infinity_is_read(number: str) -> None:
    with pytest.raises(ModelFileError, match=r"^x.coef\[1\] is -?(NaN|Infinity); a finite number is needed$"):
        read(Mapping[str, Any], parse_json(b'{"coef": [1, %s]}' % number.encode()), "x")


def test_a_repeated_key_is_named() -> None:
    with pytest.raises(ModelFileError, match=r"^a\[0\].b is given twice$"):
        read(Mapping[str, Any], parse_json(b'{"a": [{"b": 1, "c": 2, "b": 1}]}'))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 10_000_000,
        b'{"a":' * 1_000_000,
        b'["' + b'\\"' * 5_000_000,
        b'"' * 999_999,
        b"[" + b"1," * 20_000_000 + b"1]",
    ],
    ids=["lists", "objects", "an unfinished string", "quotes", "values"],
)
def test_hostile_text_is_refused_before_it_is_parsed(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    if content.count(b'"') < 1000:
        monkeypatch.setattr(json, "loads", None)
    with pytest.raises(ModelFileError):
        parse_json(content)


def test_brackets_within_strings_do_not_nest() -> None:
    values = ["[" * 1000, '{"' * 1000, "\\", '\\"[']
    assert parse_json(json.dumps(values).encode()) == values


def test_a_fraction_has_bounds_as_a_number_has() -> None:
    kind = Annotated[Fraction, Range(0, 1)]
    assert read(kind, "1/3") == Fraction(1, 3)
    assert read(kind, 0.25) == Fraction(1, 4)
    with pytest.raises(ModelFileError, match=r'^x is "4/3"; a fraction of at least 0 and of at most 1 is needed$'):
        read(kind, "4/3", "x")


def test_free_values_become_plain() -> None:
    odd = {"a": np.inf, "b": (np.float64(np.nan), np.int64(3)), 3: np.arange(2), "f": math.sqrt}
    assert plain(odd) == {"a": "inf", "b": ["nan", 3], "3": [0, 1], "f": "sqrt"}
    with pytest.raises(OptionError, match="cannot be written as JSON"):
        write(Ball(math.sqrt))  # type: ignore[arg-type]


def test_the_codec_loads_without_numpy() -> None:
    code = "import sys, separatrix.codec; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_integer_of_thousands_of_digits_is_refused_by_its_length() -> None:
    with pytest.raises(ModelFileError, match=r"^it has an integer of more than 4,300 digits"):
        parse_json(b'{"format": ' + b"9" * 5000 + b"}")
