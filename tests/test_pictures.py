"""The pictures of the documentation: small, all in use, and drawn by the script from the pages themselves."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen

ROOT = Path(__file__).parents[1]
IMAGES = sorted((ROOT / "docs" / "images").iterdir())


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_a_picture_is_small_and_in_use(image):
    assert 1_000 < image.stat().st_size < 100_000
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(f"images/{image.name})" in page.read_text(encoding="utf-8") for page in pages)


def test_the_script_saves_the_last_display_where_an_image_follows(tmp_path):
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "scripts" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    page = tmp_path / "page.md"
    block = ">>> import separatrix as sx\n>>> display = sx.plot.losses(names=['hinge'])\n"
    page.write_text(f"Words\n\n```python\n{block}```\n\n![a hinge](images/hinge.svg)\n", encoding="utf-8")
    pictures.draw(page)
    drawn = (tmp_path / "images" / "hinge.svg").read_text(encoding="utf-8")
    assert re.search(r"<svg .*>hinge</text>", drawn, re.DOTALL)
    pyplot.close("all")
