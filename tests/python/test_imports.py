# SPDX-License-Identifier: Apache-2.0
"""Which imports of a task's programs are looked for: src/grade/python/imports.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[2] / "src/grade/python/imports.py"


@pytest.fixture(scope="module")
def imports() -> ModuleType:
    spec = importlib.util.spec_from_file_location("imports", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("import json, no_a.b, no_b as c", ["no_a", "no_b"]),
        ("from no_a.b import c", ["no_a"]),
        ("from os import path; import os.path", []),
        ("try:\n  import no_a\nexcept ImportError:\n  pass", []),
        ("try:\n  import no_a\nexcept (KeyError, ModuleNotFoundError):\n  pass", []),
        ("try:\n  import no_a\nexcept:\n  pass", []),
        ("try:\n  import no_a\nexcept KeyError:\n  pass", ["no_a"]),
        ("if x:\n  import no_a", []),
        ("if __name__ == '__main__':\n  import no_a", ["no_a"]),
        ("with x:\n  import no_a", ["no_a"]),
        ("def f():\n  import no_a", []),
        ("import beside, package.inside, package", ["no_beside", "no_init", "no_inside"]),
        ("from package import inside", ["no_init", "no_inside"]),
        ("from package.inside import x", ["no_init", "no_inside"]),
        ("import strategy", []),
        ("import bare.thing", []),
        ("this is not Python", []),
    ],
)
def test_lacking(imports: ModuleType, tmp_path: Path, text: str, lacking: list[str]) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "bare").mkdir()
    for name, body in {
        "beside": "import no_beside",
        "strategy": "import no_strategy",
        "package/__init__": "import no_init",
        "package/inside": "from . import other\nfrom .other import x\nimport no_inside, beside2",
        "package/other": "import evaluate",
        "beside2": "import beside",
        "evaluate": text,
    }.items():
        (tmp_path / f"{name}.py").write_text(body)
    search = imports.Search({tmp_path / "strategy.py"})
    search.add(tmp_path / "evaluate.py", tmp_path)
    found = sorted(search.lacking)
    assert [n for n in found if n != "no_beside" or n in lacking] == sorted(lacking)
    assert "no_strategy" not in found
