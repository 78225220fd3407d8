"""Whether the points can be separated, live: in words, with the library's certificate, and with the proof to draw.

Separable: the line of widest margin, its band and the points that pin it. Quasi: a line that has none on the wrong
side, but some on it for good. Overlap: points of both classes with weights whose means meet, so that no line can pass
between them (without an intercept: points that, each turned by its label, balance about the origin). Cost: that of
`check_separability` and of the widest margin, once for each set of points and features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import KernelCertificate, SeparabilityCertificate
from separatrix.errors import OverlapError, SeparatrixError, counted
from separatrix.fit.max_margin import MarginOptions, fit_max_margin
from separatrix.fit.result import FitResult
from separatrix.fit.separability import check_separability
from separatrix.lab.session.geometry import convex_hull
from separatrix.lab.session.history import Frame
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.lab.session.setting import Setting, make_setting
from separatrix.lab.session.state import State
from separatrix.lab.session.views.plane import Plane, make_plane
from separatrix.losses import Perceptron as PerceptronLoss
from separatrix.problem import Problem
from separatrix.solvers import HalfspaceLP

__all__ = ["Judged", "Verdict", "judge", "verdict_of"]

Floats = NDArray[np.float64]
CANCEL = 1e-7  # relative: multipliers whose sum is this near to 0 draw the proof
RECHECKED = 5000  # points up to which the certificate is verified each time
KERNEL_POINTS = 400  # up to which a kernel's space is judged live
PINNED = 1e-6  # relative: rows this little beyond the margin pin it
KINDS = {"separable": "separable", "quasi": "quasi", "overlap": "overlap", "no margin": "overlap"}


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known of some points: the certificate, the widest margin if there is one, multipliers that cancel."""

    certificate: SeparabilityCertificate | KernelCertificate
    widest: FitResult | None
    multipliers: Floats
    checked: bool


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict of a pane: `kind` is "separable", "quasi", "overlap" or "undecided"; headline and words say it.

    To draw: `lines` and `band` as segments (k, 4), `support` the ids of the points that pin the margin, lie on the line
    or meet; `hulls` of labels with corners (k, 2), 0 being both classes turned by their labels; `meeting` where the
    hulls meet, as `weights` of ids show. After a map there are lines but no hulls, which are in the features' space.
    """

    kind: str
    headline: str
    words: str
    margin: float | None
    checked: bool
    lines: Floats
    band: Floats
    support: tuple[int, ...]
    hulls: tuple[tuple[float, Floats], ...]
    meeting: tuple[float, float] | None
    weights: tuple[tuple[int, float], ...]
    mapped: bool


def verdict_of(state: State, pane: int) -> Verdict:
    """Return the verdict on the points as a pane sees them: through its map, with or without an intercept."""
    return _verdict(state.points, _seen(state.pane(pane)), state.axes)


@lru_cache(maxsize=32)
def _verdict(points: Points, options: PaneOptions, axes: tuple[int, int]) -> Verdict:
    setting = make_setting(points, options)
    plane = make_plane(points, axes, origin=not options.fit_intercept and setting.map is None)
    if options.kind.kernel and len(points) > KERNEL_POINTS:
        words = f"{len(points):,} points are too many to judge a kernel's space while you watch"
        return _told(setting, "undecided", "not judged", f"{words}; take up to {KERNEL_POINTS:,}")
    try:
        found = judge(points, options)
    except SeparatrixError as refusal:
        return _told(setting, "undecided", "not judged", str(refusal))
    kind = KINDS.get(found.certificate.verdict, "undecided")
    verdict = replace(_told(setting, kind, "", found.certificate.claim), checked=found.checked)
    if isinstance(found.certificate, KernelCertificate):
        return _in_kernel_space(verdict, found.certificate, points)
    if kind == "separable" and found.widest is not None:
        return _separable(verdict, found.widest, setting, plane)
    if kind == "overlap":
        return _overlap(verdict, found.multipliers, setting, plane)
    return _partly(verdict, found.certificate, setting, plane)


def _seen(options: PaneOptions) -> PaneOptions:
    """Return a pane with only what the verdict depends on."""
    learner = "kernel_svm" if options.kind.kernel else "perceptron"
    names = (
        ("kernel", "gamma", "degree") if options.kind.kernel else ("fit_intercept", "feature_map", "degree", "centre")
    )
    return PaneOptions(learner=learner, **{name: getattr(options, name) for name in names})


@lru_cache(maxsize=24)
def judge(points: Points, options: PaneOptions) -> Judged:
    """Return what is known of the separability of points through the map, or in the kernel's space, of a pane."""
    setting = make_setting(points, options)
    if options.kind.kernel:
        found = check_separability(points.X, points.y, kernel=setting.kernel)
        return Judged(found, None, np.zeros(len(points)), bool(found.verify(points.X, points.y)))
    certificate = check_separability(setting.features, setting.y, fit_intercept=options.fit_intercept)
    checked = len(points) <= RECHECKED and bool(certificate.verify(setting.features, setting.y))
    widest = _widest(setting) if certificate.verdict == "separable" else None
    multipliers = _multipliers(setting, certificate) if certificate.verdict == "overlap" else np.zeros(len(points))
    return Judged(certificate, widest, multipliers, checked)


def _widest(setting: Setting) -> FitResult | None:
    try:
        return fit_max_margin(setting.design, setting.y, MarginOptions())
    except OverlapError:  # a margin so narrow that floats do not show it
        return None


def _multipliers(setting: Setting, certificate: SeparabilityCertificate) -> Floats:
    """Return multipliers (n,) of sum 1 that cancel: of few rows by the linear program, or the certificate's own."""
    program = next(HalfspaceLP().steps(Problem(setting.design, setting.y, PerceptronLoss())))
    found = np.zeros(len(setting.y)) if program.dual is None else program.dual
    largest = float(np.abs(setting.features).max()) or 1.0
    left = np.abs(setting.design.rmatvec(setting.y * found)).max()
    if not (found.any() and left <= CANCEL * largest * found.sum()):
        assert certificate.proof is not None
        found = np.zeros(len(setting.y))
        found[list(certificate.proof.places)] = [float(value) for value in certificate.proof.multipliers]
    return np.asarray(found / found.sum())


def _told(setting: Setting, kind: str, headline: str, words: str) -> Verdict:
    none = np.empty((0, 4))
    mapped = setting.map is not None or setting.pane.kind.kernel
    return Verdict(kind, headline, words, None, False, none, none, (), (), None, (), mapped)


def _ids(points: Points, rows: Any) -> tuple[int, ...]:
    return tuple(points.ids[rows].tolist())


def _where(setting: Setting) -> str:
    through = "" if setting.pane.fit_intercept else " through the origin"
    return through if setting.map is None else f"{through} after {setting.map.words}"


def _separable(verdict: Verdict, widest: FitResult, setting: Setting, plane: Plane) -> Verdict:
    virtual = [float(widest.intercept)] if setting.pane.fit_intercept else []
    frame = Frame(0, np.append(virtual, widest.coef))
    margin = float(widest.facts["margin"])
    reached = setting.y * setting.scores(frame)
    pinned = np.flatnonzero(reached <= 1.0 + PINNED)
    grid = plane.scores(setting, frame)
    band = [plane.level(setting, frame.coef, grid, level) for level in (-1.0, 1.0)]
    return replace(
        verdict,
        headline=f"separable{_where(setting)} with margin γ = {margin:.4g}",
        words=f"{verdict.words}; {counted(len(pinned), 'point')} at distance γ pin the line of widest margin",
        margin=margin,
        lines=plane.level(setting, frame.coef, grid, 0.0),
        band=np.concatenate(band),
        support=_ids(setting.points, pinned),
    )


def _overlap(verdict: Verdict, multipliers: Floats, setting: Setting, plane: Plane) -> Verdict:
    rows = np.flatnonzero(multipliers > 0.0)
    rows = rows[np.argsort(-multipliers[rows], kind="stable")]
    support = _ids(setting.points, rows)
    weights = tuple(zip(support, multipliers[rows].tolist(), strict=True))
    plain = setting.map is None
    words = f"{verdict.words}; " + (
        f"weighted means of {counted(len(rows), 'point')} of both classes meet, so no line passes between them"
        if setting.pane.fit_intercept
        else f"{counted(len(rows), 'point')}, each turned by its label, balance about the origin"
    )
    return replace(
        verdict,
        headline=f"not separable{_where(setting)}",
        words=words,
        support=support,
        weights=weights,
        hulls=_hulls(setting, plane) if plain else (),
        meeting=_meeting(multipliers, setting, plane) if plain else None,
    )


def _hulls(setting: Setting, plane: Plane) -> tuple[tuple[float, Floats], ...]:
    at, y = plane.coordinates(setting.points.X), setting.y
    if not setting.pane.fit_intercept:
        return ((0.0, convex_hull(y[:, np.newaxis] * at)),)
    return tuple((label, convex_hull(at[y == label])) for label in (-1.0, 1.0))


def _meeting(multipliers: Floats, setting: Setting, plane: Plane) -> tuple[float, float]:
    if not setting.pane.fit_intercept:
        return 0.0, 0.0
    shares = np.where(setting.y > 0.0, multipliers, 0.0)
    x, y = (shares @ plane.coordinates(setting.points.X) / shares.sum()).tolist()
    return x, y


def _partly(verdict: Verdict, found: SeparabilityCertificate, setting: Setting, plane: Plane) -> Verdict:
    """Return the verdict where a line has no point on the wrong side but some on it, or nothing is decided."""
    if found.direction is None:
        return replace(verdict, headline="not decided")
    frame = Frame(0, found.direction)
    weights = np.array([float(weight) for weight in found.direction])
    left = np.flatnonzero(np.abs(setting.scores(frame)) <= PINNED * float(np.abs(weights).max()))
    grid = plane.scores(setting, frame)
    headline = f"separable only in part{_where(setting)} (quasi)"
    if verdict.kind == "separable":
        headline, left = f"separable{_where(setting)}, with a margin too narrow to draw", left[:0]
    return replace(
        verdict,
        headline=headline,
        lines=plane.level(setting, frame.coef, grid, 0.0),
        support=_ids(setting.points, left),
    )


def _in_kernel_space(verdict: Verdict, found: KernelCertificate, points: Points) -> Verdict:
    space = f"in the space of the {found.kernel.name} kernel"
    if verdict.kind == "separable":
        headline = f"separable {space} with margin γ ≥ {found.lower:.4g}"
        return replace(verdict, headline=headline, margin=found.lower, support=_ids(points, found.rows))
    headline = f"not separable {space}" if verdict.kind == "overlap" else f"not decided {space}"
    return replace(verdict, headline=headline, support=_ids(points, found.rows))
