"""The lab's modules by node's own test runner, and by the checker of types where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "src" / "separatrix" / "lab" / "page"
FLAGS = (
    *("--allowJs", "--checkJs", "--strict", "--noEmit", "--skipLibCheck", "--target", "es2023"),
    *("--module", "es2022", "--moduleResolution", "bundler", "--lib", "es2023,dom,dom.iterable"),
)


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.js")))
def test_modules_pass_their_tests(node: Any, name: str) -> None:
    done = node("--test", str(HERE / name))
    assert done.returncode == 0, done.stdout[-4000:]


def test_modules_have_the_types_that_they_say() -> None:
    checker = os.environ.get("TSC") or shutil.which("tsc")
    if checker is None:
        pytest.skip("tsc is not installed (npm install typescript; TSC names it): types are not checked")
    files = [str(path) for path in PAGE.rglob("*.js")]
    done = subprocess.run([checker, *FLAGS, *files], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[:4000]
