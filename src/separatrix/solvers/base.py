"""The interface of solvers: generators of steps that declare their needs.

A solver never times, traces or stops a fit. It yields a Step after each unit of work, usually a pass, for as long as it
is iterated. `check_needs` compares its declared needs with the problem before the first step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from separatrix.arrays import Floats
from separatrix.errors import NeedsError
from separatrix.problem import Problem


@dataclass(frozen=True)
class Step:
    """An iterate: the coefficients, and the named numbers that stopping rules and the trace read.

    A solver of the penalised objective P reports at least `objective`, P at the coefficients, and `excess`, its
    cheapest estimate of the suboptimality (inf while it has none). `dual`, if a solver has one, holds one slope of the
    loss per row: a point at which the dual objective can be evaluated.
    """

    coef: Floats
    facts: Mapping[str, float] = field(default_factory=dict)
    dual: Floats | None = None


@dataclass(frozen=True)
class Needs:
    """Requirements of a solver on the loss, the penalty and the design; `otherwise` has the advice for each unmet one.

    `losses` names the losses that a solver implements one by one; if empty, any loss is accepted. `columns_as_given`
    asks for columns that are not centred, as the steps depend on their origin; every problem can meet it.
    """

    target: frozenset[str] = frozenset({"labels", "numbers", "classes"})
    losses: frozenset[str] = frozenset()
    convex: bool = False
    curvature: bool = False
    random_rows: bool = False
    row_visits: bool = False
    column_access: bool = False
    smooth_penalty: bool = False
    quadratic_penalty: bool = False
    no_penalty: bool = False
    columns_as_given: bool = False
    otherwise: Mapping[str, str] = field(default_factory=dict)


# Of solvers that take some rows at a time, in any order, of rows in memory.
IN_MEMORY = Needs(
    target=frozenset({"labels"}),
    random_rows=True,
    no_penalty=True,
    otherwise={"random_rows": "Hold the rows in memory, as an array or a sparse matrix."},
)


class Solver(Protocol):
    """An algorithm: frozen options, declared needs, and steps."""

    needs: ClassVar[Needs]

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:
        """Yield steps from a start, for as long as the generator is iterated."""


def check_needs(solver: Solver, problem: Problem) -> None:
    """Raise a NeedsError that names the unmet needs, and a remedy, before any work is done."""
    missing = dict(_missing(solver.needs, problem))
    if missing:
        advice = [solver.needs.otherwise[need] for need in missing if need in solver.needs.otherwise]
        raise NeedsError(" ".join([f"{type(solver).__name__} needs {'; '.join(missing.values())}.", *advice]))


def _missing(needs: Needs, problem: Problem) -> Iterator[tuple[str, str]]:
    loss, penalty, design = problem.loss, problem.penalty, problem.design
    if loss.target not in needs.target:
        wanted = " or ".join(sorted(needs.target))
        yield "target", f"a loss whose targets are {wanted}; the {loss.name} loss takes {loss.target}"
    elif needs.losses and loss.name not in needs.losses:
        yield "losses", f"one of the losses {', '.join(sorted(needs.losses))}; this is the {loss.name} loss"
    if needs.convex and not loss.convex:
        yield "convex", f"a convex loss; the {loss.name} loss is not convex"
    if needs.curvature and not loss.has_curvature:
        yield "curvature", f"a curvature; the {loss.name} loss has none"
    if needs.smooth_penalty and not penalty.smooth:
        yield "smooth_penalty", f"a smooth penalty; {type(penalty).__name__} has a kink at 0"
    if needs.quadratic_penalty and not penalty.quadratic:
        yield "quadratic_penalty", f"an L2 part in the penalty; {type(penalty).__name__} has none"
    if needs.no_penalty and (penalty.absolute or penalty.quadratic):
        yield "no_penalty", f"no penalty; this problem has {type(penalty).__name__}"
    if needs.random_rows and not design.random_rows:
        yield "random_rows", f"rows in any order; {type(design).__name__} only streams them"
    if needs.row_visits and not design.row_visits:
        yield "row_visits", f"rows one at a time; {type(design).__name__} gives them in blocks only"
    if needs.column_access and not design.column_access:
        yield "column_access", f"whole columns; {type(design).__name__} has none"
