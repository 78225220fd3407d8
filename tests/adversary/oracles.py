"""Independent judges of what certificates print: none of this code imports the package.

Each function takes float64 arrays as exact rationals. Coefficients have the intercept first. See the modules for the
definitions: `oracle_separability`, `oracle_halfspaces`, `oracle_objectives`, `oracle_models` and `oracle_kernels`.
"""

from oracle_halfspaces import (
    Fewest,
    Margin,
    PerceptronRule,
    Replay,
    fewest_mistakes,
    is_mistake,
    mistaken_rows,
    replay_kernel_perceptron,
    replay_perceptron,
    squared_margin_of,
    squared_radius,
    widest_margin,
)
from oracle_kernels import (
    KernelMargin,
    kernel_margin,
    kernel_matrix,
    kernel_norm,
    kernel_scores,
    kernel_svm,
    kernel_svm_value,
)
from oracle_models import (
    FirthPoint,
    Generative,
    LeastSquares,
    firth,
    firth_point,
    generative,
    least_squares,
    residual_sum,
)
from oracle_newton import mp
from oracle_objectives import Minimum, exact, minimum, real, value_at
from oracle_separability import Divergence, divergence, rays_left, separability_verdict

__all__ = [
    "Divergence",
    "Fewest",
    "FirthPoint",
    "Generative",
    "KernelMargin",
    "LeastSquares",
    "Margin",
    "Minimum",
    "PerceptronRule",
    "Replay",
    "divergence",
    "exact",
    "fewest_mistakes",
    "firth",
    "firth_point",
    "generative",
    "is_mistake",
    "kernel_margin",
    "kernel_matrix",
    "kernel_norm",
    "kernel_scores",
    "kernel_svm",
    "kernel_svm_value",
    "least_squares",
    "minimum",
    "mistaken_rows",
    "mp",
    "rays_left",
    "real",
    "replay_kernel_perceptron",
    "replay_perceptron",
    "residual_sum",
    "separability_verdict",
    "squared_margin_of",
    "squared_radius",
    "value_at",
    "widest_margin",
]
