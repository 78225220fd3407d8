"""What the tests of the lab need of node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def run_node(*arguments: str) -> subprocess.CompletedProcess[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the lab's own modules are not run")
    return subprocess.run([node, *arguments], capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture
def node() -> Any:
    """Return what runs node."""
    return run_node


@pytest.fixture
def exported() -> Any:
    """Return what exports runs of the page's own modules, by mode."""

    def export(mode: str) -> list[dict[str, Any]]:
        done = run_node(str(HERE / "export.js"), mode)
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))

    return export
