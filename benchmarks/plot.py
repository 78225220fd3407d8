"""The seconds of a suite as bars, one group a measurement and one colour a contender, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from report import Measurement

__all__ = ["draw"]

BAR, GAP = 0.8, 1.0  # the height of a bar and the space between groups, in rows


def draw(measurements: Sequence[Measurement], file: Path) -> None:
    """Write the bars of all rows to a file; say so where Matplotlib is not installed."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  # an extra
    except ImportError:
        print(f"no {file.name}: Matplotlib is not installed")
        return
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = file.stem  # the same numbers give the same file
    import matplotlib.pyplot as plt  # noqa: PLC0415

    shown = [measurement for measurement in measurements if measurement.rows]
    places, place = [], 0.0
    for measurement in shown:
        places.append([place + k for k in range(len(measurement.rows))])
        place += len(measurement.rows) + GAP
    contenders = dict.fromkeys(row.contender for measurement in shown for row in measurement.rows)
    colours = {contender: mpl.colormaps["tab20"](k % 20) for k, contender in enumerate(contenders)}
    figure, axes = plt.subplots(figsize=(9.0, 1.0 + place / 4.0), layout="constrained")
    for group, measurement in zip(places, shown, strict=True):
        seconds, names = [row.best for row in measurement.rows], [row.contender for row in measurement.rows]
        bars = axes.barh(group, seconds, BAR, color=[colours[name] for name in names])
        labels = [f"{row.contender}  {row.best:.3g} s{_failed(row.work)}" for row in measurement.rows]
        axes.bar_label(bars, labels, padding=3, fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("seconds, the best of the repeats")
    axes.set_yticks([sum(group) / len(group) for group in places], [measurement.name for measurement in shown])
    axes.invert_yaxis()
    axes.margins(x=0.4, y=0.01)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)


def _failed(work: str) -> str:
    return ", gap not reached" if work.startswith("did not reach") else ""
