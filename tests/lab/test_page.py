"""The page of the lab without a browser: what it lets in, what it asks for, what it shows of a session."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys

import pytest

pytest.importorskip("panel", reason="the lab needs Panel: pip install 'separatrix[lab]'")
from bokeh.models import MultiLine, Patches
from tornado.httputil import HTTPHeaders

from separatrix.errors import DataError, OptionError
from separatrix.lab.guard import Gate, is_loopback, local_names
from separatrix.lab.page.lab_page import LabPage
from separatrix.lab.page.markup import code_html, legend_html, paragraph, table_html
from separatrix.lab.page.opening import opened, restored
from separatrix.lab.page.option_fields import option_fields, option_value
from separatrix.lab.page.upload import LARGEST_UPLOAD, uploaded_table
from separatrix.lab.page.view_bar import permalink
from separatrix.lab.page.views import FIRST_VIEWS, VIEWS, views_of
from separatrix.lab.session import actions
from separatrix.lab.session.options import LEARNERS, PaneOptions
from separatrix.lab.session.presets import PRESETS
from separatrix.lab.session.state import State, first_state

HERE = Gate(local_names("localhost"), 5006)
WORLD = Gate(local_names("0.0.0.0"), 80, open_to_others=True)
NASTY = "<img src=x onerror=alert(1)>"


# Who may speak to it


@pytest.mark.parametrize(
    ("gate", "host", "let_in"),
    [
        (HERE, "localhost:5006", True),
        (HERE, "LOCALHOST:5006", True),
        (HERE, "127.0.0.1:5006", True),
        (HERE, "[::1]:5006", True),
        (HERE, "localhost", False),
        (HERE, "localhost:5007", False),
        (HERE, "192.168.0.7:5006", False),
        (HERE, "evil.example:5006", False),
        (HERE, "localhost:5006,evil.example", False),
        (WORLD, "192.168.0.7", True),
        (WORLD, "192.168.0.7:80", True),
        (WORLD, "[fe80::1]", True),
        (WORLD, "evil.example", False),
    ],
)
def test_only_hosts_of_its_own_are_let_in(gate, host, let_in):
    assert (gate.refusal(HTTPHeaders({"Host": host})) is None) is let_in


def test_origins_and_bodies_are_judged_too():
    host = {"Host": "localhost:5006"}
    assert HERE.refusal(HTTPHeaders({**host, "Origin": "http://localhost:5006"})) is None
    assert HERE.refusal(HTTPHeaders({**host, "Origin": "http://127.0.0.1:5006"}))[0] == 403
    assert HERE.refusal(HTTPHeaders({**host, "Content-Length": "1000001"}))[0] == 413
    assert HERE.refusal(HTTPHeaders({**host, "Content-Length": "-1"}))[0] == 413
    assert HERE.refusal(HTTPHeaders({**host, "Transfer-Encoding": "chunked"}))[0] == 413
    assert HERE.refusal(HTTPHeaders())[2] == "the lab is not at ''; open the address that it printed"


def test_loopback_addresses_are_known():
    assert [is_loopback(each) for each in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "lab.example")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_port_in_use_is_refused_by_number():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "separatrix.cli", "lab", "--no-browser", "--address", "127.0.0.1", "--port"]
        told = subprocess.run([*command, str(port)], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 2
    assert f"error: port {port} of '127.0.0.1' cannot be used (Address already in use); choose another" in told.stderr


# What it takes


def sent(name, content, size=None):
    return {"name": name, "size": len(content) if size is None else size, "content": base64.b64encode(content).decode()}


def test_an_uploaded_table_is_read_under_its_own_name():
    table = uploaded_table(sent("mine.csv", b"a,b\n1,x\n2,y\n"))
    assert (table.source, table.names, table.n_rows) == ("mine.csv", ("a", "b"), 2)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"name": "big.csv", "size": 200_000_000}, "'big.csv' has 200 MB; the lab takes files of up to 20 MB"),
        ({"name": "big.csv", "content": "A" * (LARGEST_UPLOAD * 2)}, "'big.csv' is too large"),
        (sent("a.exe", b"MZ"), "'a.exe' is no table that the lab reads; give it one of .csv"),
        (sent("../../x.py", b"import os"), "is no table that the lab reads"),
        ({"name": "a.csv", "content": "not base64!"}, "'a.csv' did not arrive whole"),
        (sent("a.parquet", b"nothing"), "a.parquet"),
        ("nonsense", "this is no file"),
    ],
)
def test_what_is_no_table_is_refused_in_words(what, words):
    with pytest.raises(DataError) as refusal:
        uploaded_table(what)
    assert words in str(refusal.value)
    assert "/tmp" not in str(refusal.value)


def test_every_learner_has_a_form_whose_values_come_back_as_they_were():
    for learner in LEARNERS:
        pane = PaneOptions(learner=learner)
        fields = option_fields(pane)
        assert fields[0]["value"] == learner
        for field in fields:
            value = option_value(field["name"], field["value"])
            assert value == getattr(pane, field["name"]), (learner, field)


def test_options_are_read_or_refused():
    assert option_value("start", "1, 0.5 0") == (1.0, 0.5, 0.0)
    assert option_value("rate", "") is None
    assert option_value("max_steps", "7") == 7
    with pytest.raises(OptionError, match="rate η: 'fast' is no number"):
        option_value("rate", "fast")
    with pytest.raises(OptionError, match=r"seed: '1.5' is no whole number"):
        option_value("seed", "1.5")


# What it shows


def test_words_of_others_are_never_markup():
    shown = (paragraph(NASTY), code_html(NASTY), table_html([NASTY], [[NASTY]]), legend_html([(NASTY, "red", "dot")]))
    for html in shown:
        assert "<img" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_column_named_like_markup_is_shown_as_text(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text(f"{NASTY},b,kind\n1,2,x\n2,1,x\n5,6,y\n6,5,y\n", encoding="utf-8")
    page = LabPage(opened(str(file), "kind"), views=tuple(VIEWS))
    assert not any("<img" in part.html for part in (page.panes[0].status, *page.panes[0].texts.values()))


def test_note_a_ends_where_the_note_does():
    page = LabPage(first_state())
    for _ in range(5):
        page.time.press("step")
    words = page.panes[0].status.html
    for said in ("w = (5, 1)", "converged, 5 ≤ 17", "separable through the origin with margin γ = 1"):
        assert said in words
    page.desk.undo()
    assert page.desk.state.step == 5


def test_what_is_refused_is_told_and_changes_nothing():
    page = LabPage(first_state())
    before = page.desk.state
    page.desk.act(actions.seek, -1)
    assert "step" in page.notice.html
    page.desk.attempt(lambda: 1 / 0)
    assert "the lab is as it was before" in page.notice.html
    page.keys.press("f")
    assert "no point is chosen" in page.notice.html
    assert page.desk.state == before


def test_every_preset_and_learner_is_drawn_in_every_view():
    page = LabPage(first_state(), views=tuple(VIEWS))
    for preset in PRESETS:
        page.desk.act(actions.load_preset, preset)
        page.time.press("step")
        assert page.notice.html == "", (preset, page.notice.html)
    page.desk.act(actions.load_preset, "gaussians")
    for learner in LEARNERS:
        page.desk.act(actions.set_option, 0, learner=learner)
        page.time.press("step")
        assert page.notice.html == "", (learner, page.notice.html)
        assert page.desk.state.panes[0].learner == learner


def test_a_table_says_which_rows_it_leaves_out_and_which_column_is_too_large(tmp_path):
    file = tmp_path / "own.csv"
    rows = "".join(f"{k % 7},{k % 5},{1 + k}e300,{'xy'[k % 2]}\n" for k in range(20))
    file.write_text(f"a,b,c,kind\n,1,1,x\n,2,1,y\n3,1,1,\n{rows}", encoding="utf-8")
    page = LabPage(opened(str(file), "kind"))
    words = next(field["value"] for field in page.data.form.fields if field["name"] == "words")
    assert words == "20 rows fitted; left out: 1 row without 'kind', 2 rows without 'a'"
    page.data.told("up", "c")
    assert "column &#x27;c&#x27; has numbers up to 2e+301" in page.notice.html
    assert page.desk.state.origin.columns == ("a", "b")


def test_a_view_with_nothing_to_draw_shows_its_words_alone():
    page = LabPage(actions.load_preset(first_state(), "moons"))
    weights, mistakes = page.panes[0].drawings["weights"], page.panes[0].drawings["mistakes"]
    for _ in range(3):
        page.desk.act(actions.set_option, 0, learner="perceptron")
        assert (weights.figures[0].visible, weights.axes_form.visible, mistakes.figures[0].visible) == (True,) * 3
        page.desk.act(actions.set_option, 0, learner="kernel_svm")
        assert (weights.figures[0].visible, weights.axes_form.visible, mistakes.figures[0].visible) == (False,) * 3
        assert "no weights to draw" in weights.words.html
    page.desk.act(actions.set_option, 0, learner="kernel_perceptron")
    assert mistakes.figures[0].visible
    page.desk.act(actions.set_option, 0, learner="perceptron", feature_map="squared_distance")
    assert weights.figures[0].visible
    assert not weights.axes_form.visible  # two weights: there is nothing to choose


def test_no_glyph_looks_for_what_the_same_message_has_taken_away():
    page = LabPage(first_state(), views=tuple(VIEWS))
    figures = [figure for drawing in page.panes[0].drawings.values() for figure in drawing.figures]
    glyphs = [renderer.glyph for figure in figures for renderer in figure.renderers]
    assert len(glyphs) > 20
    assert not any(isinstance(glyph, MultiLine | Patches) for glyph in glyphs)


def test_a_step_sends_data_and_makes_no_new_figure():
    page = LabPage(actions.set_drawing(actions.load_preset(first_state(), "gaussians"), n=500))
    figures = [figure.id for drawing in page.panes[0].drawings.values() for figure in drawing.figures]
    renderers = [len(figure.renderers) for drawing in page.panes[0].drawings.values() for figure in drawing.figures]
    before = page.panes[0].drawings["input"].points.data
    page.time.press("step")
    assert [figure.id for drawing in page.panes[0].drawings.values() for figure in drawing.figures] == figures
    assert [len(f.renderers) for drawing in page.panes[0].drawings.values() for f in drawing.figures] == renderers
    assert page.panes[0].drawings["input"].points.data is before  # the points did not change, so they are not sent


def test_a_drag_a_click_and_bokehs_own_keys_are_actions():
    page = LabPage(first_state())
    drawing = page.panes[0].drawings["input"]
    moved = {name: list(values) for name, values in drawing.points.data.items()}
    moved["x"][4] = -3.0
    drawing.points.data = moved
    assert page.desk.state.points.X[4].tolist() == [-3.0, 0.0]
    page.data.told("mode", "plus")
    page.panes[0].touch("tap", (0.5, 0.5), None)
    assert len(page.desk.state.points) == 6
    page.data.told("mode", "delete")
    page.panes[0].touch("tap", (0.5, 0.5), 5)
    assert len(page.desk.state.points) == 5


def test_permalinks_come_back_and_bad_ones_are_told():
    state = actions.add_pane(actions.step(first_state(), 3))
    query = permalink(state, ("input", "losses"))
    token = query.removeprefix("?state=").partition("&")[0]
    assert restored(first_state(), token) == (state, "")
    assert views_of(query.rpartition("views=")[2]) == ("input", "losses")
    kept, told = restored(first_state(), "AAAA")
    assert kept == first_state()
    assert told.startswith("this link could not be followed: ")
    assert views_of("nonsense") == FIRST_VIEWS


def test_panes_come_and_go():
    page = LabPage(first_state())
    for count in (2, 3, 4):
        page.keys.press("n")
        assert len(page.row.objects) == count
    page.keys.press("n")
    assert "there are 4 panes already" in page.notice.html
    page.panes[1].taken("remove", True)
    assert len(page.row.objects) == 3


def test_the_notebook_has_the_same_cards(monkeypatch):
    import separatrix as sx

    shown = sx.lab.app(token="AAAA")
    assert len(shown.objects) == 2
    assert isinstance(first_state(), State)


def test_without_panel_the_remedy_is_named():
    code = (
        "import importlib.util as u, separatrix as sx; found = u.find_spec; sx.lab;"
        "sx.lab.find_spec = lambda name: None\ntry:\n    sx.lab.app()\nexcept sx.errors.OptionError as e:\n    print(e)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout == "the lab needs Panel and Bokeh; install them: pip install 'separatrix[lab]'\n"
