"""Fitted predictors as files: saved, loaded, asked for predictions, exported."""

from separatrix.model.file import load_model, save_model
from separatrix.model.intervals import Covariance, Intervals
from separatrix.model.predictions import Predictions
from separatrix.model.provenance import data_digest, describe_data
from separatrix.model.record import Model
from separatrix.model.rule import Rule
from separatrix.model.stream import PredictionRun, write_predictions

__all__ = [
    "Covariance",
    "Intervals",
    "Model",
    "PredictionRun",
    "Predictions",
    "Rule",
    "data_digest",
    "describe_data",
    "load_model",
    "save_model",
    "write_predictions",
]
