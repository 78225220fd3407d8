"""How a page begins, whatever its link, table or address; and that its controls show what holds."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

pytest.importorskip("panel", reason="the lab needs Panel: pip install 'separatrix[lab]'")

from separatrix.errors import DataError, OptionError
from separatrix.lab.page import opening
from separatrix.lab.page.lab_page import LabPage
from separatrix.lab.page.opening import first_page, opened
from separatrix.lab.server import start
from separatrix.lab.session import actions
from separatrix.lab.session.permalink import from_token, to_token
from separatrix.lab.session.state import first_state
from separatrix.lab.session.verdict import verdict_of
from separatrix.lab.session.views.mistakes import mistake_view
from separatrix.lab.session.views.status import status_line

LINK = {
    "version": 1,
    "origin": {"preset": "note-a"},
    "panes": [{}],
    "step": 0,
    "speed": 1.0,
    "axes": [0, 1],
    "weight_axes": [0, 1],
}


def packed(**changes):
    plain = json.dumps({**LINK, **changes}).encode()
    return base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")


@pytest.mark.parametrize("option", ["rate", "seed", "max_steps", "margin"])
def test_numbers_beyond_all_floats_are_refused_in_a_link(option):
    with pytest.raises(DataError, match="this link cannot be used"):
        from_token(packed(panes=[{option: 10**400}]))


def test_a_link_that_fails_in_no_foreseen_way_still_gives_a_page(monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(opening, "from_token", broken)
    page = first_page(first_state(), "anything", "input")
    assert "this link could not be followed; why is in the lab&#x27;s log" in page.notice.html
    assert page.desk.state == first_state()
    assert "unforeseen" in caplog.text


def test_a_link_to_an_example_keeps_the_table_that_is_open(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("a,b,kind\n1,2,x\n3,1,y\n", encoding="utf-8")
    first = opened(str(file), "kind")
    page = first_page(first, to_token(actions.load_preset(first, "rings")))
    assert page.desk.state.table == first.table
    page.data.told("preset", "table")
    assert len(page.desk.state.points) == 2


def test_a_target_is_asked_for_until_one_can_be_taken():
    page = LabPage(first_state())
    rows = b"a,b,one,kind\n1,2,x,u\n3,1,x,v\n"
    page.data.told("file", {"name": "own.csv", "size": len(rows), "content": base64.b64encode(rows).decode()})
    page.data.told("target", "one")
    assert "the target &#x27;one&#x27; has 1 different value;" in page.notice.html
    assert "target" in {field["name"] for field in page.data.form.fields}
    page.data.told("target", "kind")
    assert len(page.desk.state.points) == 2
    assert "target" not in {field["name"] for field in page.data.form.fields}


def test_crosses_are_smaller_than_the_marks_of_many_points_and_no_side_is_shaded_at_the_start():
    many = actions.set_drawing(actions.load_preset(first_state(), "separable"), n=2000)
    drawing = LabPage(many, views=("input",)).panes[0].drawings["input"]
    assert drawing.cross.size < drawing.mark.size < 11
    shade = drawing.shade.data["image"][0]
    assert shade.min() == shade.max() == 32


def test_classes_that_differ_in_their_last_digit_are_told_apart(tmp_path):
    file = tmp_path / "codes.csv"
    file.write_text("a,b,code\n1,2,20000001\n3,1,20000002\n", encoding="utf-8")
    assert opened(str(file), "code").table.labels == ("20000001", "20000002")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Tornado leaves its socket to be found
@pytest.mark.parametrize(("port", "what"), [(None, "the address"), (0, "the address"), (7, "port 7 of")])
def test_an_address_of_another_machine_is_refused_by_name(port, what):
    with pytest.raises(OptionError, match=rf"^{what} '192\.0\.2\.1' cannot be used \(.+\); choose another$"):
        start(lambda: None, address="192.0.2.1", port=port)


def test_a_control_that_was_refused_is_told_what_holds(monkeypatch):
    page, sent = LabPage(first_state()), []
    form = page.panes[0].options
    monkeypatch.setattr(form, "_send_msg", sent.append)
    form._handle_msg({"name": "rate", "value": "-5"})
    assert "rate=-5.0 is out of range" in page.notice.html
    assert sent == [{"unchanged": "rate"}]
    form._handle_msg({"name": "rate", "value": "2"})
    assert page.desk.state.pane(0).rate == 2.0
    assert len(sent) == 1


def test_the_margin_of_the_bound_is_told_from_that_of_the_verdict():
    """With an intercept the proof is about rows with a 1 before them: their margin is not that of the points."""
    plain, lifted = first_state(), actions.load_preset(first_state(), "rings")
    assert mistake_view(plain, 0).words.endswith("R = 4.12311, γ = 1")
    assert mistake_view(lifted, 0).words.endswith(" of the rows (1, x)")
    assert mistake_view(lifted, 0).margin < 0.9 * verdict_of(lifted, 0).margin


def test_a_walk_that_was_cut_short_does_not_look_like_one_that_arrived():
    cut = actions.seek(actions.load_preset(first_state(), "note-b-overlap"), 100)
    arrived = actions.seek(first_state(), 5)
    assert [status_line(state, 0).unfinished for state in (cut, arrived, first_state())] == [True, False, False]
    assert 'class="state unfinished"' in LabPage(cut).panes[0].status.html
    assert 'class="state ended"' in LabPage(arrived).panes[0].status.html
