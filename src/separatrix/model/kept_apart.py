"""How well a model does on rows that it was not fitted on: a share kept apart, or each part of several in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Bools
from separatrix.errors import OptionError, counted
from separatrix.fit.run import Watch
from separatrix.model.one_fit import MOST_JUDGED, Evaluation, OneFit, cut_goal
from separatrix.model.predictions import join_predictions


def judge_apart(whole: OneFit, watch: Watch | None) -> tuple[Evaluation | None, str]:
    """Return how well fits of the other rows do on rows kept apart, and which those were, in words."""
    options, n = whole.options, whole.source.n_rows
    if options.holdout is None and options.folds is None:
        return None, ""
    from separatrix.selection.cross_validation import assign_folds  # noqa: PLC0415  # with all of cross-validation, which few fits need

    codes = None if whole.goal.classes is None else whole.goal.classes.codes
    if options.holdout is not None:
        if not 0.0 < options.holdout < 1.0:
            raise OptionError(f"holdout={options.holdout!r} is out of range; give a share between 0 and 1")
        rows = assign_folds(n, parts_of(options.holdout, n), options.learn.seed, codes) == 0
        words = f"on {counted(int(rows.sum()), 'row')} kept apart from the fit that is judged"
        return _told(_judge_folds(whole, [rows], watch), words, int(rows.sum()))
    folds = assign_folds(n, int(options.folds or 0), options.learn.seed, codes)
    words = f"on each row by a fit of other rows, in {options.folds} folds"
    return _told(_judge_folds(whole, [folds == number for number in range(int(folds.max()) + 1)], watch), words, n)


def parts_of(share: float, n: int) -> int:
    """Return how many parts n rows have of which one is a share to keep apart; it must be a row at least."""
    parts = max(2, round(1.0 / share))
    if parts > n:
        raise OptionError(f"holdout={share!r} is less than one of {counted(n, 'row')}; give a larger share, as 0.2")
    return parts


def _told(found: Evaluation | None, words: str, rows: int) -> tuple[Evaluation | None, str]:
    """Return an evaluation with the words for its rows, and whether they were drawn from more."""
    drawn = found is not None and found.rows == MOST_JUDGED < rows
    return found, f"{words}, of which {MOST_JUDGED:,} drawn at random" if drawn else words


def _judge_folds(whole: OneFit, parts: list[Bools], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of predictions of each part by a fit of the rest; None if one was interrupted."""
    found = []
    for held in parts:
        fit = replace(whole, source=whole.source.select(~held), goal=cut_goal(whole.goal, ~held))
        model = fit.predictor(watch)
        if model is None:
            return None
        blocks = whole.source.select(held).blocks()
        found.append(join_predictions([model.predict(block, intervals=False) for block in blocks]))
    rows = np.concatenate([np.flatnonzero(held) for held in parts])
    mask = np.zeros(whole.source.n_rows, dtype=np.bool_)
    mask[rows] = True
    return whole.judge(join_predictions(found, np.argsort(rows)), cut_goal(whole.goal, mask))
