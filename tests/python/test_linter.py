# SPDX-License-Identifier: Apache-2.0
"""The warm linter reports the same errors as flake8. It ends when nobody can ask it any more."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

LINTER = Path(__file__).resolve().parents[2] / "tools/aci/linter.py"
PYTHON = "/usr/bin/python3"
IMPATIENT = """
import runpy, sys
main = runpy.run_path(sys.argv.pop(1))["main"]
main.__globals__["LOOK_S"] = 1
main()
"""
ANSWERS = """
import json, runpy, sys
linter = runpy.run_path(sys.argv[1])["Linter"](sys.argv[2])
json.dump([linter.errors(text.encode("latin-1")) for text in json.load(sys.stdin)], sys.stdout)
"""
TEXTS = {
    "nothing": "",
    "right": "import os\n\n\ndef f(a):\n    return os.path.join(a, 'b')\n",
    "unknown name": "def f():\n    return unknown\n",
    "unknown in __all__": "__all__ = ['unknown']\n",
    "argument twice": "def f(a, a):\n    return a\n",
    "three spaces": "if True:\n   x = 1\n",
    "no block": "if True:\nx = 1\n",
    "not expected": "x = 1\n    y = 2\n",
    "block of a comment": "if True:\n# x\n    y = 1\n",
    "three spaces and a comment": "if True:\n   # x\n    y = 1\n",
    "a comment not expected": "x = 1\n    # y\n",
    "syntax": "def f(:\n    pass\n",
    "no end of brackets": "x = (1,\n",
    "no end of text": "x = '''\nabc\n",
    "noqa": "print(unknown)  # noqa\nprint(unknown)  # noqa: F821\nprint(unknown)  # noqa: E501\n",
    "noqa of several lines": "print('''\n''', unknown,\n      other)  # noqa\n",
    "whole file": "# flake8: noqa\nprint(unknown)\n",
    "type comment": "x = []  # type: List[int]\n",
    "lines go on": "if True:\n    x = 1 + \\\n  2\n    y = '''\n  a\n b'''\n   z = x\n",
    "in brackets": "x = [\n  1,\n     2,\n]\n  \ny = unknown\n",
    "no newline": "if True:\n   x = unknown",
    "tabs": "if True:\n\tx = 1\n\tif x:\n\t    y = 2\n",
    "form feed": "x = 1\n\x0c\ndef f():\n  return y\n",
    "carriage returns": "if True:\r\n   x = 1\r\ny = unknown\r\n",
    "coding": "# -*- coding: latin-1 -*-\nx = '\xe9'\nunknown\n",
    "not UTF-8": "x = '\xe9'\nunknown\n",
    "semicolons": "x = 1; y = unknown; del x\n",
    "lines go on unevenly": "x = f(1,\n      unknown)\nif x:\n    y = [\n  1,\n    ]\n",
    "uneven block": "def f():\n    if x:\n      return y\n    else:\n      z = 1\n",
    "uneven handler": "try:\n    x = 1\nexcept OSError:\n   x = 2\n",
    "uneven case": "match 1:\n   case 1:\n       x = 2\n",
    "uneven inline": "if 1: x = 2; y = 3\nfor i in (): pass\n",
    "a line of a backslash": "x = 1\n\\\n    y = 2\n",
    "uneven by a backslash": "if 1:\n    \\\n  y = 2\n",
    "type comments": "x = []  # type: List[int]\ny = 'type: ' + z\n",
    "no type comment": "x = {'type:': 1}  # the type: of it\ny = unknown  # noqa\nz = unknown\n",
    "printable": "x = '\xc3\xa9'  # \xc3\xa9\n\xc3\xa9 = \xc3\xa8\n",
    "not printable": "x = 1\xc2\xa0\nif x:\n   y = '\xe2\x80\xa8'\n",
    "decorated": "@unknown\ndef f(): pass\nclass A: x = B\n",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    done = subprocess.run(
        [PYTHON, "-I", "-c", ANSWERS, LINTER, tmp_path_factory.mktemp("linter")],
        input=json.dumps(list(TEXTS.values())),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(TEXTS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_same_as_flake8(answers, name, tmp_path):
    path = tmp_path / "text.py"
    path.write_bytes(TEXTS[name].encode("latin-1"))
    select = "F821,F822,F831,E111,E112,E113,E999,E902"
    form = "%(row)d:%(col)d: %(code)s %(text)s"
    cold = subprocess.run(
        [PYTHON, "-m", "flake8", "--isolated", f"--select={select}", f"--format={form}", path],
        check=False,
        capture_output=True,
        text=True,
    )
    assert cold.returncode in (0, 1) and cold.stderr == ""
    assert answers[name] == cold.stdout


def test_texts_have_errors(answers):
    assert answers["right"] == answers["nothing"] == answers["whole file"] == ""
    codes = {line.split()[1] for text in answers.values() for line in text.splitlines()}
    assert codes == {"F821", "F822", "F831", "E111", "E999"}  # E112 and E113 are not Python


def start(path: Path, program: list) -> subprocess.Popen:
    """Starts the linter as tools/aci/lint.c does: descriptor 3 listens at the path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        return subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{server.fileno()}', "-", *program, path]
            + [str(os.stat(path).st_ino)],
            pass_fds=[server.fileno()],
        )


def test_who_asks_before_it_runs_is_answered(tmp_path):
    path = tmp_path / "socket"
    with start(path, [PYTHON, "-I", LINTER]) as linter:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asker:
            asker.connect(str(path))
            asker.sendall(b"\0\0\0\x02x\n")
            answer = asker.recv(1000)
        linter.kill()
    assert answer.startswith(b"1:1: F821 undefined name 'x'")


@pytest.mark.parametrize("taken", [True, False])
def test_one_that_is_left_behind_ends(tmp_path, taken):
    """An unused linter ends and removes its socket. A linter whose socket was replaced ends too.

    It leaves the other file in place.
    """
    path = tmp_path / "socket"
    idle = IMPATIENT if taken else IMPATIENT.replace("= 1", '= main.__globals__["UNASKED_S"] = 1')
    with start(path, [PYTHON, "-I", "-c", idle, LINTER]) as linter:
        try:
            if taken:
                with pytest.raises(subprocess.TimeoutExpired):
                    linter.wait(2.5)
                path.rename(tmp_path / "asked")
                (tmp_path / "other").touch()
                (tmp_path / "other").rename(path)
            assert linter.wait(60) == 0
        finally:
            linter.kill()
    assert path.exists() == taken
