"""The command reference in the documentation is what the code says."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_page_is_what_the_script_makes_of_the_code():
    made = runpy.run_path(str(ROOT / "scripts" / "command_reference.py"))["render"]()
    kept = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert kept == made, "run scripts/command_reference.py > docs/cli.md"
    assert kept.count("\n## ") == 10
    assert "| `--json` | Print one JSON object and nothing else. |" in kept
