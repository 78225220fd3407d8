"""glmnet, through R: paths of the squared loss on dense data, in a process of its own that times itself.

glmnet divides y by its standard deviation inside, which changes the quadratic part of its penalty; here y and the
strengths are so divided beforehand and the coefficients multiplied back.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from objective import Answer, Method, Task

__all__ = ["NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "glmnet", "glmnet"
LADDER = (1e-7, 1e-9, 1e-11, 1e-13)
SCRIPT = """
suppressMessages(library(glmnet))
argument <- commandArgs(trailingOnly = TRUE)
folder <- argument[1]; rows <- as.integer(argument[2]); columns <- as.integer(argument[3])
read <- function(name, count) readBin(file.path(folder, name), "double", count)
x <- matrix(read("x", rows * columns), rows, columns); y <- read("y", rows)
strengths <- read("strengths", as.integer(argument[4]))
seconds <- system.time(fit <- glmnet(x, y, lambda = strengths, alpha = as.numeric(argument[5]), intercept = FALSE,
  standardize = FALSE, thresh = as.numeric(argument[6]), maxit = 1e7))[["elapsed"]]
writeBin(c(seconds, as.vector(as.matrix(fit$beta))), file.path(folder, "out"))
"""

if shutil.which("Rscript") is None:
    raise ImportError("R is not installed")
if subprocess.run(["Rscript", "-e", "library(glmnet)"], capture_output=True, check=False).returncode != 0:
    raise ImportError("R has no package glmnet")


def methods(task: Task) -> list[Method]:
    """Return its path of the squared loss on dense data, none elsewhere."""
    if task.loss != "squared" or sparse.issparse(task.problem.X):
        return []
    return [Method(f"{NAME} path", lambda tolerance: _path(task, tolerance), LADDER)]


def _path(task: Task, tolerance: float) -> Answer:
    X, sd, count = task.problem.X, float(task.problem.y.std()), len(task.strengths)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X.ravel(order="F").tofile(folder / "x")
        (task.problem.y / sd).tofile(folder / "y")
        (np.array(task.strengths) / sd).tofile(folder / "strengths")
        shape = [str(number) for number in (*X.shape, count)]
        command = ["Rscript", "-e", SCRIPT, name, *shape, repr(task.l1_ratio), repr(tolerance)]
        subprocess.run(command, check=True, capture_output=True)
        seconds, *_ = out = np.fromfile(folder / "out")
    coefs: NDArray[np.float64] = sd * out[1:].reshape(count, X.shape[1])
    return Answer.path(coefs, facts={"seconds": float(seconds)})
