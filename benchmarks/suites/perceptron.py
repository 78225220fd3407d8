"""The perceptron: epochs beside reading the data once and beside scikit-learn's; small data; the first answer."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator

import numpy as np

import problems
from libraries import numpy_floor, ours, scikit_learn
from measure import Contender, Timing, process, take_turns
from report import Measurement, Row, Target

__all__ = ["MEASUREMENTS"]

OURS, PEER = "separatrix", "scikit-learn"
DENSE_EPOCHS, TEXT_EPOCHS, MANY_PASSES = 5, 20, 10_000
FLOOR_RATIO, PEER_RATIO = 1.5, 2.0  # an epoch takes at most so many reads of the data, at most 1 / so much of a peer's
FIVE_ROWS_SECONDS, FIRST_ANSWER_SECONDS, FIRST_ANSWER_SHARE = 0.005, 1.0, 0.5

# The seconds of a fit right after the import and of a second one; five rows must not load Numba.
FIVE_ROWS = """
import importlib, json, sys, time
import numpy as np
Perceptron = importlib.import_module(sys.argv[1]).Perceptron
X, y = np.array([[1.0, 4.0], [1.0, -2.0], [-1.0, -3.0], [-1.0, 2.0], [-2.0, 0.0]]), np.array([1, 1, -1, -1, -1])
def fit():
    began = time.perf_counter()
    Perceptron().fit(X, y)
    return time.perf_counter() - began
seconds = [fit(), fit()]
assert "numba" not in sys.modules
print(json.dumps(seconds))
"""


def dense(labels: problems.Labels, quick: bool) -> Measurement:
    """Each epoch from the second on, beside X.sum() and beside scikit-learn's epochs."""
    problem = problems.dense(labels, rows=100_000 if quick else 1_000_000)
    timings = take_turns(
        {
            "floor": numpy_floor.read_once(problem),
            "ours": ours.perceptron(problem, DENSE_EPOCHS),
            "one": scikit_learn.perceptron(problem, 1),
            "all": scikit_learn.perceptron(problem, DENSE_EPOCHS),
        },
        repeats=5 if quick else 15,
    )
    floor, mistakes = timings["floor"], timings["ours"].facts[0]["epoch_mistakes"]
    peer = _slope_row(timings["one"], timings["all"], DENSE_EPOCHS, floor)
    epochs = list(_epoch_rows(timings["ours"], problem.n, floor))[1:]
    worst = max(epochs, key=lambda row: row.best)
    return Measurement(
        f"dense-{labels}",
        f"An epoch over {problem.about}.",
        "to X.sum(), best to best",
        [
            Row.of("NumPy", "X.sum(), reading the data once", floor, passes=1, ratio=1.0),
            *epochs,
            peer,
            _whole_row(f"fit of {DENSE_EPOCHS} epochs, certificate and trace included", timings["ours"]),
            Row.of(PEER, f"fit of {DENSE_EPOCHS} epochs", timings["all"], passes=DENSE_EPOCHS),
        ],
        [
            _at_most(f"≤ {FLOOR_RATIO} × X.sum() for each epoch", worst.best / floor.best, FLOOR_RATIO),
            _at_least(f"≥ {PEER_RATIO:g} × scikit-learn for an epoch", peer.best / worst.best, PEER_RATIO),
        ],
        [
            f"mistakes per epoch: {', '.join(f'{count:,.0f}' for count in mistakes)}",
            f"to read the data once is {peer.best / floor.best:.2f} × as fast as scikit-learn's epoch, and the limit",
            _overhead(timings["ours"]),
        ],
    )


def dense_noisy(quick: bool) -> Measurement:
    """Labels wrong near the border: some 2 % of the visits are mistakes."""
    return dense("noisy", quick)


def dense_flipped(quick: bool) -> Measurement:
    """Labels wrong anywhere: some 10 % of the visits are mistakes."""
    return dense("flipped", quick)


def dense_separable(quick: bool) -> Measurement:
    """Hardly any mistakes."""
    return dense("separable", quick)


def text(quick: bool) -> Measurement:
    """Twenty epochs of sparse rows beside scikit-learn's."""
    problem = problems.text()
    timings = take_turns(
        {
            "scores": numpy_floor.scores(problem, TEXT_EPOCHS),
            "ours": ours.perceptron(problem, TEXT_EPOCHS),
            "one": scikit_learn.perceptron(problem, 1),
            "all": scikit_learn.perceptron(problem, TEXT_EPOCHS),
        },
        repeats=5 if quick else 60,
    )
    walks, peer = _walk_row(timings["ours"]), _slope_row(timings["one"], timings["all"], TEXT_EPOCHS)
    epochs = sorted(_epoch_rows(timings["ours"], problem.n), key=lambda row: row.best)
    usual = epochs[len(epochs) // 2]
    scores = timings["scores"]
    rows = [
        Row("SciPy", "X @ w, the scores alone", scores.best / TEXT_EPOCHS, scores.median / TEXT_EPOCHS, 1),
        peer,
        Row(OURS, "an epoch, mean of the 20 with the trace", walks.best, walks.median, 1, peer.best / walks.best),
        Row(OURS, "an epoch, median of the 20", usual.best, usual.median, 1, peer.best / usual.best),
        _whole_row("fit of 20 epochs, certificate and trace included", timings["ours"], timings["all"]),
        Row.of(PEER, "fit of 20 epochs", timings["all"], passes=TEXT_EPOCHS),
    ]
    return Measurement(
        "text",
        f"{TEXT_EPOCHS} epochs over {problem.about}.",
        "scikit-learn's time for the same work, best to best",
        rows,
        [_at_least(f"≥ {PEER_RATIO:g} × scikit-learn for an epoch", peer.best / walks.best, PEER_RATIO)],
        [
            f"mistakes per epoch: {', '.join(f'{count:.0f}' for count in timings['ours'].facts[0]['epoch_mistakes'])}",
            _overhead(timings["ours"]),
        ],
    )


def convergence(quick: bool) -> Measurement:
    """Whole fits until no row is wrong; scikit-learn's does not stop there, so it is told how many epochs it takes."""
    found = Measurement(
        "convergence", "Whole fits until no row is wrong.", "scikit-learn's time over ours, best to best"
    )
    for problem in (problems.text(), problems.dense("separable", rows=100_000 if quick else 1_000_000)):
        fit = ours.perceptron(problem, MANY_PASSES)
        needed = int(np.ceil(fit()["epochs"]))
        timings = take_turns({"ours": fit, "peer": scikit_learn.perceptron(problem, needed)}, repeats=3 if quick else 9)
        end = timings["ours"].facts[0]
        reached = f"after {end['epochs']:.1f} epochs, {end['updates']:,} updates"
        found.rows.append(_whole_row(f"{problem.name}: until no row is wrong", timings["ours"], timings["peer"]))
        found.rows.append(
            Row.of(PEER, f"{problem.name}: {needed} epochs, told the number", timings["peer"], passes=needed)
        )
        found.targets.append(Target(f"{problem.name}: stops at zero mistakes", reached, bool(end["converged"])))
    return found


def five_rows(quick: bool) -> Measurement:
    """A fit of five rows right after the import, and the next one."""
    modules = {OURS: "separatrix", PEER: "sklearn.linear_model"}
    contenders = {name: process([sys.executable, "-c", FIVE_ROWS, module]) for name, module in modules.items()}
    rows = [
        Row(name, work, float(times.min()), float(np.median(times)))
        for name, timing in take_turns(contenders, repeats=2 if quick else 15).items()
        for work, times in zip(
            ("first fit of a process", "second fit"),
            np.array([json.loads(facts["printed"]) for facts in timing.facts]).T,
            strict=True,
        )
    ]
    asked = f"< {1e3 * FIVE_ROWS_SECONDS:g} ms, Numba never loaded"
    return Measurement(
        "five-rows",
        "Perceptron().fit on 5 × 2, after the import, in a fresh process.",
        rows=rows,
        targets=[
            Target(f"{row.work} {asked}", f"{1e3 * row.best:.2f} ms, not loaded", row.best < FIVE_ROWS_SECONDS)
            for row in rows
            if row.contender == OURS
        ],
    )


def first_answer(quick: bool) -> Measurement:
    """From starting a process to its answer."""
    found = Measurement("first-answer", "Seconds from the start of a process to its answer, cached code warm.")
    contenders = {
        "import": process([sys.executable, "-c", "import separatrix"]),
        **_commands(found.notes, "demo:students", "demo:breast-cancer"),
        "peer": process([sys.executable, "-c", scikit_learn.FIRST_ANSWER]),
    }
    timings = take_turns(contenders, repeats=2 if quick else 9)
    peer = timings.pop("peer")
    found.ratio = "scikit-learn's time over this one"
    for name, timing in timings.items():
        work = 'python -c "import separatrix"' if name == "import" else f"separatrix fit {name}"
        found.rows.append(Row(OURS, work, timing.best, timing.median, ratio=peer.best / timing.best))
    found.rows.append(
        Row(PEER, "script: load_breast_cancer, Perceptron().fit, score", peer.best, peer.median, ratio=1.0)
    )
    if "demo:breast-cancer" in timings:
        best = timings["demo:breast-cancer"].best
        asked = f"demo:breast-cancer ≤ {FIRST_ANSWER_SECONDS:g} s and ≤ {FIRST_ANSWER_SHARE:g} of scikit-learn's"
        met = best <= FIRST_ANSWER_SECONDS and best <= FIRST_ANSWER_SHARE * peer.best
        found.targets.append(Target(asked, f"{best:.2f} s, {best / peer.best:.2f} of {peer.best:.2f} s", met))
    return found


def compiling(quick: bool) -> Measurement:
    """What machine code costs: once a machine to compile, once a process to load."""
    found = Measurement("compile", "Seconds of a first large fit beyond those of a second: compiling, then loading.")
    for storage in ("dense", "sparse"):
        with tempfile.TemporaryDirectory() as cache:
            call = process([sys.executable, "-c", ours.COMPILE, storage], XDG_CACHE_HOME=cache)
            compiled = float(call()["printed"])
            loaded = [float(call()["printed"]) for _ in range(2 if quick else 5)]
        found.rows.append(Row(OURS, f"{storage} rows: compile, once a machine", compiled, compiled))
        found.rows.append(Row(OURS, f"{storage} rows: load, once a process", min(loaded), float(np.median(loaded))))
    return found


MEASUREMENTS: dict[str, Callable[[bool], Measurement]] = {
    "dense-noisy": dense_noisy,
    "dense-flipped": dense_flipped,
    "dense-separable": dense_separable,
    "text": text,
    "convergence": convergence,
    "five-rows": five_rows,
    "first-answer": first_answer,
    "compile": compiling,
}


def _epoch_rows(timing: Timing, n: int, floor: Timing | None = None) -> Iterator[Row]:
    """Yield a row an epoch, over the repeats, from the trace of the fits."""
    seconds = np.array([facts["epoch_seconds"] for facts in timing.facts])
    for k, times in enumerate(seconds.T):
        share = timing.facts[0]["epoch_mistakes"][k] / n
        best, median = float(times.min()), float(np.median(times))
        work = f"epoch {k + 1}, {share:.1%} mistakes"
        yield Row(OURS, work, best, median, 1, best / floor.best if floor else None)


def _walk_row(timing: Timing) -> Row:
    """Return the mean epoch of a fit, over the repeats."""
    means = [facts["walk"] / facts["epochs"] for facts in timing.facts]
    return Row(OURS, "an epoch", min(means), float(np.median(means)), 1)


def _slope_row(one: Timing, several: Timing, epochs: int, floor: Timing | None = None) -> Row:
    """Return an epoch of the peer's: what a fit of several epochs takes longer than a fit of one."""
    best, median = ((b - a) / (epochs - 1) for a, b in ((one.best, several.best), (one.median, several.median)))
    work = f"an epoch: (fit of {epochs} − fit of 1) / {epochs - 1}"
    return Row(PEER, work, best, median, 1, best / floor.best if floor else 1.0)


def _whole_row(work: str, timing: Timing, peer: Timing | None = None) -> Row:
    """Return whole fits of ours, with all passes that they make."""
    passes, ratio = timing.facts[0]["passes"], peer.best / timing.best if peer else None
    return Row.of(OURS, work, timing, passes=round(passes, 1), ratio=ratio)


def _overhead(timing: Timing) -> str:
    apart = min(seconds - facts["walk"] for seconds, facts in zip(timing.seconds, timing.facts, strict=True))
    return f"a fit of ours spends {1e3 * apart:.1f} ms outside its epochs (checks, radius, certificate, objective)"


def _commands(notes: list[str], *tables: str) -> dict[str, Contender]:
    """Return the fits of tables by the command line that run; say in the notes why the others do not."""
    working: dict[str, Contender] = {}
    for table in tables:
        try:
            call = process([ours.command(), "fit", table])
            call()
        except (LookupError, RuntimeError) as reason:
            notes.append(f"skipped: separatrix fit {table}: {reason}")
        else:
            working[table] = call
    return working


def _at_most(asked: str, reached: float, bound: float) -> Target:
    return Target(asked, f"{reached:.2f} ×", reached <= bound)


def _at_least(asked: str, reached: float, bound: float) -> Target:
    return Target(asked, f"{reached:.2f} ×", reached >= bound)
