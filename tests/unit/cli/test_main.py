"""The command line: the perceptron's page, what is refused, what is never imported."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix import __version__
from separatrix.certificates.base import certificate_from_dict
from separatrix.cli.main import app
from separatrix.cli.progress import Progress
from separatrix.families.options import PerceptronOptions
from separatrix.tables.demos import DEMOS, load_demo

PERCEPTRON = ("--model", "perceptron")
STUDENTS = ("demo:students", "--positive", "A", "--tie", "correct")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def fit(*arguments: str) -> str:
    """Return what the fit of a perceptron prints; it must succeed."""
    result = run("fit", *arguments, *PERCEPTRON)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def fit_json(*arguments: str) -> Any:
    return json.loads(fit(*arguments, "--json"))


def weights(content: Any) -> dict[str, float]:
    return dict(content["summary"]["predictors"][0]["coefficients"])


def refusal(*arguments: str) -> str:
    """Return the one line with which something is refused."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return str(result.stderr).removeprefix("error: ").rstrip("\n")


def in_process(*arguments: str, code: str = "from separatrix.cli.main import main; main()") -> Any:
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_without_arguments_there_is_help() -> None:
    result = run()
    assert result.exit_code == 0
    assert "separatrix fit demo:breast-cancer" in result.stdout


def test_version() -> None:
    assert run("--version").stdout == f"separatrix {__version__}\n"


def test_every_option_of_fit_has_help_and_there_is_an_example() -> None:
    shown = run("fit", "--help").stdout
    assert "Example: separatrix fit demo:students --model perceptron --positive A" in shown
    for line in ("--drop COLUMN  ", "--max-updates NUMBER  ", "--seed <int>  ", "--start TEXT  "):
        assert line.strip() in shown


@pytest.mark.parametrize("option", ["update", "order", "schedule", "tie", "keep", "on_overlap"])
def test_the_help_lists_the_choices_that_the_options_take(option: str) -> None:
    shown = " ".join(run("fit", "--help").stdout.split())
    listed = shown.partition(f"--{option.replace('_', '-')} ")[2].partition(" ")[0].split("|")
    assert set(get_args(get_type_hints(PerceptronOptions)[option])) <= set(listed)


def test_the_five_points_of_the_notes() -> None:
    content = fit_json("demo:five-points", "--no-intercept")
    assert content["summary"]["updates"] == 5
    assert weights(content) == {"x1": 5.0, "x2": 1.0}
    assert content["summary"]["predictors"][0]["evidence"]["bound"] == pytest.approx(17.0)
    told = fit("demo:five-points", "--no-intercept")
    assert "after 5 mistakes; the theorem allows at most 17, (R/γ)² with" in " ".join(told.split())


@pytest.mark.parametrize(
    ("start", "reached"),
    [("0.25,0.25,0.25,0.25,0.25", [-0.75, 1.25, -0.75, -0.75, -0.75]), ("0,0.5,0.5,0,0", [-1, 1.5, -0.5, -1, -1])],
)
def test_the_students_of_the_notes(start: str, reached: list[float]) -> None:
    content = fit_json(*STUDENTS, "--start", start)
    assert list(weights(content).values()) == reached
    assert list(weights(content)) == ["intercept", "attendance", "tall", "sleeps", "gum"]
    assert content["summary"]["wrong"] == 0
    assert content["summary"]["classes"][1] == {"label": "A", "rows": 2, "sign": 1}


def test_from_zero_a_tie_that_is_never_a_mistake_learns_nothing_and_says_so() -> None:
    content = fit_json(*STUDENTS)["summary"]
    assert (content["updates"], content["wrong"], content["accuracy"], content["on_boundary"]) == (0, 2, 0.5, 4)
    assert content["notes"] == [
        "with --tie correct a score of 0 is never corrected, so zeros stay zeros; try --start random"
    ]
    assert re.search(r"accuracy +0\.5", fit(*STUDENTS))


@pytest.mark.parametrize(("tie", "predicted"), [("positive", "A"), ("negative", "F")])
def test_the_training_accuracy_follows_the_tie_rule(tmp_path: Path, tie: str, predicted: str) -> None:
    source = write(tmp_path, "zeros.csv", "x,y\n0,A\n0,A\n0,A\n0,F\n1,A\n-1,F\n")
    options = ("--positive", "A", "--target", "y", "--no-intercept", "--tie", tie, "--max-passes", "2")
    assert fit_json(source, *options)["summary"]["wrong"] == {"A": 1, "F": 3}[predicted]


def test_five_points_that_overlap_stop_at_a_limit_with_exit_code_0() -> None:
    content = fit_json("demo:five-points-overlap", "--max-passes", "100")
    assert content["summary"]["status"] == "max_passes"
    assert not content["summary"]["reached_goal"]
    assert content["summary"]["wrong"] == 1
    assert content["certificate"]["verdict"] == "no separator known"


def test_breast_cancer() -> None:
    content = fit_json("demo:breast-cancer", "--max-passes", "20", "--keep", "best")
    summary = content["summary"]
    assert (summary["rows"], len(summary["columns"])) == (569, 30)
    assert [(count["label"], count["rows"]) for count in summary["classes"]] == [("benign", 357), ("malignant", 212)]
    assert (
        summary["wrong"]
        == content["evaluation"]["own"]["confusion"][0][1] + content["evaluation"]["own"]["confusion"][1][0]
    )
    assert 0.85 < summary["accuracy"] < 1.0


@pytest.mark.parametrize("keep", ["last", "best", "average"])
def test_iris_is_fitted_one_against_the_rest(keep: str) -> None:
    options = ("--order", "shuffled", "--max-passes", "20", "--keep", keep)
    content = fit_json("demo:iris", *options)
    summary = content["summary"]
    assert np.shape(content["coef"]) == (3, 4)
    assert [part["positive"] for part in summary["predictors"]] == ["setosa", "versicolor", "virginica"]
    assert summary["predictors"][0]["status"] == "converged"
    X, y = load_demo("iris")
    scores = X @ np.transpose(content["coef"]) + content["intercept"]
    assert summary["wrong"] == int(np.sum(np.unique(y)[scores.argmax(axis=1)] != y))


def test_a_vote_is_no_single_predictor() -> None:
    assert refusal("fit", "demo:iris", *PERCEPTRON, "--keep", "vote").startswith(
        "--keep 'vote' is a vote of many predictors, no single one; use 'average' or 'best'"
    )


def test_rows_sorted_by_class_are_told_to_be_shuffled() -> None:
    sorted_rows = "the rows come sorted by class"
    assert sorted_rows in fit("demo:iris", "--max-passes", "5")
    assert sorted_rows not in fit("demo:iris", "--max-passes", "5", "--order", "shuffled")
    assert sorted_rows not in fit("demo:breast-cancer", "--max-passes", "5")


@pytest.mark.parametrize(
    ("demo", "options"),
    [
        ("students", ("--positive", "A")),
        ("five-points", ("--no-intercept", "--positive", "-1")),
        ("five-points", ("--update", "batch", "--start", "random", "--seed", "7")),
        ("five-points-overlap", ("--schedule", "inverse", "--rate", "0.5", "--max-updates", "50")),
        ("four-points", ("--margin", "1", "--tie", "mistake", "--max-passes", "9")),
        ("breast-cancer", ("--max-passes", "5", "--order", "random")),
        ("iris", ("--max-passes", "5", "--order", "shuffled")),
    ],
)
def test_the_certificate_in_the_json_verifies(demo: str, options: tuple[str, ...]) -> None:
    content = fit_json(f"demo:{demo}", *options)
    certificate = certificate_from_dict(content["certificate"])
    X, y = load_demo(demo)
    verification = certificate.verify(X, y)
    assert verification.holds, str(verification)
    assert not certificate.verify(2.0 * X, y).holds


def test_a_seed_makes_a_random_fit_repeatable() -> None:
    def timeless(*options: str) -> Any:
        return fit_json("demo:students", "--order", "random", "--start", "random", *options)["coef"]

    assert timeless("--seed", "3") == timeless("--seed", "3")
    assert timeless("--seed", "3") != timeless("--seed", "4")


def test_a_csv_of_ones_own(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "name,size,old,kind\nu,1.5,true,p\nv,-1,false,q\nw,2,true,p\n")
    content = fit_json(source, "--target", "kind", "--drop", "name", "--positive", "p")
    assert content["summary"]["columns"] == ["size", "old=true"]
    assert content["summary"]["wrong"] == 0
    assert content["summary"]["classes"] == [
        {"label": "q", "rows": 1, "sign": -1},
        {"label": "p", "rows": 2, "sign": 1},
    ]


@pytest.mark.parametrize(("words", "label", "named"), [("yes,no", "yes", "yes"), ("true,false", "False", False)])
def test_truth_values_are_labels_too(tmp_path: Path, words: str, label: str, named: object) -> None:
    first, second = words.split(",")
    source = write(tmp_path, "t.csv", f"x,y\n1.5,{first}\n-1,{second}\n")
    classes = fit_json(source, "--target", "y", "--positive", label)["summary"]["classes"]
    assert classes[1]["label"] == named


def test_numbers_are_labels_by_their_value(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "x,y\n1.5,0.5\n-1,2\n")
    classes = fit_json(source, "--target", "y", "--positive", "0.50")["summary"]["classes"]
    assert [count["label"] for count in classes] == [2.0, 0.5]


def test_a_target_that_is_not_said_or_misspelt(tmp_path: Path) -> None:
    source = write(tmp_path, "t.csv", "a,grade\n1,x\n2,y\n")
    assert refusal("fit", source) == f"say which column to predict with --target; {source} has 'a', 'grade'"
    assert refusal("fit", source, "--target", "grad").endswith("has no column 'grad'; did you mean 'grade'?")
    assert refusal("fit", source, "--target", "a", "--drop", "a").startswith("--drop 'a' would drop the target")
    assert refusal("fit", source, "--target", "grade", "--drop", "b").endswith("has no column 'b'; known: 'a', 'grade'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,2,p\n3,4.5,p\n", "only one class, 'p'"),
        ("a,b,y\n1,2,\n3,4.5,\n", "the target 'y' is missing in every row; choose another --target"),
        ("", "is empty; give a file with a header and rows"),
        ("a,y\n3,p\n3,q\n", "has no column left to predict 'y' from; 'a' is left out: it is 3 in every row"),
    ],
)
def test_data_that_cannot_be_used_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refusal("fit", write(tmp_path, "t.csv", text), "--target", "y", "--model", "svm")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tie", "posit"), "--tie 'posit' is not one of 'positive', 'negative', 'mistake', 'correct'"),
        (("--update", "both"), "--update 'both' is not one of 'single', 'batch'"),
        (("--rate", "0"), "--rate 0 is out of range; give a finite number of at least 1e-100"),
        (("--max-updates", "0"), "--max-updates 0 is out of range"),
        (("--start", "one"), "--start 'one' is not zero, random, or numbers such as 0.5,0,1"),
        (("--start", "1,2"), "start has 2 numbers, but 5 finite ones are needed"),
        (("--positive", "B"), "--positive 'B' is no class of the target; known: 'A', 'F'"),
        (("--strength", "1"), "--strength is an option of logistic, linear, svm and kernel_svm, not of perceptron"),
    ],
)
def test_options_that_cannot_be_taken_are_refused(options: tuple[str, ...], message: str) -> None:
    assert refusal("fit", "demo:students", *PERCEPTRON, *options).startswith(message)


def test_a_positive_class_of_three_is_refused() -> None:
    assert "chooses between two classes, but there are 3" in refusal("fit", "demo:iris", "--positive", "setosa")


def test_demo_lists_all_demos() -> None:
    told = run("demo").stdout
    assert re.findall(r"^  demo:(\S+)", told, re.MULTILINE) == list(DEMOS)
    assert re.search(r"demo:breast-cancer +569 rows × 30 columns: malignant or benign\?", told)
    assert max(map(len, told.splitlines())) <= 80
    entries = json.loads(run("demo", "--json").stdout)["demos"]
    assert entries[5]["name"] == "iris"
    assert (entries[5]["rows"], entries[5]["columns"], entries[5]["target"]) == (150, 4, "species")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_its_progress_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"passes": 1234.5, "updates": 67890.0}
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("reading", patience=0.01) as progress:
        wait_for(lambda: progress.status is not None)
        progress.stage("fitting [b]")
        assert progress.watch(lambda: True)({"passes": 3.0, "relative_excess": 0.0012}) is True
        assert progress.text == "fitting [b]: 3 passes, gap 1.2e-03"
        assert progress.watch(lambda: False)(facts) is False
    assert "fitting [b]: 1,234 passes, 67,890 updates" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("reading", patience=60.0):
        pass
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("reading", patience=0.0) as progress:
        progress.stage("fitting")
    assert progress.status is None


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so; two seconds at most."""
    for _ in range(200):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 2 seconds")


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.model.train.train_table", interrupted)
    result = run("fit", "demo:students")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


def test_a_refusal_in_a_process_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    source = write(tmp_path, "cut.parquet", b"PAR1" + bytes(100))
    ended = in_process("fit", source, "--target", "y")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.endswith("write it again\n")
    assert "Traceback" not in ended.stderr


def test_an_output_that_lacks_greek_is_no_error() -> None:
    code = "import sys; sys.stdout.reconfigure(encoding='latin-1'); from separatrix.cli.main import main; main()"
    ended = in_process("fit", "demo:five-points", *PERCEPTRON, "--no-intercept", code=code)
    assert ended.returncode == 0
    assert "after 5 mistakes; the theorem allows at most 17,\n(R/?)" in ended.stdout


def test_a_small_fit_imports_nothing_heavy() -> None:
    code = (
        "import sys, contextlib, io\n"
        "from separatrix.cli.main import app\n"
        "before = {'numpy'} & set(sys.modules)\n"
        "shown = io.StringIO()\n"
        "with contextlib.redirect_stdout(shown): app(['fit', 'demo:breast-cancer'], standalone_mode=False)\n"
        "heavy = {'sklearn', 'numba', 'duckdb', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "print(sorted(before), sorted(heavy), shown.getvalue().count('accuracy'))\n"
    )
    ended = in_process(code=code)
    assert ended.stdout == "[] [] 1\n", ended.stderr


def test_python_m_runs_the_command_line() -> None:
    command = [sys.executable, "-W", "error", "-m", "separatrix.cli", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"separatrix {__version__}\n"
