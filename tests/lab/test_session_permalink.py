"""Links: every session comes back from its link, and no link does harm."""

import base64
import json
import random
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import DataError, OptionError
from separatrix.lab.session import actions
from separatrix.lab.session.options import LEARNERS, PaneOptions
from separatrix.lab.session.permalink import LONGEST, from_token, to_token
from separatrix.lab.session.presets import PRESETS
from separatrix.lab.session.state import first_state

numbers = st.floats(-1e5, 1e5)
panes = st.builds(
    PaneOptions,
    learner=st.sampled_from(list(LEARNERS)),
    rate=st.none() | st.floats(1e-6, 1e6),
    start=st.sampled_from(["zero", "random"]) | st.lists(numbers, min_size=1, max_size=5).map(tuple),
    margin=st.floats(0.0, 10.0),
    gamma=st.none() | st.floats(1e-3, 1e3),
    keep=st.sampled_from(["last", "vote"]),
    seed=st.integers(0, 2**32 - 1),
    fit_intercept=st.booleans(),
)


@st.composite
def states(draw):
    state = actions.load_preset(first_state(), draw(st.sampled_from(list(PRESETS))))
    if PRESETS[state.origin.name].slides:
        drawing = {"n": draw(st.integers(4, 80)), "margin": draw(st.floats(0, 1)), "noise": draw(st.floats(0, 1))}
        state = actions.set_drawing(state, **drawing, seed=draw(st.integers(0, 999)))
    state = actions.set_option(state, 0, **vars(draw(panes)))
    for pane in draw(st.lists(panes, max_size=3)):
        state = actions.add_pane(state, pane)
    for at in draw(st.lists(st.tuples(numbers, numbers), max_size=3)):
        state = actions.add_point(state, at, draw(st.sampled_from([-1, 1])))
    for edit in draw(st.lists(st.sampled_from([actions.flip_point, actions.delete_point]), max_size=3)):
        point = draw(st.sampled_from(state.points.ids.tolist()))
        try:
            state = edit(state, point)
        except DataError:
            continue
    return actions.speed(state, draw(st.floats(0.5, 30.0)))


@settings(deadline=None, max_examples=60)
@given(states(), st.integers(0, 10_000))
def test_a_state_comes_back_from_its_link(state, step):
    state = replace(state, step=step)
    token = to_token(state)
    assert len(token) <= LONGEST
    assert from_token(token) == state
    assert to_token(from_token(token)) == token


def pack(content):
    plain = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")


def content_of(state):
    token = to_token(state)
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))))


EDITED = content_of(actions.add_point(first_state(), (1.0, 2.0), 1))
GOOD = content_of(actions.set_option(first_state(), 0, rate=0.5))


def altered(content, path, value):
    copy = json.loads(json.dumps(content))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


HOSTILE = [
    ("", "none at all"),
    ("x" * (LONGEST + 1), "8,193 characters, where 8,192 are allowed"),
    ("../../etc/passwd", "other characters than"),
    ("<script>", "other characters than"),
    ("AAAA", "cut short or altered"),
    (to_token(first_state())[:-8], "cut short"),
    (pack(b"[" * 100_000), "nests deeper than 64 levels"),
    (pack(b"0" * 2**20), "larger than any session"),
    (pack(b"[1, 2"), "no JSON"),
    (pack([1, 2]), "an object should be"),
    (pack({}), "link.version is not there"),
    (pack(altered(GOOD, ["version"], 2)), "link.version is 2, where a whole number from 1 to 1"),
    (pack(altered(GOOD, ["origin", "preset"], "__import__('os')")), "link.origin.preset is"),
    (pack(altered(GOOD, ["origin"], {"preset": "rings"})), "link.origin.drawing is not there"),
    (pack(altered(GOOD, ["origin"], {"preset": "rings", "drawing": [1e9, 0, 0, 0]})), "n=1000000000 is out of range"),
    (pack(altered(GOOD, ["origin"], {"preset": "rings", "drawing": [9.5, 0, 0, 0]})), "must be whole numbers"),
    (pack(altered(GOOD, ["origin"], {"preset": "rings", "drawing": [9, 2, 0, 0]})), "margin=2.0 is out of range"),
    (pack(altered(GOOD, ["panes"], [])), "it has 0 panes"),
    (pack(altered(GOOD, ["panes"], [{}] * 5)), "it has 5 panes, where 1 to 4"),
    (pack(altered(GOOD, ["panes", 0, "rate"], "1")), "rate='1' is not a number"),
    (pack(altered(GOOD, ["panes", 0, "rate"], [1])), "rate=.* is not a number"),
    (pack(altered(GOOD, ["panes", 0, "learner"], {"a": 1})), "is not one of"),
    (pack(altered(GOOD, ["panes", 0, "__class__"], "x")), "an option '__class__' that no pane has"),
    (pack(altered(GOOD, ["panes", 0, "max_steps"], 10**9)), "max_steps=1000000000 is out of range"),
    (pack(altered(GOOD, ["panes", 0, "start"], ["a"])), "where a finite number should be"),
    (pack(altered(GOOD, ["panes", 0, "start"], [0.0] * 101)), "is no start"),
    (pack(altered(GOOD, ["step"], -1)), "link.step is -1"),
    (pack(altered(GOOD, ["step"], 1e300)), "link.step is 1e"),
    (pack(altered(GOOD, ["speed"], 1e6)), "where a speed from 0.5 to 30"),
    (pack(altered(GOOD, ["axes"], [0, 7])), "two places from 0 to 1"),
    (pack(altered(GOOD, ["axes"], [0])), "link.axes has 1 numbers, where 2 should be"),
    (pack(altered(EDITED, ["edits", "changed"], [[5, 1, 1e300, 0]])), "further out than 1e"),
    (pack(altered(EDITED, ["edits", "changed"], [[5, 3, 0, 0]])), "not of two classes"),
    (pack(altered(EDITED, ["edits", "changed"], [[5, 1, 0]])), "has 3 numbers, where 4 should be"),
    (pack(altered(EDITED, ["edits", "changed"], [[5, 1, 0, 0], [5, 1, 0, 0]])), "have the same number"),
    (pack(altered(EDITED, ["edits", "changed"], [[-5, 1, 0, 0]])), "none that counts points"),
    (pack(altered(EDITED, ["edits", "gone"], [0, 1, 2, 3, 4])), "not of two classes"),
    (pack(b'{"version":1,"version":1}'), "given twice"),
    (pack(b'{"version":NaN}'), "NaN is no JSON number"),
    (
        pack({**GOOD, "origin": {"table": "a.csv", "digest": "0", "columns": ["a"], "positive": "x", "components": 0}}),
        "of the table 'a.csv', which is not open here; open it first",
    ),
]


@pytest.mark.parametrize(("token", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_link_is_refused_by_name(token, message):
    with pytest.raises(DataError, match=f"this link cannot be used: .*{message}"):
        from_token(token)


def outcome(token):
    """Return what comes of a link in words."""
    try:
        return f"a state of {len(from_token(token).panes)}"
    except DataError as refusal:
        return str(refusal)


def test_any_other_text_is_refused_or_is_a_state():
    rng, token = random.Random(0), to_token(first_state())
    letters = "ABCxyz019_-"
    for _ in range(300):
        place = rng.randrange(len(token))
        changed = token[:place] + rng.choice(letters) + token[place + 1 :]
        assert outcome(changed).startswith(("a state", "this link cannot be used: "))


def test_too_many_changes_by_hand_do_not_fit_a_link():
    state = actions.set_drawing(actions.load_preset(first_state(), "separable"), n=1000)
    rng = random.Random(1)
    X = state.points.X + [[rng.random(), rng.random()] for _ in range(1000)]
    many = replace(state, points=state.points.changed(X=X))
    with pytest.raises(OptionError, match="where 8,192 are allowed; take away the Python code"):
        to_token(many)
