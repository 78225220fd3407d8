"""A trained model as JSON values: all that its file has, the decisions, how well it does, and what it cost."""

from __future__ import annotations

from typing import Any

from separatrix.model.file import model_to_dict
from separatrix.model.train import Trained


def trained_dict(trained: Trained) -> dict[str, Any]:
    """Return the record; it is a model file with more in it, so that it may be kept as one."""
    result = trained.learned.result
    overlap = {} if result.overlap is None else {"overlap": result.overlap.to_dict()}
    return {
        **model_to_dict(trained.model),
        "decisions": list(trained.decisions),
        "evaluation": {
            "own": trained.own.to_dict(),
            "apart": None if trained.apart is None else trained.apart.to_dict(),
            "apart_words": trained.apart_words,
        },
        "work": {"passes": float(result.passes), "seconds": float(result.seconds), "objective": result.objective},
        **overlap,
    }
