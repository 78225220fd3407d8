"""Whether probabilities come true: a reliability diagram with intervals, and how many rows have which probability."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import OptionError, counted
from separatrix.reports.display import Display, several_panels
from separatrix.reports.labels import short
from separatrix.reports.palette import COLOURS
from separatrix.reports.plot.evaluated import evaluation_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separatrix.inference.evaluation import ClassifierEvaluation
    from separatrix.inference.evaluation_curves import Reliability


CALIBRATION_TITLE_WIDTH = 70  # letters of a line of the title


def calibration(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    weights: Any = None,
    level: float = 0.95,
    axes: Sequence[Axes] | None = None,
) -> Display:
    """Draw the share of rows for which a probability came true over the probability, and the number of rows below.

    Takes what `roc` takes; `axes` are two. Of two classes the probability is the second's, of more that of the class
    predicted. Bins hold equally many rows, and have Wilson's intervals; probabilities that come true lie on the
    diagonal.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> model = sx.LogisticRegression(strength=0.01).fit(X[::2], y[::2])
    >>> display = sx.plot.calibration(model, X[1::2], y[1::2])
    >>> int(display.data["evaluation"].reliability.rows.sum())
    284
    """
    found = evaluation_of(model, X, y, weights, level)
    bins = found.reliability
    if bins is None:
        raise OptionError(f"nothing can be calibrated: {found.log_loss.absent}")
    ratios = {"gridspec_kw": {"height_ratios": [3.0, 1.0]}}
    above, below = several_panels(axes, 2, figsize=(6.0, 6.6), sharex=axes is None, **ratios)
    _bins(above, bins, found.level)
    edges = np.linspace(0.0, 1.0, len(bins.histogram) + 1)
    below.stairs(bins.histogram, edges, fill=True, color=COLOURS[5])
    below.set_ylabel("rows")
    two, second = len(found.classes) == 2, short(repr(found.classes[1]))
    below.set_xlabel(f"probability of {second}" if two else "probability of the class predicted")
    above.set_ylabel(f"share of {second}" if two else "share predicted right")
    above.set_title(
        "\n".join(textwrap.wrap(_sentence(found, bins), CALIBRATION_TITLE_WIDTH)), fontsize="small", loc="left"
    )
    return Display((above, below), {"evaluation": found, "reliability": bins})


def _bins(ax: Axes, bins: Reliability, level: float) -> None:
    ax.plot([0.0, 1.0], [0.0, 1.0], ":", color="0.5", label="comes true exactly")
    reach = np.maximum([bins.observed - bins.lower, bins.upper - bins.observed], 0.0)
    fewest, most = int(bins.rows.min()), int(bins.rows.max())
    rows = counted(most, "row") if fewest == most else f"{fewest:,} to {most:,} rows"
    words = f"bins of {rows}, {100.0 * level:g} % intervals"
    look: dict[str, Any] = {"color": COLOURS[0], "ecolor": "0.6", "marker": "o", "markersize": 4.5, "linestyle": "none"}
    ax.errorbar(bins.predicted, bins.observed, reach, capsize=2.0, label=words, **look)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.legend(fontsize="small", loc="upper left")


def _sentence(found: ClassifierEvaluation, bins: Reliability) -> str:
    bias = bins.bias.value or 0.0
    side = "high" if bias > 0.0 else "low"
    telling = bins.bias.lower is not None and bins.bias.upper is not None and bins.bias.lower * bins.bias.upper > 0.0
    doubt = "" if telling else ", which may be chance"
    return (
        f"Probabilities are on average {abs(bias):.2g} too {side}{doubt}. Brier {found.brier},"
        f" log loss {found.log_loss}; {counted(found.rows, 'row')}."
    )
