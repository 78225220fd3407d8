"""Time some fits of this tree and of another revision in turn: `python benchmarks/revisions.py REVISION [--rounds 5]`.

Each round starts a fresh process per tree and task, which fits several times and reports its fastest fit; the trees
alternate, so that both meet the same machine. The table goes to `benchmarks/results/revisions.md`. Needs git.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "revisions.md"
DATA = """
import time, warnings
import numpy as np
import separatrix as sx
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
def rows(n, p, noise=1.0):
    X = rng.normal(size=(n, p))
    return X, X[:, : min(p, 5)].sum(axis=1) + noise * rng.logistic(size=n) > 0
def fastest(task, times):
    found = []
    for _ in range(times + 1):  # the first one compiles and imports
        began = time.perf_counter()
        task()
        found.append(time.perf_counter() - began)
    print(min(found[1:]))
"""
TASKS = {
    "logistic, ridge, 1,000,000 × 50": "X, y = rows(10**6, 50)\n"
    "fastest(lambda: sx.LogisticRegression(strength=1e-4).fit(X, y), 3)",
    "separability, 100,000 × 20, overlap": "X, y = rows(10**5, 20)\nfastest(lambda: sx.check_separability(X, y), 3)",
    "separability, 100,000 × 20, separable": "X, y = rows(10**5, 20, 0.0)\n"
    "fastest(lambda: sx.check_separability(X, y), 3)",
    "separability, 50 × 3": "X, y = rows(50, 3)\nfastest(lambda: sx.check_separability(X, y), 200)",
    "logistic, no penalty, 100 × 5": "X, y = rows(100, 5)\n"
    "fastest(lambda: sx.LogisticRegression(strength=0).fit(X, y), 200)",
    "logistic, ridge, 100 × 5": "X, y = rows(100, 5)\n"
    "fastest(lambda: sx.LogisticRegression(strength=0.01).fit(X, y), 200)",
    "softmax, no penalty, 200 × 5": "X, y = rows(200, 5)\ny = rng.integers(0, 3, 200)\n"
    "fastest(lambda: sx.LogisticRegression(strength=0).fit(X, y), 50)",
    "lasso logistic, 100 × 5": "X, y = rows(100, 5)\n"
    "fastest(lambda: sx.LogisticRegression(strength=0.01, l1_ratio=1).fit(X, y), 100)",
    "least squares, 100 × 5": "X, y = rows(100, 5)\nfastest(lambda: sx.LinearRegression().fit(X, X[:, 0] + y), 200)",
    "logistic, no penalty, 200,000 × 20": "X, y = rows(200_000, 20)\n"
    "fastest(lambda: sx.LogisticRegression(strength=0).fit(X, y), 3)",
    "least squares, 300,000 × 100": "X, y = rows(300_000, 100)\n"
    "fastest(lambda: sx.LinearRegression().fit(X, X[:, 0] + y), 2)",
}


def seconds(tree: Path, code: str) -> float:
    """Return the fastest time of a task on a tree, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", DATA + code]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Time both trees and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lines = ["| task | before, s | here, s | here / before |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", other, options.revision], cwd=ROOT, check=True)
        try:
            for name, code in TASKS.items():
                pairs = [(seconds(other, code), seconds(ROOT, code)) for _ in range(options.rounds)]
                before, here = (statistics.median(column) for column in zip(*pairs, strict=True))
                lines.append(f"| {name} | {before:.4g} | {here:.4g} | {here / before:.2f} |")
                print(lines[-1], flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=ROOT, check=True)
    revision = subprocess.run(
        ["git", "rev-parse", "--short", options.revision], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    command = f"python benchmarks/revisions.py {revision} --rounds {options.rounds}"
    head = f"# Against revision {revision}\n\nMedians of {options.rounds} rounds; `{command}`.\n\n"
    RESULT.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
