"""Tests run on all cores; those that share a cluster or a browser stay together on one."""

from pathlib import Path

import pytest

SHARED = {"browser": "browser", "dask": "cluster"}  # by the folder, or a word of the file's name


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        words = {Path(item.path).parent.name, *Path(item.path).stem.split("_")}
        for word, group in SHARED.items():
            if word in words:
                item.add_marker(pytest.mark.xdist_group(group))
