"""Conversions between the strength of our objective and other libraries' C, alpha and lambda.

    ours           Σ loss / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)
    C              strength = 1/(n C)      C Σ loss + penalty: scikit-learn's LogisticRegression, LinearSVC; liblinear
    ridge_alpha    strength = alpha/n      ‖y − Xw‖² + alpha ‖w‖²: scikit-learn's Ridge
    lasso_alpha    strength = alpha        ‖y − Xw‖²/(2n) + alpha · penalty: its Lasso and ElasticNet
    sgd_alpha      strength = alpha        Σ loss / n + alpha · penalty: its SGDClassifier
    lambda         strength = lambda       glmnet, on columns and target as they are (standardize=FALSE)

Our squared loss is ½ (w·x − y)², which these conversions take into account.
"""

from __future__ import annotations

from typing import Literal

from separatrix.errors import OptionError, require_choice, require_number

Convention = Literal["C", "ridge_alpha", "lasso_alpha", "sgd_alpha", "lambda"]
CONVENTIONS: tuple[Convention, ...] = ("C", "ridge_alpha", "lasso_alpha", "sgd_alpha", "lambda")


def strength_from(convention: Convention, value: float, n: int | None = None) -> float:
    """Return our strength for another library's number; `n` is the number of rows, if the convention depends on it.

    >>> strength_from("C", 1.0, n=200)
    0.005
    """
    require_choice("convention", convention, CONVENTIONS)
    number = require_number(convention, value, above=0.0)
    if convention == "C":
        return 1.0 / (_rows(convention, n) * number)
    return number / _rows(convention, n) if convention == "ridge_alpha" else number


def strength_to(convention: Convention, strength: float, n: int | None = None) -> float:
    """Return another library's number for our strength.

    >>> strength_to("C", 0.005, n=200)
    1.0
    """
    require_choice("convention", convention, CONVENTIONS)
    number = require_number("strength", strength, above=0.0)
    if convention == "C":
        return 1.0 / (_rows(convention, n) * number)
    return number * _rows(convention, n) if convention == "ridge_alpha" else number


def _rows(convention: str, n: int | None) -> int:
    if n is None:
        raise OptionError(f"{convention} depends on the number of rows; give it as n")
    return int(require_number("n", n, least=1))
