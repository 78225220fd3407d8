"""Laws over all estimators: scikit-learn's own checks, in every mode of each."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx

ESTIMATORS = [
    sx.Perceptron(),
    sx.Perceptron(update="batch", keep="best", max_passes=500),
    sx.Perceptron(order="shuffled", keep="average", tie="negative", random_state=0),
    sx.Perceptron(order="random", keep="vote", tie="mistake", max_updates=2000, random_state=0),
    sx.Perceptron(fit_intercept=False, margin=0.5, schedule="inverse", tie="correct", max_updates=2000),
]


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)  # raises AssertionError where the estimator breaks scikit-learn's contract
