"""Points to begin with: the notes' examples as they stand, and drawings by a seed with a margin and a noise to slide.

A drawing is the same for the same size, margin, noise and seed. `margin` is what keeps the classes apart and `noise`
what mixes them, both from 0 to 1, each preset in its own way, told by its words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import require_choice, require_number
from separatrix.fit.margin_effect import sample_with_margin
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points, make_points

__all__ = ["FEWEST", "MOST", "PRESETS", "Drawing", "Preset", "draw_points"]

Floats = NDArray[np.float64]
FEWEST, MOST = 4, 5000  # points of a drawing
LEAST_MARGIN = 1e-3  # of points drawn apart
MOST_MARGIN = 0.9
SHARPNESS = 0.5  # of the noise 1, the standard deviation of what is added to rings, moons and clusters


class Drawing(NamedTuple):
    """How points are drawn: how many, margin and noise from 0 to 1, and the seed."""

    n: int = 60
    margin: float = 0.2
    noise: float = 0.0
    seed: int = 0


class Preset(NamedTuple):
    """A set of points: its title, what it shows, who makes it, the pane to begin with, whether it can be slid.

    `margin` and `noise` say in words what the sliders do; empty, there is none.
    """

    title: str
    words: str
    make: Callable[[Drawing], Points]
    pane: PaneOptions = PaneOptions()
    margin: str = ""
    noise: str = ""
    drawing: Drawing = Drawing()

    @property
    def slides(self) -> bool:
        """Whether it is drawn by a seed."""
        return bool(self.margin or self.noise)


def draw_points(name: str, drawing: Drawing | None = None) -> Points:
    """Return the points of a preset, drawn as asked or by default."""
    preset = PRESETS[require_choice("preset", name, PRESETS)]
    asked = preset.drawing if drawing is None else drawing
    require_number("n", asked.n, least=FEWEST, most=MOST)
    require_number("margin", asked.margin, least=0.0, most=1.0)
    require_number("noise", asked.noise, least=0.0, most=1.0)
    require_number("seed", asked.seed, least=0)
    return preset.make(asked)


def _five_points(_: Drawing) -> Points:
    return make_points([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1])


def _students(_: Drawing) -> Points:
    rows = [[1, 1, -1, -1], [1, 1, 1, 1], [-1, -1, -1, 1], [1, -1, -1, 1]]
    return make_points(rows, [1, -1, -1, 1], names=("attendance", "tall", "sleeps", "gum"), labels=("other", "A"))


def _five_overlapping(_: Drawing) -> Points:
    return make_points([[2, 1], [4, 3], [3, 5], [1, 3], [5, 6]], [1, 1, 1, -1, -1])


def _far_point(_: Drawing) -> Points:
    return make_points([[-3], [-2], [-1], [1], [2], [40]], [-1, -1, -1, 1, 1, 1])


def _four_points(_: Drawing) -> Points:
    return make_points([[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1])


def _nine_on_a_line(_: Drawing) -> Points:
    return make_points(np.arange(9.0).reshape(-1, 1), [-1, -1, -1, 1, 1, 1, -1, -1, -1])


def _apart(drawing: Drawing) -> Points:
    rng = np.random.default_rng(drawing.seed)
    X, y = sample_with_margin(drawing.n, 2, min(max(drawing.margin, LEAST_MARGIN), MOST_MARGIN), rng)
    return make_points(X, np.where(rng.random(drawing.n) < drawing.noise / 2.0, -y, y))


def _halves(drawing: Drawing) -> Floats:
    return np.where(np.arange(drawing.n) % 2 == 0, 1.0, -1.0)


def _gaussians(drawing: Drawing) -> Points:
    rng, y = np.random.default_rng(drawing.seed), _halves(drawing)
    middle = 2.0 * drawing.margin * y[:, np.newaxis] * np.array([1.0, 0.5])
    return make_points(middle + (0.2 + drawing.noise) * rng.standard_normal((drawing.n, 2)), y)


def _exclusive_or(drawing: Drawing) -> Points:
    rng, gap = np.random.default_rng(drawing.seed), drawing.margin
    X = rng.uniform(-1.0, 1.0, size=(drawing.n, 2))
    X += np.sign(X) * gap
    y = np.sign(X[:, 0]) * np.sign(X[:, 1])
    return make_points(X + _jitter(drawing, rng, 2), y)


def _rings(drawing: Drawing) -> Points:
    rng, y = np.random.default_rng(drawing.seed), _halves(drawing)
    radius = np.where(y > 0.0, rng.uniform(0.0, 1.0, drawing.n), 1.0 + drawing.margin + rng.random(drawing.n) / 2.0)
    angle = rng.uniform(0.0, 2.0 * np.pi, drawing.n)
    X = radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
    return make_points(X + _jitter(drawing, rng, 2), y)


def _moons(drawing: Drawing) -> Points:
    rng, y = np.random.default_rng(drawing.seed), _halves(drawing)
    angle = rng.uniform(0.0, np.pi, drawing.n)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[y < 0.0] = np.array([1.0, 0.3 - drawing.margin]) - X[y < 0.0]
    return make_points(X + _jitter(drawing, rng, 2), y)


def _interval(drawing: Drawing) -> Points:
    rng, y = np.random.default_rng(drawing.seed), _halves(drawing)
    inside = rng.uniform(-1.0, 1.0, drawing.n)
    outside = rng.choice([-1.0, 1.0], drawing.n) * (1.0 + drawing.margin + rng.random(drawing.n))
    x = np.where(y > 0.0, inside, outside)[:, np.newaxis]
    return make_points(x + _jitter(drawing, rng, 1), y)


def _jitter(drawing: Drawing, rng: np.random.Generator, columns: int) -> Floats:
    return SHARPNESS * drawing.noise * rng.standard_normal((drawing.n, columns))


_FLIPPED = "labels flipped, 1: half of them"
_SPREAD = "how far points stray"
_LIFTED = PaneOptions(feature_map="paraboloid")

PRESETS: dict[str, Preset] = {
    "note-a": Preset(
        "Note A: five points",
        "separable through the origin: 5 mistakes, where (R/γ)² = 17 are possible",
        _five_points,
        PaneOptions(fit_intercept=False),
    ),
    "note-b-students": Preset(
        "Note B: who gets grade A?",
        "four columns, start ¼, and a score of 0 is no mistake",
        _students,
        PaneOptions(start=(0.25,) * 5, tie="correct"),
    ),
    "note-b-overlap": Preset(
        "Note B: no line separates them",
        "the perceptron never stops; one mistake is the best that any line can do",
        _five_overlapping,
        PaneOptions(start=(1.0, 1.0, 1.0), tie="mistake", max_steps=100),
    ),
    "note-d-interval": Preset(
        "Note D: an interval on a line",
        "not separable on the line, but after x ↦ (x, (x − μ)²)",
        _nine_on_a_line,
        _LIFTED,
    ),
    "note-e-lms": Preset(
        "Note E: the LMS problem",
        "separable, yet least squares has two points wrong: the far one pulls",
        _far_point,
        PaneOptions(learner="lms"),
    ),
    "note-e-xor": Preset(
        "Note E: exclusive or",
        "the smallest set that no line separates",
        _four_points,
        PaneOptions(learner="kernel_perceptron", gamma=1.0),
    ),
    "separable": Preset(
        "Separable with a margin",
        "radius 1 and exactly the margin chosen, through the origin",
        _apart,
        PaneOptions(fit_intercept=False),
        margin="γ, exactly",
        noise=_FLIPPED,
    ),
    "gaussians": Preset(
        "Two Gaussians",
        "two clouds that overlap more, the nearer and wider they are",
        _gaussians,
        PaneOptions(learner="logistic_gradient"),
        margin="distance of the means",
        noise="standard deviation",
        drawing=Drawing(margin=0.5, noise=0.6),
    ),
    "xor": Preset(
        "Exclusive or",
        "four corners, the opposite ones of one class",
        _exclusive_or,
        PaneOptions(feature_map="products"),
        margin="distance from the axes",
        noise=_SPREAD,
    ),
    "rings": Preset(
        "Rings", "a disc inside a ring", _rings, _LIFTED, margin="distance of disc and ring", noise=_SPREAD
    ),
    "moons": Preset(
        "Moons",
        "two half circles that reach into each other",
        _moons,
        PaneOptions(learner="kernel_svm", strength=0.01),
        margin="distance of the half circles",
        noise=_SPREAD,
        drawing=Drawing(noise=0.1),
    ),
    "interval": Preset(
        "Interval",
        "one column: a class between two parts of the other",
        _interval,
        _LIFTED,
        margin="distance of the classes",
        noise=_SPREAD,
    ),
}
