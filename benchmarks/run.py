"""Every benchmark beside its peers: `python benchmarks/run.py [--only NAME] [--quick]`.

A whole run writes benchmarks/results/; `--only` (a suite or a measurement) and `--quick` (smaller, fewer repeats) only
print.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

import report
from separatrix.errors import ConvergenceWarning
from suites import perceptron

SUITES = {"perceptron": perceptron.MEASUREMENTS}
RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the suites asked for, print what they found, and keep it."""
    names = [*SUITES, *(name for measurements in SUITES.values() for name in measurements)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats, nothing written")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # runs are cut short on purpose
    with threadpool_limits(limits=1):
        for suite in SUITES:
            run_suite(suite, options.only, options.quick)


def run_suite(suite: str, only: str | None, quick: bool) -> None:
    """Run a suite, or the one measurement of it asked for; write the results of a whole one."""
    whole = only in {None, suite}
    found = []
    for name, measure in SUITES[suite].items():
        if not whole and name != only:
            continue
        before = os.getloadavg()[0]
        measurement = measure(quick)
        measurement.load = (before, os.getloadavg()[0])
        print(report.plain(measurement), flush=True)
        found.append(measurement)
    if whole and not quick:
        report.write(RESULTS, suite, f"python benchmarks/run.py --only {suite}", found)


if __name__ == "__main__":
    main()
