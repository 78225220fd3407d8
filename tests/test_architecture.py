"""The shape of the package: layers, one door a library, no private name across files, a light import.

Every check is also shown to fail: on a copy of the sources with the fault written in, or on a made-up file.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import separatrix as sx

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sx.__file__).parent
LINT = "from importlinter.cli import lint_imports_command as lint; lint(['--no-logo', '--no-cache'])"

# Each library and the only place of the package that may import it.
DOORS = {
    "dask": "design/dask/",
    "distributed": "design/dask/",
    "duckdb": "tables/",
    "formulaic": "estimators/formula.py",
    "jinja2": "rendering/html.py",
    "joblib": "design/journaled.py",
    "matplotlib": "reports/",
    "narwhals": "tables/",
    "numba": "jit.py",
    "onnx": "model/export/onnx.py",
    "rich": "cli/",
    "sklearn": "estimators/",
    "typer": "cli/",
}


def python(code: str, *options: str, folder: Path = ROOT, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter in a folder, with environment settings of its own."""
    command, environment = [sys.executable, *options, "-c", code], {**os.environ, **settings}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def library_of(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


# Layers


def test_imports_only_ever_point_down() -> None:
    linted = python(LINT)
    assert "Contracts: 1 kept, 0 broken." in linted.stdout, linted.stdout + linted.stderr
    assert linted.returncode == 0


@pytest.mark.parametrize(
    ("file", "line", "complaints"),
    [
        ("stray.py", "", ["separatrix.stray", "marked as 'exhaustive'"]),
        ("losses/base.py", "import separatrix.penalties", ["separatrix.losses.base -> separatrix.penalties"]),
        ("numerics.py", "from separatrix.fit.run import run", ["separatrix.numerics -> separatrix.fit"]),
        ("design/build.py", "def late():\n    import separatrix.cli.main", ["design.build -> separatrix.cli.main"]),
    ],
    ids=["a file in no layer", "a sideways import", "an upward import", "a late upward import"],
)
def test_a_broken_layer_would_be_caught(file: str, line: str, complaints: list[str], tmp_path: Path) -> None:
    copy = tmp_path / "separatrix"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / file).open("a", encoding="utf-8") as source:
        source.write(f"\n\n{line}\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    linted = python(LINT, folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert "Contracts: 0 kept, 1 broken." in linted.stdout, linted.stdout + linted.stderr
    assert linted.returncode == 1
    unwrapped = " ".join(linted.stdout.split())
    for complaint in complaints:
        assert complaint in unwrapped


# Doors


def sources(package: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield each file of a package, as its path inside it, parsed."""
    for file in sorted(package.rglob("*.py")):
        yield file.relative_to(package).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """Yield every absolute module that a file imports, anywhere in it and also by `import_module("…")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"import_module", "__import__"}:
                yield str(node.args[0].value)


def wrong_doors(package: Path) -> list[str]:
    """Return a complaint for each import of a library outside its door."""
    return [
        f"{file} imports {module}: only {DOORS[library]} may"
        for file, tree in sources(package)
        for module in imported_modules(tree)
        if (library := library_of(module)) in DOORS and not file.startswith(DOORS[library])
    ]


def test_every_library_has_one_door() -> None:
    assert wrong_doors(PACKAGE) == []
    used = {library_of(module) for _, tree in sources(PACKAGE) for module in imported_modules(tree)}
    assert used & set(DOORS) >= {"numba", "sklearn", "duckdb", "typer", "rich"}


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import numba", "numba"),
        ("import numpy as np, sklearn.base as base", "sklearn.base"),
        ("def late():\n    from duckdb.typing import BIGINT", "duckdb.typing"),
        ("if TYPE_CHECKING:\n    from matplotlib import pyplot", "matplotlib"),
        ("importlib.import_module('dask.array')", "dask.array"),
        ("__import__('typer')", "typer"),
    ],
)
def test_a_second_door_would_be_caught(line: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "sly.py").write_text(f"{line}\n", encoding="utf-8")
    assert wrong_doors(tmp_path) == [f"solvers/sly.py imports {module}: only {DOORS[library_of(module)]} may"]


# Private names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def package_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the dotted path of each thing imported from the package, and the name it is bound to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (alias.name, alias.asname or alias.name)
                for alias in node.names
                if library_of(alias.name) == "separatrix"
            )
        elif isinstance(node, ast.ImportFrom) and (node.level or library_of(str(node.module)) == "separatrix"):
            yield from ((f"{node.module or ''}.{alias.name}", alias.asname or alias.name) for alias in node.names)


def borrowed_names(package: Path) -> list[str]:
    """Return a complaint for each private name that one file takes from another."""
    complaints = []
    for file, tree in sources(package):
        imports = list(package_imports(tree))
        complaints += [f"{file} imports {path}" for path, _ in imports if any(map(is_private, path.split(".")))]
        bound = {name for _, name in imports}
        complaints += [
            f"{file} reads {ast.unparse(node)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and is_private(node.attr) and ast.unparse(node.value) in bound
        ]
    return complaints


def test_no_private_name_leaves_its_file() -> None:
    assert borrowed_names(PACKAGE) == []
    assert len({path for _, tree in sources(PACKAGE) for path, _ in package_imports(tree)}) > 100


def test_a_borrowed_private_name_would_be_caught(tmp_path: Path) -> None:
    lines = [
        "from separatrix.jit import _compile, loop",
        "from .base import _expand",
        "from separatrix.loops import online",
        "import separatrix.design.build",
        "online._secret()",
        "separatrix.design.build._numbers(1)",
        "self._own, other._replace(x=1), online.__name__",
    ]
    (tmp_path / "thief.py").write_text("\n".join(lines), encoding="utf-8")
    assert borrowed_names(tmp_path) == [
        "thief.py imports separatrix.jit._compile",
        "thief.py imports base._expand",
        "thief.py reads online._secret",
        "thief.py reads separatrix.design.build._numbers",
    ]


# Names


def classes_by_name(package: Path) -> dict[str, list[str]]:
    """Return the files that define each public class name."""
    found: dict[str, list[str]] = {}
    for file, tree in sources(package):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file)
    return found


def test_no_two_classes_share_a_name() -> None:
    assert {name: files for name, files in classes_by_name(PACKAGE).items() if len(files) > 1} == {}


def test_two_classes_of_one_name_would_be_caught(tmp_path: Path) -> None:
    for file in ("a.py", "b.py"):
        (tmp_path / file).write_text("class Rule:\n    pass\n", encoding="utf-8")
    assert classes_by_name(tmp_path) == {"Rule": ["a.py", "b.py"]}


def test_unit_tests_mirror_the_source_tree() -> None:
    units = ROOT / "tests" / "unit"
    folders = {file.parent.relative_to(units) for file in units.rglob("test_*.py")}
    assert len(folders) > 10
    assert [str(folder) for folder in sorted(folders) if not (PACKAGE / folder).is_dir()] == []


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [(sx.losses, "Perceptron", "PerceptronLoss"), (sx.kernels, "Polynomial", "PolynomialKernel")],
)
def test_a_renamed_public_class_warns_under_its_old_name(module: ModuleType, old: str, new: str) -> None:
    with pytest.warns(FutureWarning, match=f"{old} is now called {new}; the old name will be removed"):
        assert getattr(module, old) is getattr(module, new)


# The front door


def test_importing_the_package_loads_no_heavy_library() -> None:
    loaded = python("import sys, separatrix; print(*sorted({name.split('.')[0] for name in sys.modules}))")
    assert loaded.returncode == 0, loaded.stderr
    modules = set(loaded.stdout.split())
    assert "separatrix" in modules
    assert modules & set(DOORS) == set()


def test_the_import_times_mention_no_heavy_library() -> None:
    timed = python("import separatrix", "-X", "importtime")
    modules = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in timed.stderr.splitlines()}
    assert timed.returncode == 0
    assert "separatrix" in modules
    assert modules & {"sklearn", "numba", "llvmlite"} == set()


def test_public_names_load_only_what_they_need() -> None:
    code = "import sys, separatrix as sx; sx.{}; print(*({{'sklearn', 'numba', 'duckdb'}} & set(sys.modules)))"
    loaded = {name: set(python(code.format(name)).stdout.split()) for name in ("mistake_bound", "Perceptron")}
    assert loaded["mistake_bound"] == set()
    assert loaded["Perceptron"] == {"sklearn"}


def test_every_public_name_resolves() -> None:
    assert len(set(sx.__all__)) == len(sx.__all__) >= 14
    for name in sx.__all__:
        assert getattr(sx, name) is not None, name
    assert dir(sx) == sorted(sx.__all__)


def test_an_unknown_public_name_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="separatrix has no public name 'Perceptrn'"):
        sx.Perceptrn  # noqa: B018
