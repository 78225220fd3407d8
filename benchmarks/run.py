"""Every benchmark beside its peers: `python benchmarks/run.py [--only NAME] [--quick]`.

A whole suite writes benchmarks/results/; `--only` with one measurement and `--quick` (smaller, fewer repeats, one
thread, no waiting for a quiet machine) only print. Peers that are absent are skipped; the extra `bench` has them.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning as PeersWarning
from threadpoolctl import threadpool_limits

import measure
import plot
import report
from separatrix.errors import ConvergenceWarning
from suites import convex, kernel, least_squares, perceptron, separability


class Suite(NamedTuple):
    """Measurements by name, the threads of BLAS and OpenMP (None: as many as cores), the peers, whether it is drawn."""

    measurements: Mapping[str, Callable[[bool], report.Measurement]]
    threads: int | None = None
    peers: Sequence[str] = ()
    drawn: bool = False

    @property
    def about_threads(self) -> str:
        """The threads in words."""
        return "one thread" if self.threads == 1 else f"{self.threads or os.cpu_count()} threads"


SUITES = {
    "perceptron": Suite(perceptron.MEASUREMENTS, threads=1),
    "convex": Suite(convex.MEASUREMENTS, peers=convex.PACKAGES, drawn=True),
    "least_squares": Suite(least_squares.MEASUREMENTS, peers=least_squares.PACKAGES),
    "separability": Suite(separability.MEASUREMENTS),
    "kernel": Suite(kernel.MEASUREMENTS),
}
RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the suites asked for, print what they found, and keep it."""
    names = [*SUITES, *(name for suite in SUITES.values() for name in suite.measurements)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats, nothing written")
    options = parser.parse_args()
    for category in (ConvergenceWarning, PeersWarning):
        warnings.simplefilter("ignore", category)  # runs are cut short on purpose, and gaps are measured
    if options.quick:
        measure.PATIENCE = 0.0
    for name, suite in SUITES.items():
        with threadpool_limits(limits=1 if options.quick else suite.threads):
            run_suite(name, options.only, options.quick)


def run_suite(name: str, only: str | None, quick: bool) -> None:
    """Run a suite, or the one measurement of it asked for; write the results of a whole one as they come."""
    suite, whole, found = SUITES[name], only in {None, name}, []
    for title, run in suite.measurements.items():
        if not whole and title != only:
            continue
        before = os.getloadavg()[0]
        measurement = run(quick)
        measurement.load = (before, os.getloadavg()[0])
        print(report.plain(measurement), flush=True)
        found.append(measurement)
        if whole and not quick:
            _keep(name, suite, found)


def _keep(name: str, suite: Suite, found: list[report.Measurement]) -> None:
    """Write what was found so far, so that a run cut short leaves what it has."""
    about = f"Repeat with `python benchmarks/run.py --only {name}`; BLAS and OpenMP at {suite.about_threads}."
    report.write(RESULTS, name, about, found, suite.peers)
    if suite.drawn:
        plot.draw(found, RESULTS / f"{name}.svg")


if __name__ == "__main__":
    main()
