"""Every option of every learner, once: name, type, default, bounds and help text.

An option is a dataclass field made by `option`. Estimators inherit the dataclass of their family, so its fields are
their parameters. The command line makes its flags from the fields, the documentation its tables of parameters, and the
model file its `options`. `checked` validates values by annotation and bounds; `check` compares options with each other.

To add an option, add a field here and use it in its family. The module imports the standard library only, so that
`separatrix --help` loads no NumPy.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from separatrix.errors import OptionError, require_choice, require_count, require_number

LARGEST_RATE = 1e100  # and its inverse the smallest: beyond, squares of updates overflow
DOC_WIDTH = 112  # of the text of a docstring's parameters
DOC_MARK = "{parameters}"  # replaced in docstrings by the section of all options
Order = Literal["cyclic", "random", "shuffled"]
Task = Literal["classification", "regression"]
START = 'None for zeros, "random" for small random numbers, or the weights, intercept first (if fitted)'
VISIT_ORDER = 'order of visits of single rows: "cyclic"; "random", with replacement; "shuffled", new in each pass'
STOCHASTIC_KEEP = 'stochastic weights to use: the "last", or the "average" over the second half of the run'
FAMILIES: dict[str, type[Options]] = {}  # by name, in the order of their definition


def option(
    default: Any,
    help: str,  # the word of every command line
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    flag: str | None = "",
) -> Any:
    """Return the dataclass field of an option; `flag` overrides its flag on the command line, None leaves it out."""
    return field(default=default, metadata={"help": help, "least": least, "above": above, "most": most, "flag": flag})


@dataclass(kw_only=True, repr=False, eq=False)
class Options:
    """Base class of the options of a family.

    A subclass gives its `family`, the `title` in reports, the `module` of its fit (default: named as the family), its
    `tasks`, and whether its fit takes sample weights, or an intercept alone.
    """

    family: ClassVar[str] = ""
    title: ClassVar[str] = ""
    module: ClassVar[str] = ""
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    weighted: ClassVar[bool] = False
    fits_intercept_alone: ClassVar[bool] = False

    def __init_subclass__(cls, family: str = "", title: str = "", **facts: Any) -> None:
        """Register a family with its facts, and fill in the parameters of a docstring with a line `{parameters}`."""
        super().__init_subclass__()
        if family:
            facts = {"family": family, "title": title, "module": cls.module or family, **facts}
            FAMILIES[family] = cls
        for name, fact in facts.items():
            setattr(cls, name, fact)
        if cls.__doc__ and DOC_MARK in cls.__doc__:
            cls.__doc__ = cls.__doc__.replace(f"    {DOC_MARK}", _parameters_text(cls))

    def checked(self) -> Self:
        """Return the options, each validated, as an instance of the family's own class."""
        kind: Any = next(base for base in type(self).__mro__ if "__dataclass_fields__" in vars(base))
        given = tuple(getattr(self, each.name) for each in fields(kind))
        try:
            values = _checked_values(kind, given, tuple(map(type, given)))
        except TypeError:  # of an option that has no hash
            values = _checked_values.__wrapped__(kind, given, ())
        options: Self = kind(**{each.name: value for each, value in zip(fields(kind), values, strict=True)})
        options.check()
        return options

    @property
    def may_be_tested(self) -> bool:
        """Whether the coefficients of the fit may have tests."""
        return False

    def check(self) -> None:
        """Raise an OptionError for options that contradict each other."""

    def plain(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


_types = cache(get_type_hints)


@lru_cache(maxsize=256)
def _checked_values(kind: Any, given: tuple[Any, ...], _: tuple[type, ...]) -> tuple[Any, ...]:
    """Return the values of all options, each validated; equal ones of other types, as 1 and True, count as others."""
    types = _types(kind)
    return tuple(_checked(each, types[each.name], value) for each, value in zip(fields(kind), given, strict=True))


def _checked(each: Field[Any], kind: Any, value: Any) -> Any:
    """Return the value of an option in its annotated type; an OptionError says what it may be."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    is_function = callable(value) and any(get_origin(part) is Callable for part in kinds)
    if Any in kinds or (value is None and NoneType in kinds) or is_function:
        return value
    if bool in kinds:
        if isinstance(value, str) or value not in (True, False):
            raise OptionError(f"{each.name}={value!r} is not True or False")
        return bool(value)
    choices = [choice for part in kinds if get_origin(part) is Literal for choice in get_args(part)]
    if isinstance(value, str) and (value in choices or str in kinds):
        return value
    if not {float, int} & set(kinds):
        return require_choice(each.name, value, choices)
    bounds, whole = {name: each.metadata[name] for name in ("least", "above", "most")}, float not in kinds
    if isinstance(value, str) and choices:
        words = ", ".join(f'"{choice}"' for choice in choices)
        lower = {"of at least": bounds["least"], "above": bounds["above"]}
        low = "".join(f" {relation} {bound:g}" for relation, bound in lower.items() if bound is not None)
        raise OptionError(f"{each.name}={value!r} is not known; give a number{low}, or {words}")
    if whole and bounds["least"] in {None, 1}:
        return require_count(each.name, value)
    number = require_number(each.name, value, **bounds)
    return int(number) if whole else number


def _plain(value: Any) -> Any:
    from separatrix.codec import plain  # noqa: PLC0415  # a hundredth of a second, which --help saves

    return plain(value)


def _parameters_text(kind: type[Options]) -> str:
    """Return the options as a docstring's section of parameters, indented."""
    entries = (f"{each.name} : {each.metadata['help']}" for each in fields(kind))
    lines = (textwrap.fill(entry, DOC_WIDTH, subsequent_indent="    ") for entry in entries)
    return textwrap.indent("\n".join(("Parameters", "----------", *lines)), "    ")


# Options shared by several families


@dataclass(kw_only=True, repr=False, eq=False)
class TraceOptions(Options):
    """What the trace of a fit keeps."""

    keep_iterates: bool = option(False, "whether `trace_.coefs` has the coefficients of every step", flag=None)


@dataclass(kw_only=True, repr=False, eq=False)
class InterceptOptions(TraceOptions):
    """The intercept of linear scores."""

    fit_intercept: bool = option(True, "whether scores have a constant", flag="--intercept/--no-intercept")


@dataclass(kw_only=True, repr=False, eq=False)
class ClassOptions(Options):
    """The order of two classes."""

    positive: Any = option(None, "the positive one of two classes, second in `classes_`; None for the last sorted")


@dataclass(kw_only=True, repr=False, eq=False)
class ClassWeightOptions(ClassOptions):
    """The weights of classes."""

    class_weight: Any = option(
        None,
        'None, "balanced", or a weight by class, times the sample weights; probabilities shift with the weights',
        flag=None,
    )


@dataclass(kw_only=True, repr=False, eq=False)
class ScalingOptions(Options):
    """The scale of the columns."""

    scaling: Literal["none", "spread"] = option(
        "none",
        '"spread" standardises columns (not those of 0 and 1, nor words) for the fit; coefficients keep their units',
    )


@dataclass(kw_only=True, repr=False, eq=False)
class PenalisedOptions(InterceptOptions, ScalingOptions, weighted=True):
    """The penalty, its choice by cross-validation, and the solver."""

    strength: float | Literal["cv", "auto"] = option(
        0.0,
        '0 for no penalty, "cv" to cross-validate, "auto" (default of tables) for none if a column has an estimate, or'
        " 1/n",
        least=0.0,
    )
    cv: Any = option(5, 'number of folds for strength "cv"', flag="--cv-folds")
    cv_choice: Literal["one_standard_error", "best"] = option(
        "one_standard_error", 'the "best" strength, or the largest within "one_standard_error" of it'
    )
    strengths: Any = option(100, "number of strengths to try, or the strengths themselves", flag=None)
    solver: str = option(
        "auto",
        '"auto", "newton", "newton_cg", "lbfgs", "coordinate", "dual_coordinate", "interior_point", or gradient descent'
        ' by all rows ("gradient") or one row at a time ("stochastic")',
    )
    tol: float = option(1e-8, "relative duality gap to reach", above=0.0)
    max_passes: int = option(1000, "largest number of passes over the rows")
    random_state: Any = option(None, "seed of the folds; None gives the same folds each time", flag=None)

    @property
    def may_be_unpenalised(self) -> bool:
        """Whether the fit is to have no penalty, or none if the estimate exists without."""
        return self.strength in (0.0, "auto")


@dataclass(kw_only=True, repr=False, eq=False)
class ElasticNetOptions(PenalisedOptions):
    """A penalty that may be L1, inference without one, and the solvers "gradient" and "stochastic"."""

    fits_intercept_alone: ClassVar[bool] = True

    l1_ratio: float = option(0.0, "0 for an L2 penalty, 1 for L1, between for elastic net", least=0.0, most=1.0)
    weight_kind: Literal["precision", "frequency"] = option(
        "precision", 'meaning of weights in tests and standard errors: "precision", or "frequency" (a number of rows)'
    )
    aliased: Literal["keep", "drop"] = option(
        "keep",
        'collinear columns without a penalty: "keep" all, with no tests of those concerned; "drop" the later ones, as R'
        " does, so that they have a coefficient of 0 and the others those of the smaller model",
    )
    warm_start: bool = option(False, "whether to start at the last fit's coefficients, if of equal shape", flag=None)
    rate: float | Literal["auto"] | Callable[[int], float] = option(
        "auto",
        'rate η of "gradient" (by pass) and "stochastic" (by row) on the mean loss: a number, a function of the step'
        ' k = 0, 1, …, or "auto" (half the largest that is known not to diverge)',
        above=0.0,
    )
    schedule: Literal["constant", "inverse"] = option(
        "constant",
        'stochastic rate: "constant", or "inverse", which converges: rate/(1 + k/n) after k rows, or'
        " rate/(1 + rate·strength·k) if every coefficient is penalised",
    )
    order: Order = option("cyclic", VISIT_ORDER)
    keep: Literal["last", "average"] = option("last", STOCHASTIC_KEEP)
    stop: Literal["gap", "gradient", "change"] = option(
        "gap",
        'what must be at most tol: the "gap"; or, of "gradient" and "stochastic", the length η‖∇‖ of the next step'
        ' ("gradient"), or the largest change of a coefficient in the last pass ("change")',
    )
    random_state: Any = option(
        None, "seed of folds and random orders; None for the same folds, but other orders, each time", flag=None
    )

    @property
    def may_be_tested(self) -> bool:
        return self.may_be_unpenalised

    def check(self) -> None:
        stochastic = ("schedule", "order", "keep")
        for name in ("rate", "stop", *stochastic):
            solvers = ("stochastic",) if name in stochastic else ("gradient", "stochastic")
            if self.solver not in solvers and getattr(self, name) != type(self).__dataclass_fields__[name].default:
                known = " or ".join(f'solver="{solver}"' for solver in solvers)
                raise OptionError(f"{name}={_plain(getattr(self, name))!r} is for {known}, not for {self.solver!r}")
        if self.aliased == "drop" and not self.may_be_unpenalised:
            raise OptionError(
                f'aliased="drop" is for fits without a penalty, not for strength={_plain(self.strength)!r}'
            )
        if callable(self.rate) and self.schedule == "inverse":
            raise OptionError("a rate that is a function is its own schedule; leave schedule out")


@dataclass(kw_only=True, repr=False, eq=False)
class VisitOptions(InterceptOptions, ClassOptions):
    """The options of mistake-driven rules, primal or dual."""

    order: Order = option("cyclic", VISIT_ORDER)
    rate: float = option(
        1.0, "learning rate; from a zero start, it only scales the weights", least=1.0 / LARGEST_RATE, most=LARGEST_RATE
    )
    schedule: Literal["constant", "inverse"] = option("constant", '"constant", or "inverse": rate / k for update k')
    tie: Literal["positive", "negative", "mistake", "correct"] = option(
        "positive", 'a score of 0: "positive" (the second class), "negative", or a "mistake" or "correct" for both'
    )
    margin: float = option(0.0, "a visit with y·score below this margin is corrected too", least=0.0, most=LARGEST_RATE)
    max_updates: int = option(1_000_000, "largest number of updates, at which it stops with a warning")
    max_passes: int = option(10_000, "largest number of passes over the rows, at which it stops with a warning")
    random_state: Any = option(None, "seed of random orders and of a random start", flag=None)


@dataclass(kw_only=True, repr=False, eq=False)
class KernelOptions(Options, module="kernel"):
    """The kernel and its parameters."""

    kernel: Any = option(
        "rbf",
        '"rbf", "linear", "polynomial", "sigmoid", "precomputed" (X is the kernel matrix), one of sx.kernels, or a'
        " function of two matrices (n, p) and (m, p) that returns (n, m)",
    )
    gamma: float | Literal["scale"] = option(
        "scale",
        "exp(−gamma ‖a − b‖²), (gamma a·b + offset)^degree or tanh(gamma a·b + offset), by the name of the kernel;"
        ' "scale" is 1 / (p · variance of all entries)',
        above=0.0,
    )
    degree: int = option(3, "degree of the polynomial kernel")
    offset: float | None = option(None, "offset of the kernel; None is 1 (polynomial) or 0 (sigmoid)")
    cache_mb: float = option(200.0, "memory in MB for rows of the kernel matrix, at least two", above=0.0)


# The families


@dataclass(kw_only=True, repr=False, eq=False)
class LogisticOptions(ElasticNetOptions, ClassWeightOptions, family="logistic", title="Logistic regression"):
    """The options of logistic regression."""

    multiclass: Literal["softmax", "one_vs_rest"] = option("softmax", 'of several classes: "softmax" or "one_vs_rest"')
    reference_class: Any = option(
        None,
        "class whose scores are 0, so that coefficients are log-odds against it; of two, the other is positive. None"
        " for softmax coefficients that minimise the penalty or, without one, have zero sum over the classes",
    )
    bias_reduction: bool = option(
        False,
        "whether to fit bias-reduced estimates (Firth), which always exist, of two classes without a penalty; the"
        " intercept is then that of maximum likelihood, given the other coefficients (FLIC)",
        flag="--firth",
    )
    on_separation: Literal["warn", "raise", "ignore", "firth"] = option(
        "warn",
        'if no penalty is used and no maximum is proved to exist: "warn", "raise", "ignore", or fit as with'
        ' bias_reduction ("firth", which strength "auto" prefers to a penalty)',
    )
    test: Literal["wald", "lr"] = option(
        "wald",
        'tests and intervals of the table: "wald", or "lr", by likelihood-ratio tests and profiles of the likelihood',
    )
    threshold: float = option(0.5, "probability from which the second of two classes is predicted", above=0.0, most=1.0)

    def check(self) -> None:
        super().check()
        if self.bias_reduction and not self.may_be_unpenalised:
            raise OptionError(f"bias_reduction=True is for fits without a penalty, not for strength={self.strength!r}")
        if self.bias_reduction and self.class_weight is not None:
            raise OptionError("bias_reduction=True is not for class_weight; leave one of the two out")


@dataclass(kw_only=True, repr=False, eq=False)
class LinearOptions(ElasticNetOptions, family="linear", title="Linear regression", tasks=("regression",)):
    """The options of linear regression."""

    max_passes: int = option(10_000, "largest number of passes over the rows")


@dataclass(kw_only=True, repr=False, eq=False)
class SVMOptions(PenalisedOptions, ClassWeightOptions, family="svm", title="Support vector machine"):
    """The options of the linear support vector machine."""

    l1_ratio: ClassVar[float] = 0.0  # the penalty is L2

    strength: float | Literal["cv", "auto"] = option(
        "auto",
        'strength of the penalty, above 0; "auto" is 1/n (C = 1 of scikit-learn and LIBSVM), "cv" cross-validates',
        above=0.0,
    )
    loss: Literal["hinge", "squared_hinge"] = option("hinge", '"hinge" or "squared_hinge"')
    tol: float = option(1e-6, "relative duality gap to reach", above=0.0)
    max_passes: int = option(10_000, "largest number of passes over the rows")

    def check(self) -> None:
        if self.loss == "hinge" and self.solver in ("gradient", "stochastic"):
            raise OptionError(f'solver={self.solver!r} needs a smooth loss; give loss="squared_hinge"')


@dataclass(kw_only=True, repr=False, eq=False)
class PerceptronOptions(VisitOptions, family="perceptron", title="Perceptron"):
    """The options of the perceptron."""

    update: Literal["single", "batch"] = option(
        "single", '"single" corrects each mistake as it is made; "batch", all mistakes of a pass at once'
    )
    start: Any = option(None, START)
    keep: Literal["last", "best", "average", "vote"] = option(
        "last", 'weights: "last"; "best", with fewest training mistakes (pocket); "average" over visits; "vote" of all'
    )
    on_overlap: Literal["run", "stop"] = option(
        "run",
        '"run" to a limit, or "stop" once it is proved that no weights are right on all rows, checked after ten passes'
        " and 2,000 visits or at a limit; a partial fit does not stop",
    )


@dataclass(kw_only=True, repr=False, eq=False)
class LMSOptions(InterceptOptions, ScalingOptions, family="lms", title="Least mean squares", weighted=True):
    """The options of least mean squares."""

    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")

    update: Literal["batch", "stochastic"] = option("batch", 'by all rows ("batch"), or one at a time ("stochastic")')
    rate: float | None = option(
        None,
        "None for half the largest rate that converges: 1/λmax (batch), λ the eigenvalues of XᵗX/n, or 1/R²"
        " (stochastic), R the largest ‖x‖. Texts that sum over the rows use this rate divided by n",
        above=0.0,
    )
    schedule: Literal["constant", "inverse"] = option(
        "constant", 'stochastic rate: "constant", or "inverse", rate/(1 + rate·λmin·k) after k visits, which converges'
    )
    order: Order = option("cyclic", VISIT_ORDER)
    start: Any = option(None, START)
    keep: Literal["last", "average"] = option("last", STOCHASTIC_KEEP)
    tol: float = option(
        1e-8,
        "excess over the least squares objective to reach, relative to the objective, or to 1e-8 of that of the best"
        " constant if this is larger",
        least=0.0,
    )
    max_passes: int = option(10_000, "largest number of passes over the rows")
    random_state: Any = option(None, "seed of the order and of a random start", flag=None)

    def check(self) -> None:
        if self.update == "batch" and (self.schedule, self.order, self.keep) != ("constant", "cyclic", "last"):
            raise OptionError("schedule, order and keep are for update='stochastic', not for batches of all rows")


@dataclass(kw_only=True, repr=False, eq=False)
class LMSClassifierOptions(LMSOptions, ClassOptions, family="lms", title=LMSOptions.title):
    """The options of least mean squares on classes."""


@dataclass(kw_only=True, repr=False, eq=False)
class GenerativeOptions(ClassOptions, family="generative", title="Gaussian generative classifier", weighted=True):
    """The options of the Gaussian generative classifier."""

    fit_intercept: ClassVar[bool] = True

    priors: Any = option(None, "probabilities of the `classes_`; None for their shares of the rows", flag=None)


@dataclass(kw_only=True, repr=False, eq=False)
class HalfspaceOptions(
    InterceptOptions, ClassOptions, family="halfspace", title="Separating halfspace", module="margin"
):
    """The options of a separating halfspace by linear programming."""

    tol: float = option(1e-10, "relative gap to reach between the margin and its upper bound", least=0.0)
    max_passes: int = option(1000, "largest number of passes over the rows")
    on_overlap: Literal["raise", "soft"] = option(
        "raise", '"raise", or "soft": fit LinearSVM(loss="squared_hinge") to a class that is not separable, and warn'
    )


@dataclass(kw_only=True, repr=False, eq=False)
class MaxMarginOptions(HalfspaceOptions, family="max_margin", title="Maximum margin"):
    """The options of the halfspace of widest margin."""


@dataclass(kw_only=True, repr=False, eq=False)
class ZeroOneOptions(InterceptOptions, ClassOptions, family="zero_one", title="Fewest mistakes", module="margin"):
    """The options of the halfspace with the fewest mistakes."""

    time_limit: float = option(60.0, "longest search for each class, in seconds", above=0.0)
    max_steps: int = option(1_000_000, "largest number of linear programs for each class: a reproducible limit")
    watch: Any = option(None, "called with each step's `lower`, `upper`, `subsystems` and `seconds`", flag=None)


@dataclass(kw_only=True, repr=False, eq=False)
class KernelPerceptronOptions(KernelOptions, VisitOptions, family="kernel_perceptron", title="Kernel perceptron"):
    """The options of the kernel perceptron."""

    keep: Literal["last", "best", "average"] = option(
        "last", '"last" coefficients; "best", with the fewest training mistakes; "average" over all visits'
    )


@dataclass(kw_only=True, repr=False, eq=False)
class KernelSVMOptions(
    KernelOptions,
    ClassWeightOptions,
    TraceOptions,
    family="kernel_svm",
    title="Kernel support vector machine",
    weighted=True,
):
    """The options of the kernel support vector machine."""

    fit_intercept: ClassVar[bool] = True

    strength: float = option(1e-3, "strength of the penalty; C of scikit-learn is 1 / (n · strength)", above=0.0)
    hard_margin: bool = option(False, "whether to allow no mistakes; strength is then not used")
    multiclass: Literal["one_vs_one", "one_vs_rest"] = option(
        "one_vs_one", 'a fit for each pair of classes, or for each class against the rest ("one_vs_rest")'
    )
    tol: float = option(1e-3, "relative duality gap to reach, or that of the bounds on a hard margin", above=0.0)
    max_steps: int = option(2_000, "largest number of blocks of rows to solve")


# Defaults of tables that differ from those of arrays: their columns have units, and a fit always ends in a predictor.
TABLE_DEFAULTS: dict[str, Any] = {"scaling": "spread", "strength": "auto"}


def table_options(family: str, given: Mapping[str, Any], spelled: Callable[[str], str] = str) -> Options:
    """Return the checked options of a family for a table: the given ones and the defaults of tables.

    An option that the family does not have raises an OptionError that names the families that do; `spelled` returns
    the name of an option as the user writes it.
    """
    kind = FAMILIES[require_choice("model", family, FAMILIES)]
    known = {each.name for each in fields(kind)}
    for name in given:
        if name not in known:
            raise OptionError(foreign_option(spelled(name), name, family))
    defaults = {each.name: table_default(kind, each) for each in fields(kind)}
    options = kind(**{**defaults, **given}).checked()
    if "l1_ratio" in given and getattr(options, "strength", None) in (0.0, "auto"):
        remedy = f"{spelled('strength')} cv or a number above 0"
        raise OptionError(f"{spelled('l1_ratio')} is about a penalty; ask for one with {remedy}")
    return options


def table_default(kind: type[Options], each: Field[Any]) -> Any:
    """Return the default of an option for tables; kernel machines keep their own strength."""
    if each.name not in TABLE_DEFAULTS or (each.name == "strength" and not issubclass(kind, PenalisedOptions)):
        return each.default
    return TABLE_DEFAULTS[each.name]


def foreign_option(spelled: str, name: str, family: str) -> str:
    """Return a message that an option is not one of a family, with the families that have it."""
    owners = families_with(name)
    return f"{spelled} is an option of {owners}, not of {family}" if owners else f"{spelled} is no option of {family}"


def families_with(name: str) -> str:
    """Return the families that have an option, as a list in words; empty if none has."""
    return _listed([family for family, kind in FAMILIES.items() if name in {each.name for each in fields(kind)}])


def require_weighted(options: Options) -> None:
    """Raise an OptionError for a family whose fit takes no sample weights, with the families that do."""
    if not options.weighted:
        owners = _listed([owner for owner, kind in FAMILIES.items() if kind.weighted])
        raise OptionError(f"weights are for {owners}, not for {options.family}; leave them out")


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
