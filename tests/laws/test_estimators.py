"""Laws over all estimators: scikit-learn's own checks, in every mode of each."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import separatrix as sx

ESTIMATORS = [
    sx.Perceptron(),
    sx.Perceptron(update="batch", keep="best", max_passes=500),
    sx.Perceptron(keep="best", on_overlap="stop"),
    sx.Perceptron(order="shuffled", keep="average", tie="negative", random_state=0),
    sx.Perceptron(order="random", keep="vote", tie="mistake", max_updates=2000, random_state=0),
    sx.Perceptron(fit_intercept=False, margin=0.5, schedule="inverse", tie="correct", max_updates=2000),
    sx.LogisticRegression(),
    sx.LogisticRegression(strength=0.1, solver="lbfgs"),
    sx.LogisticRegression(solver="gradient", stop="change", tol=1e-3),
    sx.LogisticRegression(solver="stochastic", multiclass="one_vs_rest", max_passes=200, random_state=0),
    sx.LogisticRegression(strength=1e-3, multiclass="one_vs_rest", class_weight="balanced"),
    sx.LinearRegression(),
    sx.LinearRegression(strength=0.1),
    sx.LinearRegression(strength=0.1, l1_ratio=0.5),
    sx.LinearRegression(strength="cv", l1_ratio=1.0, strengths=10),
    sx.LogisticRegression(strength="cv", cv_choice="best", strengths=10),
    sx.LinearSVM(),
    sx.LinearSVM(loss="squared_hinge", class_weight="balanced"),
    sx.LogisticRegression(strength=0.01, l1_ratio=1.0),
    sx.LMSClassifier(max_passes=300),
    sx.LMSClassifier(
        update="stochastic", schedule="inverse", order="shuffled", keep="average", max_passes=100, random_state=0
    ),
    sx.LMSClassifier(fit_intercept=False, start="random", random_state=0),
    sx.LMSRegressor(max_passes=300),
    sx.LMSRegressor(update="stochastic", schedule="inverse", order="random", max_passes=100, random_state=0),
    sx.GaussianGenerativeClassifier(),
    sx.MaxMarginClassifier(on_overlap="soft"),
    sx.MaxMarginClassifier(on_overlap="soft", fit_intercept=False),
    sx.HalfspaceLP(on_overlap="soft"),
    sx.HalfspaceLP(on_overlap="soft", fit_intercept=False),
    sx.ZeroOneClassifier(max_steps=5),
    sx.ZeroOneClassifier(max_steps=5, fit_intercept=False),
    sx.OneVsRest(sx.LogisticRegression(strength=0.01)),
    sx.OneVsRest(sx.Perceptron(max_updates=1000)),
    sx.KernelPerceptron(max_updates=1000),
    sx.KernelPerceptron(
        kernel="polynomial", degree=2, order="shuffled", keep="average", max_updates=100, random_state=0
    ),
    sx.KernelPerceptron(keep="best", max_updates=100),
    sx.KernelSVM(),
    sx.KernelSVM(gamma=0.1, multiclass="one_vs_rest", class_weight="balanced", tol=1e-14),
    sx.OneVsRest(sx.KernelSVM()),
    sx.OneVsRest(sx.KernelPerceptron(max_updates=100)),
]
FIRST = list({type(each): each for each in reversed(ESTIMATORS)}.values())  # one of each class
OTHERS = [each for each in ESTIMATORS if each not in FIRST]

WEIGHTS_ARE_REPETITIONS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
TAKE_WEIGHTS = (
    "check_all_zero_sample_weights_error",
    "check_classifiers_one_label_sample_weights",
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    *WEIGHTS_ARE_REPETITIONS,
)
DECIDED_BY_A_COLUMN = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")


def expected_failures(estimator):
    """Return the checks that an estimator cannot meet by its nature, each with the reason."""
    if getattr(estimator, "strength", None) == "cv":
        return dict.fromkeys(WEIGHTS_ARE_REPETITIONS, "repeated rows fall into several folds")
    if "stochastic" in (getattr(estimator, "update", ""), getattr(estimator, "solver", "")):
        slow = {"check_class_weight_classifiers": "at a safe rate 200 passes are few for weights of 10⁷ to 1"}
        steps = dict.fromkeys(WEIGHTS_ARE_REPETITIONS, "one step of twice the length is not two steps")
        return {**steps, **(slow if hasattr(estimator, "class_weight") else {})}
    if isinstance(estimator, sx.OneVsRest):
        weighted = has_fit_parameter(estimator.estimator, "sample_weight")
        unmet = {} if weighted else dict.fromkeys(TAKE_WEIGHTS, "the classifier takes no weights")
        return unmet | expected_failures(estimator.estimator)
    if isinstance(estimator, sx.KernelSVM) and estimator.gamma == "scale":
        return dict.fromkeys(WEIGHTS_ARE_REPETITIONS, "the scale of repeated rows is another one")
    if isinstance(estimator, sx.GaussianGenerativeClassifier):
        return dict.fromkeys(DECIDED_BY_A_COLUMN, "a column without spread inside the classes is refused")
    return {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@parametrize_with_checks(FIRST, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # raises AssertionError where the estimator breaks scikit-learn's contract


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@parametrize_with_checks(OTHERS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_with_other_options(estimator, check):
    check(estimator)  # raises AssertionError where the estimator breaks scikit-learn's contract


def test_every_estimator_is_checked():
    checked = {type(estimator) for estimator in ESTIMATORS}
    public = {getattr(sx, name) for name in sx.__all__}
    assert checked == {each for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)}
