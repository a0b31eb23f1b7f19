# SPDX-License-Identifier: Apache-2.0
"""Manual pages: one for each command. The tools that show pages find no fault."""

import json
import re
import shutil
import subprocess

import pytest

# Programs that check manual pages, with a message of each to ignore. Our pages have no date.
CHECKERS = [
    (["mandoc", "-Tlint", "-Wwarning"], r'missing date, using "": TH'),
    (["groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z"], None),
    (["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"], None),
]


@pytest.fixture
def pages(fumehood) -> dict[str, str]:
    fumehood("help", "--man", "pages/man1")
    return {p.name: p.read_text() for p in (fumehood.folder / "pages/man1").iterdir()}


def walk(command: dict, path: str):
    yield path, command
    for sub in command["commands"]:
        yield from walk(sub, f"{path}-{sub['name']}")


def test_each_command_has_a_page_with_its_options(fumehood, pages):
    root = json.loads(fumehood("help", "--json").stdout)
    commands = dict(walk(root, "fumehood"))
    assert set(pages) == {f"{name}.1" for name in commands}
    for name, command in commands.items():
        page = pages[f"{name}.1"].replace("\\-", "-")
        assert page.startswith(f'.TH "{name.upper()}" 1 ')
        assert f"{name} - {command['summary']}\n" in page
        summary = command["summary"][0].upper() + command["summary"][1:] + "."
        words = name.split("-")[1:]
        assert " ".join(fumehood(*words, "--help").stdout.split()).count(summary) == 1, name
        assert f"\n{summary}\n" in page
        for option in command["options"]:
            shown = re.search(rf"--{re.escape(option['name'])}(?![\w-])", page)
            assert shown or not option["help"], (name, option)
        for sub in command["commands"]:
            assert f"\\fB{name}-{sub['name']}\\fR(1)\n" in page


@pytest.mark.parametrize(("checker", "allowed"), CHECKERS, ids=[c[0][0] for c in CHECKERS])
def test_a_checker_finds_no_fault(fumehood, pages, checker, allowed):
    if not shutil.which(checker[0]):
        pytest.skip(f"{checker[0]} is not installed")
    for name in pages:
        done = subprocess.run(
            [*checker, f"pages/man1/{name}"],
            cwd=fumehood.folder,
            env={**fumehood.env, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = done.stderr + (done.stdout if checker[0] == "mandoc" else "")
        lines = [x for x in said.splitlines() if not (allowed and re.search(allowed, x))]
        assert not lines, lines


def test_a_folder_that_cannot_be_made_is_said(fumehood):
    (fumehood.folder / "file").touch()
    done = fumehood("help", "--man", "file/man1", status=2)
    assert done.stderr == "fumehood: make folder 'file': Not a directory\n"
