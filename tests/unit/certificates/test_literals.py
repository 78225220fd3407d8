"""No tolerances in certificates: float literals stand in `enclosures` only, and no power but of whole exponents.

Allowed elsewhere are small whole numbers and ½, which are exact, so also powers 2.0**k; the two definitions; and limits
on work.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import separatrix.certificates

FOLDER = Path(separatrix.certificates.__file__).parent
SECOND = ("OPTIMAL_GAP", "NEGLIGIBLE", "CLOSE", "NO_MARGIN", "SHOWN_DIGITS")  # what the second verifier shares
DEFINITIONS = {("base.py", "OPTIMAL_GAP"), ("generative.py", "CLOSE"), *(("standalone.py", name) for name in SECOND)}
LARGEST_WHOLE = 16.0
READERS = {"float", "np.float64", "Fraction", "Decimal"}
FILES = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "enclosures.py")


def faults(source: str, name: str) -> list[str]:
    """Return the lines of a file that have a float literal that is not allowed, or one in disguise."""
    tree = ast.parse(source)
    allowed = {id(node) for statement in tree.body if _is_named(statement, name) for node in ast.walk(statement)}
    nodes = [node for node in ast.walk(tree) if id(node) not in allowed]
    return [f"line {node.lineno}: {ast.unparse(node)}" for node in nodes if _is_literal(node) or _is_disguised(node)]


def _is_named(statement: ast.stmt, file: str) -> bool:
    """Whether a statement of a module assigns definitions or limits, and nothing else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    names = [ast.unparse(each) for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return all((file, name) in DEFINITIONS or name.startswith("MAX_") or name.endswith("_LIMIT") for name in names)


def _is_literal(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, float | complex):
        return False
    value = node.value
    return isinstance(value, complex) or not (value == 0.5 or (value.is_integer() and abs(value) <= LARGEST_WHOLE))


def _is_disguised(node: ast.AST) -> bool:
    """Whether a node is a number from text, a quotient of literals, or a negative power of 10."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in READERS:
        return any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.args)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Div):
        return _is_numeral(node.left) and _is_numeral(node.right)
    ten = isinstance(node.left, ast.Constant) and node.left.value == 10
    return isinstance(node.op, ast.Pow) and ten and ast.unparse(node.right).startswith("-")


def _is_numeral(node: ast.AST) -> bool:
    return not any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(node))


def untrusted_powers(source: str) -> list[str]:
    """Return the lines of a file with powers that floats may round: others than by whole numbers, or of 2."""
    nodes = [node for node in ast.walk(ast.parse(source)) if _is_power(node) and not _is_exact_power(node)]
    return [f"line {node.lineno}: {ast.unparse(node)}" for node in nodes]


def _is_power(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):  # pow with a modulus is of integers
        return ast.unparse(node.func) in {"pow", "math.pow", "np.power", "np.float_power"} and len(node.args) == 2
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow)


def _is_exact_power(node: ast.AST) -> bool:
    """Whether the exponent is written as an integer, or the base is a rational number or 2, the exponent a scalar."""
    if not isinstance(node, ast.BinOp):
        return False
    base, exponent = ast.unparse(node.left), ast.unparse(node.right)
    floats = [each for each in ast.walk(node.right) if isinstance(each, ast.Constant) and type(each.value) is not int]
    whole = not floats and "np." not in exponent and not isinstance(node.right, ast.Tuple | ast.List)
    return whole and (_is_numeral(node.right) or base in {"2", "2.0"} or base.startswith("Fraction("))


@pytest.mark.parametrize("name", FILES)
def test_float_literals_stand_in_enclosures(name: str) -> None:
    assert faults((FOLDER / name).read_text(encoding="utf-8"), name) == []


@pytest.mark.parametrize("name", FILES)
def test_pow_is_not_trusted(name: str) -> None:
    assert untrusted_powers((FOLDER / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "SLACK = 1e-9",
        "NEAR, MAX_ROWS = 1e-3, 10",
        "holds = gap <= 1e-6",
        "OPTIMAL_GAP = 1e-6",  # the definition stands in another file
        "inside = 1.0 + 3e-5",
        "def f(tolerance=1e-12): return tolerance",
        "SLACK = float('1e-9')",
        "SLACK = Fraction('1/1000')",
        "SLACK = 10**-9",
        "SLACK = 10.0 ** -9",
        "SLACK = 1 / 10**9",
        "SLACK = 0.3",
        "SLACK: float = 1e-9",
        "if gap < 1e-9: MAX_GAP = 1",
    ],
)
def test_a_made_up_tolerance_is_found(line: str) -> None:
    assert len(faults(f"import math\n\n{line}\n", "made_up.py")) >= 1


def test_exact_numbers_definitions_and_limits_are_allowed() -> None:
    source = """
MAX_WORK = 2e7
MAX_NODES, MAX_RANK = 50_000, 1e11
ROWS_LIMIT = 1e10
LARGE = 2.0**465
TEN = 10**300
x = 0.5 * a + 1.0 - 4.0 * b / 6.0 - 2.0 * c
"""
    assert faults(source, "made_up.py") == []
    assert faults("OPTIMAL_GAP = 1e-6", "base.py") == []
    assert faults("CLOSE = 1e-8", "generative.py") == []


@pytest.mark.parametrize(
    "line",
    ["x ** 0.5", "x ** y", "x **= y", "pow(x, y)", "math.pow(x, 2.0)", "np.power(x, 2)", "0.5 ** np.arange(9)",
     "x ** (3, 4, 5)", "2.0 ** np.log(x)", "10.0 ** digits"],
)  # fmt: skip
def test_a_made_up_power_is_found(line: str) -> None:
    assert len(untrusted_powers(line)) == 1


@pytest.mark.parametrize(
    "line", ["x ** 2", "x ** -1", "2.0 ** -k", "2**31 - 1", "Fraction(2) ** int(e)", "pow(a, -1, p)"]
)
def test_exact_powers_are_allowed(line: str) -> None:
    assert untrusted_powers(line) == []
