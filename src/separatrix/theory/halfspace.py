"""Halfspaces h(x) = sgn(w·x + b), Cover's theorem, the VC dimension, and sample sizes.

    distance of x to the hyperplane = |w·x + b| / ‖w‖        augmented [1, x]        reflected y·x

Cover's theorem: of the 2^N labellings of N points in general position, d weights (bias included) can separate

    C(N, d) = 2 Σ_{k < d} binomial(N − 1, k)

so a random labelling is separable with probability C(N, d) / 2^N: 1 up to N = d, exactly ½ at N = 2d, and near 0 soon
beyond. The capacity of d weights is therefore 2d points, and a map into more dimensions makes separability more likely.
General position: no d of the points (with a 1 for the bias) are linearly dependent. Cost: d additions of integers.

The VC dimension v is the largest number of points that can be labelled in all ways: d for halfspaces through the origin
of R^d, d + 1 for all halfspaces. With at most Π(n) = Σ_{i ≤ v} C(n, i) labellings of n points (Sauer's lemma), m rows
suffice for the weights with the fewest mistakes on them to be, with probability 1 − δ,

    any data        within ε of the best:     4 Π(2m) exp(−ε² m / 32) ≤ δ          (Vapnik and Chervonenkis 1971)
    separable data  wrong on at most ε:       2 Π(2m) 2^(−ε m / 2) ≤ δ             (Blumer et al. 1989)

which are of the order of (v + log 1/δ)/ε² and (v log 1/ε + log 1/δ)/ε. They hold for every distribution, so most need
fewer. Cost: a bisection.

Reference: Cover, Geometrical and statistical properties of systems of linear inequalities (1965).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, require_choice, require_count, require_number
from separatrix.fit.labels import binary_signs
from separatrix.loops.online import Tie
from separatrix.perceptron_rule import predicted_signs
from separatrix.solvers.halfspace_lp import LinearProgram, separation_program


@dataclass(frozen=True)
class Halfspace:
    """The halfspace of weights w and bias b (0: homogeneous); `tie` is the side of a score of exactly 0.

    >>> h = Halfspace([3, 4], -5)
    >>> h.distance_of_origin
    1.0
    >>> h.predict([[3, 4], [0, 0], [1, 0.5]]).tolist()
    [1, -1, 1]
    """

    w: Any
    b: float = 0.0
    tie: Tie = "positive"

    def __post_init__(self) -> None:
        require_choice("tie", self.tie, ("positive", "negative"))
        weights = np.asarray(self.w, dtype=np.float64)
        finite = np.isfinite(weights).all() and np.isfinite(self.b)
        if weights.ndim != 1 or not finite or not np.any(weights):
            raise OptionError(f"w={self.w!r}, b={self.b!r} define no hyperplane; give finite numbers, w not all 0")
        object.__setattr__(self, "w", weights)

    def score(self, X: Any) -> Floats:
        """Return w·x + b of each row, (n,)."""
        points = np.asarray(X, dtype=np.float64)
        if points.shape[-1:] != self.w.shape:
            raise DataError(
                f"the points have {points.shape[-1] if points.ndim else 0} coordinates, but w has {self.w.size}"
            )
        return np.asarray(points @ self.w + self.b)

    def predict(self, X: Any) -> Ints:
        """Return +1 or −1 for each row."""
        return predicted_signs(self.score(X), self.tie).astype(np.int64)

    def signed_distance(self, X: Any) -> Floats:
        """Return the distance of each row to the hyperplane, negative on the negative side."""
        return self.score(X) / float(np.linalg.norm(self.w))

    def distance(self, X: Any) -> Floats:
        """Return the distance of each row to the hyperplane."""
        return np.abs(self.signed_distance(X))

    @property
    def distance_of_origin(self) -> float:
        """The distance of the origin to the hyperplane."""
        return float(abs(self.b) / np.linalg.norm(self.w))


def augment(X: Any) -> Floats:
    """Return [1, x] for each row, so that w·x + b becomes (b, w)·[1, x]."""
    points = np.atleast_2d(np.asarray(X, dtype=np.float64))
    return np.column_stack([np.ones(len(points)), points])


def reflect(X: Any, y: Any) -> Floats:
    """Return y·x for each row: w separates the rows if w·(y x) > 0 for all of them."""
    labels = np.asarray(y, dtype=np.float64)
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise DataError(f"y has labels {np.unique(labels).tolist()}; reflection needs -1 and 1")
    return np.asarray(labels[:, np.newaxis] * np.asarray(X, dtype=np.float64))


def halfspace_program(X: Any, y: Any, fit_intercept: bool = True) -> LinearProgram:
    """Return the linear program of the halfspaces that classify every row correctly: find w with yᵢ w·xᵢ ≥ 1.

    Its fields are the arguments of `scipy.optimize.linprog`, which takes constraints as A_ub w ≤ b_ub: A_ub has the
    rows −yᵢ xᵢ, b_ub is −1, c is 0 as every such w will do, and `bounds` leave w free. The program is feasible if and
    only if the classes are separable; `sx.HalfspaceLP` solves it, and proves it when there is no solution.

    Parameters
    ----------
    X : array or sparse matrix (n, p); the rows of the program are dense
    y : labels of two classes (n,); the second in sorted order is +1
    fit_intercept : whether each row starts with a 1, so that w starts with the intercept

    Examples
    --------
    >>> import separatrix as sx
    >>> from scipy.optimize import linprog
    >>> program = sx.halfspace_program([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> program.A_ub.tolist(), program.b_ub.tolist()
    ([[1.0, 0.0], [1.0, 1.0], [-1.0, -3.0]], [-1.0, -1.0, -1.0])
    >>> linprog(**program._asdict()).x.round(6).tolist()
    [-2.0, 1.0]

    Reference: Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014), section 9.1.1.
    """
    design = make_design(X, intercept=fit_intercept)
    signs, _ = binary_signs(y, design.shape[0])
    return separation_program(design.take(np.arange(design.shape[0])), signs)


def separable_dichotomies(N: int, d: int) -> int:
    """Return how many of the 2^N labellings of N points in general position d weights, bias included, can separate.

    >>> separable_dichotomies(4, 3)
    14
    """
    points, weights = require_count("N", N), require_count("d", d)
    return 2 * sum(math.comb(points - 1, k) for k in range(min(weights, points)))


def separability_probability(N: int, d: int) -> float:
    """Return the probability that a random labelling of N points in general position is separable by d weights.

    >>> separability_probability(4, 3), separability_probability(2000, 1000)
    (0.875, 0.5)
    """
    return float(Fraction(separable_dichotomies(N, d), 2 ** require_count("N", N)))


def capacity(d: int) -> int:
    """Return 2d, the number of points at which half of all labellings are separable by d weights."""
    return 2 * require_count("d", d)


def vc_dimension(d: int, homogeneous: bool = False) -> int:
    """Return the VC dimension of halfspaces in R^d, or of those through the origin if `homogeneous`.

    >>> vc_dimension(2), vc_dimension(2, homogeneous=True)
    (3, 2)
    """
    columns = require_count("d", d)
    return columns if homogeneous else columns + 1


def sample_size(d: int, epsilon: float, delta: float, *, separable: bool = False) -> int:
    """Return how many rows suffice for a class of VC dimension d, accuracy epsilon and confidence 1 − delta.

    >>> sample_size(3, 0.1, 0.05), sample_size(3, 0.1, 0.05, separable=True)
    (127824, 680)
    """
    dimension = require_count("d", d)
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if require_number(name, value, above=0.0) >= 1.0:
            raise OptionError(f"{name}={value!r} is out of range; give a number between 0 and 1")
    rate, factor = (0.5 * epsilon * math.log(2.0), 2.0) if separable else (epsilon**2 / 32.0, 4.0)

    def enough(m: int) -> bool:
        return math.log(factor) + _log_growth(2 * m, dimension) - rate * m <= math.log(delta)

    upper = math.ceil(2.0 * dimension / rate) + 1  # beyond it the bound decreases with every row
    while not enough(upper):
        upper *= 2
    lower = upper // 2
    while enough(lower) and lower > 1:
        lower //= 2
    while upper - lower > 1:
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if enough(middle) else (middle, upper)
    return upper


def _log_growth(n: int, dimension: int) -> float:
    """Return log Σ_{i ≤ dimension} C(n, i)."""
    if n <= dimension:
        return n * math.log(2.0)
    terms = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(dimension + 1)]
    largest = max(terms)
    return largest + math.log(sum(math.exp(term - largest) for term in terms))
