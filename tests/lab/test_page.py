"""The page as Python writes it: one file, safe whatever the data hold, with errors that help."""

from __future__ import annotations

import base64
import hashlib
import html as html_text
import json
import re
import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.lab import assemble
from separatrix.lab.squeeze import squeeze

POINTS = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
SIGNS = [1, 1, -1, -1, -1]
HOSTILE = ["</script><script>alert(1)</script>", "<!--", "a&b\"'`${x}", "=1+1", "\u2028"]


def _data(page: Any) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def test_it_is_one_small_file_with_a_strict_policy() -> None:
    page = sx.lab.page().html
    assert len(page.encode()) < 400_000
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None
    for text in (*scripts, *styles):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1]


def test_it_asks_nothing_of_any_machine() -> None:
    page = sx.lab.page().html.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", page)
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\b", page)


def test_without_data_it_has_none() -> None:
    assert _data(sx.lab.page()) is None


def test_rows_and_labels_come_along() -> None:
    data = _data(sx.lab.page(POINTS, SIGNS))
    assert data["target"] == "class"
    assert data["csv"].splitlines()[:2] == ["x1,x2,class", "1.0,4.0,1"]


def test_large_whole_labels_stay_different() -> None:
    lines = _data(sx.lab.page(POINTS, [1000001.0, 1000002.0] * 2 + [1000001.0]))["csv"].splitlines()
    assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {"1000001", "1000002"}


def test_two_columns_of_one_name_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(sx.errors.DataError, match="two columns called 'p'"):
        sx.lab.page(pandas.DataFrame(POINTS, columns=["p", "p"]), SIGNS)


def test_numbers_come_along_to_the_last_bit() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e-7
    lines = _data(sx.lab.page(X, [0, 1] * 10))["csv"].splitlines()[1:]
    assert [[float(cell) for cell in line.split(",")[:2]] for line in lines] == X.tolist()


def test_names_and_labels_are_text_never_markup() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.arange(10.0).reshape(2, 5), columns=HOSTILE)
    page = sx.lab.page(frame, HOSTILE[:2])
    assert page.html.count("<script") == sx.lab.page().html.count("<script")
    assert page.html.count("<!--") == sx.lab.page().html.count("<!--")
    assert "alert(1)</script>" not in page.html
    assert HOSTILE[0] in _data(page)["csv"]


def test_tables_come_along() -> None:
    data = _data(sx.lab.page(table="demo:iris"))
    assert data["csv"].splitlines()[0].endswith(data["target"])
    assert len(data["csv"].splitlines()) == 151
    assert _data(sx.lab.page(table=sx.read_table("demo:iris"), target="species")) == data


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": POINTS}, "X is given alone|y"),
        ({"y": SIGNS}, "y is given alone"),
        ({"X": POINTS, "y": SIGNS, "table": "demo:iris"}, "both"),
        ({"X": POINTS, "y": SIGNS[:4]}, "one label for each row"),
        ({"X": POINTS, "y": [1] * 5}, "has 1 class .*two or three"),
        ({"X": [], "y": []}, "0 classes"),
        ({"X": np.array(POINTS) * 1j, "y": SIGNS}, "entries that are not numbers"),
        ({"X": np.array(POINTS) * np.nan, "y": SIGNS}, "fewer than two classes"),
        ({"X": POINTS, "y": ["NA", "NA", "b", "b", "b"]}, "'NA' .* read as missing"),
        ({"target": "y"}, "no table is given"),
        ({"X": POINTS, "y": [1, 2, 3, 4, 5]}, "5 classes .*two or three"),
        ({"X": [["a", 1]], "y": [1]}, "entries that are not numbers"),
        ({"X": np.zeros((50_001, 2)), "y": [0] * 50_001}, "50,001 rows.*separatrix fit"),
        ({"table": "demo:iris", "target": "specie"}, "species"),
    ],
)
def test_errors_name_the_value_and_the_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises((sx.errors.DataError, sx.errors.OptionError), match=message):
        sx.lab.page(**given)


def test_a_table_without_target_lists_the_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(sx.errors.OptionError, match=r"target among 'a', 'b'"):
        sx.lab.page(table=str(tmp_path / "t.csv"))


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, goal = sx.lab.page(), tmp_path / "lab.html"
    assert page.save(goal) == goal
    assert goal.read_text(encoding="utf-8") == page.html
    goal.write_text("before")

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(sx.errors.OptionError, match="No space left"):
            page.save(goal)
    assert goal.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["lab.html"]
    with pytest.raises(sx.errors.OptionError, match="is not a regular file"):
        page.save(tmp_path)
    with pytest.raises(sx.errors.OptionError, match="cannot be written"):
        page.save(tmp_path / "nowhere" / "lab.html")


def test_it_opens_in_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = sx.lab.page().open()
    assert opened == [path.as_uri()]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    path.unlink()
    path.parent.rmdir()


def test_notebooks_show_it_in_a_frame() -> None:
    page = sx.lab.page()
    inside = re.fullmatch(
        r'<iframe title="separatrix lab" srcdoc="([^"]*)" style="[^"]*"></iframe>', page._repr_html_()
    )
    assert inside is not None
    assert html_text.unescape(inside[1]) == page.html
    assert "kB" in repr(page)


def test_the_command_line_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "lab.html"
    done = CliRunner().invoke(app, ["lab", "--out", str(out)])
    assert done.exit_code == 0
    assert str(out) in done.output
    done = CliRunner().invoke(app, ["lab", "demo:iris", "--out", str(out), "--json"])
    assert json.loads(done.output) == {"path": str(out), "bytes": out.stat().st_size}
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    done = CliRunner().invoke(app, ["lab", "--json"])
    assert Path(json.loads(done.output)["path"]).exists()
    done = CliRunner().invoke(app, ["lab", "demo:iris", "--target", "nothing", "--out", str(out)])
    assert done.exit_code == 2


def test_importing_the_package_does_not_load_the_lab() -> None:
    script = "import sys, separatrix; print('separatrix.lab' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_squeezed_code_is_the_same_code(node: Any, tmp_path: Path) -> None:
    source = """
    // a comment with `ticks` and "quotes"
    const nested = (n) => `a ${n ? `b ${"}`"} ${{ x: 1 }.x}` : ""} // no comment /* nor this */`;
    const parts = [/[/"'`]\\/\\//g.source, "a  b // c", 'it\\'s', 8 / 2 / 2, (4) / 2];  /** @type {x} */
    let i = 1; const j = i++ + ++i, k = 1 - -1;
    function f(a) { return /x/.test(a)
    }
    const late = f("x")
    const more = [1]
    console.log(JSON.stringify([nested(0), nested(1), parts, j, k, late, more]))
    """
    texts = []
    for code in (source, squeeze(source)):
        (tmp_path / "code.js").write_text(code)
        done = node(str(tmp_path / "code.js"))
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert "comment with" not in squeeze(source)


def test_joined_modules_run_as_the_modules_do(node: Any, tmp_path: Path) -> None:
    done: dict[str, bool] = {}
    entries = ("stories/index.js", "core/derive.js", "core/points.js", "words/code.js", "core/certificate.js")
    joined = "\n".join(part for entry in entries for part in assemble._modules(entry, done))
    ask = """
    const story = $stories_index.STORIES[0];
    const run = $core_derive.derive($core_points.makePoints(story.points), story.learners[0]);
    const { trace, bound } = run;
    console.log(JSON.stringify([trace.updates, [...trace.kept], bound.most, $words_code.pythonCode(run).loop]));
    """
    (tmp_path / "joined.js").write_text(f'"use strict";\n{joined}\n{ask}')
    answer = node(str(tmp_path / "joined.js"))
    assert answer.returncode == 0, answer.stderr
    updates, weights, most, code = json.loads(answer.stdout)
    assert (updates, weights, most) == (5, [5, 1], 17)
    assert code.startswith("import numpy as np\n\nX = np.array([[1, 4], [1, -2]")


def test_strange_modules_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "PAGE", tmp_path)
    for text, message in (
        ('import x from "./y.js";\n', "import x"),
        ("export default 1;\n", "export default"),
        ("export { a };\n", "export"),
        ('import { a } from "./main.js";\n', "imports itself"),
    ):
        (tmp_path / "main.js").write_text(text)
        with pytest.raises(RuntimeError, match=message):
            list(assemble._modules("main.js", {}))
