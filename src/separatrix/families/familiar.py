"""Names of other libraries: an unknown option is answered with the right name, and how its value converts.

This is the one table of such names, for estimators, `sx.train`, the command line, and the public names of the package.
The module imports the standard library only, so that `separatrix --help` loads no NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from separatrix.errors import UnknownOptionError, did_you_mean
from separatrix.families.options import families_with

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

_STRENGTH = 'strength = 1/(n · C) for n rows, as sx.strength_from("C", C, n=n) converts'
_ALPHA = (
    "strength = alpha/n for Ridge of scikit-learn, and alpha for its Lasso, ElasticNet and SGD; glmnet's is l1_ratio"
)
_PENALTY = 'penalty="l2" is l1_ratio=0, penalty="l1" is l1_ratio=1, and no penalty is strength=0'
_PASSES = "it limits the passes over the rows"

# By each name: the options that it may mean, and how its value converts; the first known one is named.
FAMILIAR: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(("C", "c"), (("strength", _STRENGTH),)),
    "alpha": (("strength", _ALPHA),),
    **dict.fromkeys(("lambda_", "lambda", "lam", "lambd", "reg", "reg_lambda"), (("strength", ""),)),
    "penalty": (("l1_ratio", _PENALTY), ("strength", "its penalty is always L2")),
    **dict.fromkeys(("learning_rate", "eta0", "eta", "lr", "step_size"), (("rate", ""),)),
    **dict.fromkeys(
        ("max_iter", "n_iter", "epochs", "n_epochs", "max_epochs"),
        (("max_passes", _PASSES), ("max_steps", "")),
    ),
    **dict.fromkeys(("tolerance", "eps", "epsilon"), (("tol", ""),)),
    **dict.fromkeys(("seed", "rng", "random_state"), (("random_state", ""), ("seed", ""))),
    **dict.fromkeys(("intercept", "bias", "fit_intercept"), (("fit_intercept", ""), ("intercept", ""))),
    **dict.fromkeys(("multi_class", "decision_function_shape"), (("multiclass", ""),)),
    **dict.fromkeys(("normalize", "standardize", "standardise"), (("scaling", 'scaling="spread" standardises'),)),
    "shuffle": (("order", 'order="shuffled" is new in each pass'),),
    "average": (("keep", 'keep="average"'),),
    "coef0": (("offset", ""),),
    "cache_size": (("cache_mb", ""),),
    "sample_weight": (("weights", "it names a column"),),
    **dict.fromkeys(("y", "label", "response"), (("target", ""),)),
    "test_size": (("holdout", ""),),
    "n_folds": (("folds", ""), ("cv", "")),
    **dict.fromkeys(("sep", "delimiter"), (("separator", ""),)),
    "output": (("out", ""),),
}
# Options that have no counterpart, and what to do instead.
INSTEAD = {
    "n_jobs": "the threads of linear algebra are used; leave it out",
    "verbose": "progress is shown after one second on the command line and, in Python, by `with sx.progress():`",
    "class_weight": 'give sx.train an estimator, as in model=sx.LogisticRegression(class_weight="balanced")',
    "sample_weight": "give it to fit(X, y, sample_weight=…)",
    "weights": "give them to fit(X, y, sample_weight=…)",
}
CLASSES = {
    **dict.fromkeys(("SVC", "NuSVC"), "KernelSVM"),
    "LinearSVC": "LinearSVM",
    **dict.fromkeys(("Logit", "MNLogit", "LogisticRegressionCV", "SGDClassifier"), "LogisticRegression"),
    **dict.fromkeys(("OLS", "WLS", "Ridge", "Lasso", "ElasticNet", "SGDRegressor"), "LinearRegression"),
    **dict.fromkeys(("LinearDiscriminantAnalysis", "GaussianNB", "LDA"), "GaussianGenerativeClassifier"),
    "OneVsRestClassifier": "OneVsRest",
    "Adaline": "LMSClassifier",
    "read_csv": "read_table",
    "load_dataset": "load_demo",
}


def naming_options(function: AnyFunction, family: str = "") -> AnyFunction:
    """Return a function that answers an unknown keyword with the option that it stands for; the signature is the same.

    `family` is the family whose options the keywords are, empty for functions with options of their own.
    """
    known = signature(function).parameters

    @wraps(function)
    def named(*given: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise UnknownOptionError(unknown_option(name, known, family))
        return function(*given, **options)

    return named  # type: ignore[return-value]  # of the same signature


def unknown_option(name: str, known: Collection[str], family: str = "", spelled: Callable[[str], str] = str) -> str:
    """Return a message on an unknown option: the known one that it stands for, who has it, or a known one like it."""
    for option, conversion in FAMILIAR.get(name, ()):
        if option in known:
            return f"{spelled(name)} is called {spelled(option)} here{f': {conversion}' if conversion else ''}"
    meant = next((option for option, _ in FAMILIAR.get(name, ())), name)
    own = spelled(name) if meant == name else f"{spelled(name)} ({meant} here)"
    owners = families_with(meant)
    if family and owners:
        return f"{own} is an option of {owners}, not of {family}"
    if name in INSTEAD:
        return f"{spelled(name)} is not an option here: {INSTEAD[name]}"
    if owners:
        return f"{own} is an option of {owners}; give it to an estimator, or to separatrix fit"
    return f"{spelled(name)} is not an option{did_you_mean(spelled(name), map(spelled, known))}"


def unknown_name(name: str, known: Collection[str]) -> str:
    """Return a message on a name that the package does not have, with the one that it stands for or is like."""
    meant = f"; did you mean {CLASSES[name]!r}?" if name in CLASSES else did_you_mean(name, known)
    return f"separatrix has no public name {name!r}{meant if meant.startswith('; did') else ''}"
