"""How well a model does, in pictures: curves of a classifier, predictions and residuals of a regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from separatrix.design.build import make_design
from separatrix.design.encode.blocks import encode_source
from separatrix.errors import counted
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.diagnosis import Diagnosis, diagnose_rows
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.influence import FittedRows, Influence
from separatrix.losses.squared import Squared
from separatrix.model.train import Trained, with_known_target
from separatrix.problem import Problem
from separatrix.reports.diagnostic_plots import DIAGNOSTIC_PANELS, draw_diagnostics
from separatrix.reports.figures.picture import Picture, finished, new_panels
from separatrix.reports.figures.rows import evenly
from separatrix.reports.palette import COLOURS
from separatrix.reports.plot.calibration_curve import calibration
from separatrix.reports.plot.ranking_curves import precision_recall, roc
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

DRAWN_RESIDUALS = 3000  # rows
MOST_ENTRIES = 30_000_000  # of a matrix that is encoded once more for the diagnostics


def classifier_pictures(found: ClassifierEvaluation, where: str) -> Iterator[Picture]:
    """Draw ROC, precision and recall, and calibration where there are probabilities; `where` says on which rows."""
    fewer = replace(found, rankings=found.rankings[: len(COLOURS)])
    left = len(found.rankings) - len(fewer.rankings)
    more = f" {left:,} more classes are not drawn." if left else ""
    (panel,) = new_panels(height=4.2)
    roc(fewer, ax=panel)
    words = f"ROC {where}: AUC {found.auc}. The share of a class found over the share of others mistaken for it.{more}"
    yield finished([panel], f"ROC curve, area {found.auc}", words)
    (panel,) = new_panels(height=4.2)
    precision_recall(fewer, ax=panel)
    precisions = ", ".join(f"{ranking.average_precision:.4g}" for ranking in fewer.rankings)
    words = f"Precision and recall {where}; dotted is chance. Average precision {precisions}.{more}"
    yield finished([panel], f"Precision over recall, average precision {precisions}", words)
    if found.reliability is not None:
        panels = new_panels(2, 4.8, (3.0, 1.0))
        calibration(found, axes=panels)
        yield finished(panels, f"Calibration curve, calibration error {found.reliability.error:.4g}")


def prediction_picture(trained: Trained) -> Picture:
    """Draw the numbers observed over those predicted."""
    predicted = np.asarray(trained.predictions.scores, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(predicted))
    rows = known[evenly(len(known), DRAWN_RESIDUALS)]
    observed = np.asarray(trained.goal.y, dtype=np.float64)
    (panel,) = new_panels()
    both = np.concatenate([predicted[rows], observed[rows]])
    ends = [float(both.min()), float(both.max())]
    panel.plot(ends, ends, ":", color="0.5", label="predicted exactly")
    panel.plot(predicted[rows], observed[rows], ".", color=COLOURS[0], alpha=0.4, markersize=4.0, label="rows")
    panel.set_xlabel("predicted")
    panel.set_ylabel("observed")
    panel.legend(fontsize="small")
    words = f"Observed over predicted, of its own rows: on the dotted line a prediction is exact. {len(rows):,} of"
    return finished([panel], "Observed over predicted numbers", f"{words} {counted(len(known), 'row')} are drawn.")


def influence_of(trained: Trained, table: Table | TableSource) -> tuple[Influence, Diagnosis] | None:
    """Return the rows of a least squares fit with their diagnosis; None of another fit, or one too large to repeat."""
    model = trained.model
    entries = int(model.data.get("rows", 0)) * (1 + len(model.encoding.feature_names))
    if trained.learned.result.certificate.kind != "least-squares" or entries > MOST_ENTRIES:
        return None
    encoded = encode_source(model.encoding, with_known_target(as_source(table), model.target, "impute")[0])
    y = np.asarray(trained.goal.y, dtype=np.float64)[encoded.kept]
    names = list(model.encoding.feature_names)
    design = make_design(encoded.X, intercept=bool(model.options["intercept"]), names=names)
    problem = Problem(design, y, Squared())
    rows = Influence(FittedRows(problem, fit_least_squares(problem), np.flatnonzero(encoded.kept)))
    terms = {
        column.name: model.encoding.feature_names[place]
        for column, place in zip(model.encoding.columns, model.encoding.places, strict=True)
    }
    return rows, diagnose_rows(rows, terms)


def diagnostic_pictures(rows: Influence, diagnosis: Diagnosis) -> Iterator[Picture]:
    """Draw the four pictures of a least squares fit."""
    panels = [new_panels()[0] for _ in DIAGNOSTIC_PANELS]
    draw_diagnostics(rows, diagnosis, panels)
    for panel, name in zip(panels, DIAGNOSTIC_PANELS, strict=True):
        yield finished([panel], f"Residuals, to judge {name}: {diagnosis.check(name).verdict}")
