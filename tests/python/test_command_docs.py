# SPDX-License-Identifier: Apache-2.0
"""The documentation of commands for agents has the same bytes as that of an MLGym checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "build/tests/unit/show_command_docs"
PARSERS = ["ParseCommandBash", "ParseCommandDetailed"]

# Runs the parser of MLGym's checkout, without the packages that other parts of MLGym need.
THEIRS = """
import sys, types
class Serializable:
    @classmethod
    def from_dict(cls, values):
        return cls(**values)
for name in ("simple_parsing", "simple_parsing.helpers", "simple_parsing.helpers.serialization",
             "simple_parsing.helpers.serialization.serializable"):
    sys.modules[name] = types.ModuleType(name)
sys.modules[name].FrozenSerializable = Serializable
root, parser, *words = sys.argv[1:]
for name in ("mlgym", "mlgym.tools"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [root + "/" + name.replace(".", "/")]
from mlgym.tools.parsing import ParseCommand
cut = words.index("--")
fields = dict(word.split("=", 1) for word in words[:cut])
parser = ParseCommand.get(parser)
commands = [c for f in words[cut + 1:] for c in parser.parse_command_file(f)]
shown = [c for c in commands if not c.name.startswith("_")]
sys.stdout.write(parser.generate_command_docs(shown, **fields))
"""


@pytest.fixture(scope="module")
def checkout() -> Path:
    path = os.environ.get("FUMEHOOD_MLGYM")
    if not path:
        pytest.skip("FUMEHOOD_MLGYM names no checkout of MLGym")
    return Path(path)


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("style", range(2))
def test_same_as_the_original(checkout: Path, style: int) -> None:
    configs = sorted((checkout / "configs/agents").glob("*.yaml"))
    assert configs
    for config in configs:
        tools = yaml.safe_load(config.read_text())["tools"]
        words = [f"{k}={v}" for k, v in tools["env_variables"].items()]
        words += ["--", *(str(checkout / f) for f in tools["command_files"])]
        theirs = said(sys.executable, "-c", THEIRS, str(checkout), PARSERS[style], *words)
        assert len(theirs) > 1000
        assert said(str(PROGRAM), str(style), *words) == theirs


@pytest.mark.parametrize("style", range(2))
def test_each_tool_of_the_original(checkout: Path, style: int) -> None:
    files = [f for f in sorted((checkout / "tools").iterdir()) if f.suffix in (".sh", ".py")]
    # Skip Python files without a `#!`, because both parsers refuse them.
    files = [f for f in files if f.suffix == ".sh" or f.read_text().lstrip().startswith("#!")]
    for file in files:
        words = ["WINDOW=100", "--", str(file)]
        theirs = said(sys.executable, "-c", THEIRS, str(checkout), PARSERS[style], *words)
        assert said(str(PROGRAM), str(style), *words) == theirs, file.name
