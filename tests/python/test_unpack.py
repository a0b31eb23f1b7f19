# SPDX-License-Identifier: Apache-2.0
"""Unpacking copies of workspaces that are forged or cut, or that contain odd files of an agent."""

import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "src/grade/python"))
import unpack  # noqa: E402
from unpack import END, FILE, FOLDER, HEAD, LINK  # noqa: E402

OWN = ["evaluate.py", "src/own"]
OUTSIDE = f"/tmp/unpacked-{os.getpid()}"


def entry(
    kind: int, path: bytes | str = b"", content: bytes = b"", mode: int = 0o644, **but
) -> bytes:
    path = os.fsencode(path)
    fields = {"kind": kind, "mode": mode, "path": len(path), "size": len(content)} | but
    return HEAD.pack(*fields.values()) + path + content


def place(top: Path, *entries: bytes, end: bytes = entry(END)) -> None:
    source = io.BytesIO(b"".join(entries) + end)
    unpack.unpack(source, str(top), ["data"], OWN)


@pytest.fixture
def top(tmp_path) -> Path:
    """A workspace at a task's begin, with a secret file beside it."""
    (tmp_path / "secret").write_text("kept")
    (tmp_path / "work/data").mkdir(parents=True)
    (tmp_path / "work/evaluate.py").write_text("kept")
    (tmp_path / "work/strategy.py").write_text("first")
    return tmp_path / "work"


FORGED = {
    "above": entry(FILE, "../secret", b"x"),
    "above later": entry(FILE, "a/../../secret", b"x"),
    "absolute": entry(FILE, OUTSIDE, b"x"),
    "itself": entry(FILE, ".", b"x"),
    "nowhere": entry(FILE, "", b"x"),
    "an empty part": entry(FILE, "a//b", b"x"),
    "a slash at the end": entry(FOLDER, "a/"),
    "a NUL": entry(FILE, "a\0b", b"x"),
    "a long name": entry(FILE, "n" * 256, b"x"),
    "a long path": entry(FILE, "/".join(["n" * 100] * 50), b"x"),
    "data": entry(FILE, "data/truth.csv", b"x"),
    "data itself": entry(LINK, "data", b"/tmp"),
    "another kind": entry(7, "x", b"x"),
    "setuid": entry(FILE, "x", b"x", mode=0o4755),
    "a full folder": entry(FOLDER, "x", b"x"),
    "a long link": entry(LINK, "x", b"x" * 5000),
    "a full end": entry(END, "", b"x"),
    "a huge file": entry(FILE, "x", b"x", size=1 << 63),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged(top, what):
    with pytest.raises(unpack.Forged):
        place(top, entry(FILE, "strategy.py", b"good"), FORGED[what])
    assert (top.parent / "secret").read_text() == "kept"
    assert sorted(os.listdir(top)) == ["data", "evaluate.py", "strategy.py"]
    assert os.listdir(top / "data") == [] and not Path(OUTSIDE).exists()


@pytest.mark.parametrize("cut", range(1, 43))
def test_cut(top, cut):
    whole = entry(FILE, "strategy.py", b"good") + entry(END)
    with pytest.raises(unpack.Unfit, match="could not be copied to its end"):
        place(top, whole[:-cut], end=b"")


def test_what_is_made(top):
    place(
        top,
        entry(FOLDER, "src"),
        entry(FILE, "src/a", b"a", mode=0o700),
        entry(FILE, "strategy.py", b"second", mode=0o400),
        entry(FILE, b"\xff\n", b"name"),
        entry(FILE, "hole", bytes(3 << 20) + b"end"),
        entry(FILE, "empty"),
        entry(LINK, "src/up", b"../strategy.py"),
        entry(LINK, "whole", os.fsencode(top / "src/a")),
    )
    assert (top / "src/a").read_text() == "a" and os.access(top / "src/a", os.X_OK)
    assert (top / "strategy.py").read_text() == "second"
    assert Path(os.fsdecode(os.fsencode(top) + b"/\xff\n")).read_text() == "name"
    assert (top / "hole").read_bytes() == bytes(3 << 20) + b"end"
    assert (top / "hole").stat().st_blocks * 512 < 1 << 20
    assert (top / "empty").read_bytes() == b""
    assert (top / "src/up").read_text() == "second" and (top / "whole").read_text() == "a"


def test_what_is_passed_over(top):
    place(
        top,
        entry(FILE, "evaluate.py", b"x"),
        entry(FILE, "evaluate.py/__main__.py", b"x"),
        entry(FOLDER, "evaluate"),
        entry(FILE, "evaluate/__init__.py", b"x"),
        entry(FILE, "evaluate.cpython-311-x86_64-linux-gnu.so", b"x"),
        entry(FILE, "evaluate.pyc", b"x"),
        entry(FOLDER, "__pycache__"),
        entry(FILE, "__pycache__/evaluate.cpython-311.pyc", b"x"),
        entry(FOLDER, "src"),
        entry(FILE, "src/own/x", b"x"),
        entry(LINK, "src/own", b"../strategy.py"),
        entry(LINK, "out", b"../secret"),
        entry(LINK, "far", b"/etc/passwd"),
        entry(LINK, "top", b"."),
        entry(LINK, "around", b"data/../strategy.py"),
        entry(FILE, "far/x", b"x"),
        entry(FILE, "nowhere/x", b"x"),
        entry(LINK, "src/link", b"../src"),
        entry(FILE, "src/link/through", b"x"),
        entry(FILE, "src", b"a file for a folder"),
        entry(FILE, "evaluate.json", b"mine"),
        entry(FILE, "strategy.py", b"last"),
    )
    assert (top / "evaluate.py").read_text() == "kept"
    assert (top.parent / "secret").read_text() == "kept"
    made = sorted(str(p.relative_to(top)) for p in top.rglob("*"))
    assert made == ["data", "evaluate", "evaluate.json", "evaluate.py", "src", "src/link"] + [
        "strategy.py"
    ]
    assert (top / "strategy.py").read_text() == "last"


# Entries of an archive: nested folders, and a link deep inside that leads two folders up.
STAIRS = [
    *(entry(FOLDER, "/".join(["d"] * n)) for n in (1, 2, 3)),
    entry(LINK, "d/d/d/up", b"../.."),
]


@pytest.mark.parametrize("target", ["d/d/d/up/../..", "./d/d/d/up/../../secret", "{}/d/d/d/up/.."])
@pytest.mark.parametrize("first", [True, False])
def test_links_through_links(top, target, first):
    """Such a link is left out, whether the links on its way were made before it or come later."""
    link = entry(LINK, "out", os.fsencode(target.format(top)))
    place(top, *([*STAIRS, link] if first else [link, *STAIRS]))
    assert sorted(os.listdir(top)) == ["d", "data", "evaluate.py", "strategy.py"]
    assert (top / "d/d/d/up").resolve() == top / "d"


def test_a_link_that_was_there(top):
    """A file replaces a link of the same name. The link's target is not written."""
    place(
        top,
        entry(LINK, "way", b"strategy.py"),
        entry(FILE, "way", b"second"),
        entry(LINK, "strategy.py", b"evaluate.py"),
        entry(FILE, "strategy.py", b"third"),
    )
    assert [(top / name).read_text() for name in ("way", "strategy.py", "evaluate.py")] == [
        "second",
        "third",
        "kept",
    ]


def test_no_room(top):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(unpack.Unfit, match="can't be copied: File too large"):
            place(top, entry(FILE, "x", b"x" * (2 << 20)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


PROGRAM = Path(unpack.__file__).with_name("mlgym.py")


@pytest.mark.parametrize(
    ("copy", "tampered", "said"),
    [
        (FORGED["above"], True, "The copy of the workspace was tampered with: it leads to b'../s"),
        (b"", False, "The workspace could not be copied to its end."),
    ],
)
def test_what_is_told(copy, tampered, said):
    """The program that unpacks a copy reports faults on descriptor 3."""
    came, end = os.pipe()
    words = [sys.executable, "-s", "-B", PROGRAM, "python", "evaluate.py"]
    script = f'exec 3>&{end} "$@"'
    subprocess.run(["bash", "-c", script, "-", *words], input=copy, pass_fds=[end], check=True)
    os.close(end)
    with open(came, "rb") as file:
        answer = json.load(file)
    assert answer["error"].startswith(said) and answer.get("integrity", False) == tampered
