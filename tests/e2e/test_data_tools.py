# SPDX-License-Identifier: Apache-2.0
"""The agent's commands for data: describe, plot, memory_write and memory_read."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import pytest


def put(door, name: str, data: bytes):
    octal = "".join(f"\\{b:03o}" for b in data)
    for i in range(0, len(octal), 40000):
        part = octal[i : i + 40000]
        door.step(f"printf '%b' '{part.replace(chr(92), chr(92) + '0')}' >> {name}")


def told(door, data: bytes, name="f.csv") -> list[str]:
    door.step(f": > {name}")
    put(door, name, data)
    return door.step(f"describe {name}")["observation"].splitlines()


def zipped(data: bytes) -> bytes:
    with zipfile.ZipFile(out := io.BytesIO(), "w") as archive:
        archive.writestr("f.csv", data)
    return out.getvalue()


NO_COLUMNS = "f.csv has JSON arrays, not JSON lines of objects: it has no columns with names."

CASES = [
    (
        b"a,b,c\n1,x,2026-01-02\n2,,2026-01-03T10:00:00\n3,x,2026-01-04\n",
        [
            "f.csv: 3 rows, 3 columns (CSV)",
            "a: integer, 0 missing; min 1, quartiles 1.5, 2, 2.5, max 3, mean 2",
            "b: text, 1 missing; 1 different: 'x' x2",
            "c: date, 0 missing; 3 different: '2026-01-02' x1, '2026-01-03T10:00:00' x1, '2026-01-04' x1",
        ],
    ),
    (
        b'\xef\xbb\xbfname;v\r\n"a;""b"";\nc";1.5\r\nd;NA\r\n\r\ne\r\nf;1;2\r\n',
        [
            "f.csv: 4 rows, 2 columns (CSV)",
            "name: text, 0 missing; 4 different: 'a;\"b\";\\x0ac' x1, 'd' x1, 'e' x1, 'f' x1",
            "v: number, 2 missing; min 1, quartiles 1.125, 1.25, 1.375, max 1.5, mean 1.25",
            "Rows with more cells than the header: 1, with fewer: 1.",
        ],
    ),
    (
        b"t\tu\nTrue\t\nfalse\t\n",
        [
            "f.csv: 2 rows, 2 columns (separated by tabs)",
            "t: boolean, 0 missing; 2 different: 'True' x1, 'false' x1",
            "u: empty, 2 missing",
        ],
    ),
    (
        b'{"a": 1}\n\n{"b": {"c": [1]}, "a": 2.5}\n',
        [
            "f.csv: 2 rows, 2 columns (JSON lines)",
            "a: number, 0 missing; min 1, quartiles 1.375, 1.75, 2.125, max 2.5, mean 1.75",
            "b: text, 1 missing; 1 different: '{\"c\":[1]}' x1",
        ],
    ),
    (
        b"n\n1234567890\n20261121\n",
        [
            "f.csv: 2 rows, 1 column (CSV)",
            "n: integer, 0 missing; min 20261121, quartiles 323837813.25, 627414505.5, "
            "930991197.75, max 1234567890, mean 6.27415e+08",
        ],
    ),
    (
        b"a,b,c,d\n1,inf,-nan,inf\n-inf,-Infinity,nan,x\n2,+inf,NaN,\n",
        [
            "f.csv: 3 rows, 4 columns (CSV)",
            "a: number, 0 missing; min 1, quartiles 1.25, 1.5, 1.75, max 2, mean 1.5, 1 infinite",
            "b: number, 0 missing; 3 infinite",
            "c: empty, 3 missing",
            "d: text, 1 missing; 2 different: 'inf' x1, 'x' x1",
        ],
    ),
    (
        b"n,m\n1,1e400\n-1e400,x\n",
        [
            "f.csv: 2 rows, 2 columns (CSV)",
            "n: number, 0 missing; min 1, quartiles 1, 1, 1, max 1, mean 1, 1 infinite",
            "m: text, 0 missing; 2 different: '1e400' x1, 'x' x1",
        ],
    ),
    (b'\n \t\r\n{"a": 1}\n', ["f.csv: 1 row, 1 column (JSON lines)"]),
    (b'\xef\xbb\xbf\n  {"a": 1}\n', ["f.csv: 1 row, 1 column (JSON lines)"]),
    (b"\n\r\na,b\n1,2\n", ["f.csv: 1 row, 2 columns (CSV)", "a: integer, 0 missing; min 1"]),
    (b"\n\n", ["f.csv is empty."]),
    (b'\n{"a": 1}\n{"a": 1\n', ["f.csv:3: not a JSON object."]),
    (b'[1, "\\""]\n[2, "x"]\n', [NO_COLUMNS]),
    (b'\n[\n  {"a": 1}\n]\n', [NO_COLUMNS]),
    (b'[{"a": 1},\n{"a": 2}]\n', [NO_COLUMNS]),
    (b"[a],[b]\n1,2\n", ["f.csv: 1 row, 2 columns (CSV)", "[a]: integer, 0 missing; min 1"]),
    (gzip.compress(b"a,b\n1,2\n"), ["f.csv is compressed (gzip): unpack it first."]),
    (bz2.compress(b"a,b\n1,2\n"), ["f.csv is compressed (bzip2): unpack it first."]),
    (lzma.compress(b"a,b\n1,2\n"), ["f.csv is compressed (xz): unpack it first."]),
    (zipped(b"a,b\n1,2\n"), ["f.csv is compressed (zip): unpack it first."]),
    (b"\x28\xb5\x2f\xfd\x04\x00", ["f.csv is compressed (zstd): unpack it first."]),
    (b"n\n1\n", ["f.csv: 1 row, 1 column (CSV)"]),
    (b"", ["f.csv is empty."]),
    (b'{"a": 1}\n[1]\n', ["f.csv:2: not a JSON object."]),
]


# The test's ids are the first lines of answers. Ids made of archives would differ between
# processes, because archives contain the time.
@pytest.mark.parametrize(("data", "lines"), CASES, ids=[lines[0] for _, lines in CASES])
def test_describe(door, data, lines):
    shown = [line.replace("\n", "\\x0a") for line in told(door, data)]
    joined = "\n".join(shown).replace("\nc' x1", "\\x0ac' x1")
    seen = joined.splitlines()[: len(lines)]
    assert [line[: len(want)] for line, want in zip(seen, lines, strict=True)] == lines


def test_a_long_file_is_sampled(door):
    door.step("(echo n; seq 1 50000) > long.csv")
    lines = door.step("describe long.csv")["observation"].splitlines()
    assert lines[0] == "long.csv: 50000 rows, 1 column (CSV)"
    assert "20000 rows, drawn evenly" in lines[1]
    middle = float(lines[2].split("quartiles ")[1].split(", ")[1])
    assert 24000 < middle < 26000 and "min 1," in lines[2] and "max 50000," in lines[2]
    assert door.step("describe long.csv")["observation"].splitlines() == lines
    door.step("head -c 6000000 /dev/zero | tr '\\0' x > wide.csv")
    assert door.step("describe wide.csv")["info"]["exit_code"] == 1


def test_plot(door):
    door.step("(echo 'x,y,z'; for i in $(seq 0 50); do echo $i,$((50-i)),w; done) > f.csv")
    seen = door.step("plot f.csv x y")
    assert seen["info"]["exit_code"] == 0
    assert "51 points" in seen["observation"]
    assert seen["observation"].splitlines()[1].strip().startswith("50 |")
    for action in (
        "plot f.csv x",
        "plot f.csv x y o.png",
        "plot f.csv x none",
        "plot f.csv x z",
        "plot none x y",
    ):
        assert door.step(action)["info"]["exit_code"] == 1, action
    door.step("(echo x,y; echo 1,1; echo 2,) > g.csv")
    assert "1 point, 1 row left out" in door.step("plot g.csv x y")["observation"]
    door.step("(echo x,y; echo 1,inf; echo nan,1; echo 2,2) > g.csv")
    assert "1 point, 2 rows left out" in door.step("plot g.csv x y")["observation"]
    door.step("(echo x,y; echo 1.7e308,0; echo -1.7e308,5e-324; echo 0,0) > far.csv")
    seen = door.step("plot far.csv x y")
    assert seen["info"]["exit_code"] == 0 and "3 points" in seen["observation"]


def test_a_parquet_file(door):
    lines = told(door, b"PAR1xxxx", "broken.parquet")
    if door.step("python3 -c 'import pyarrow.parquet'")["info"]["exit_code"]:
        pandas = door.step("python3 -c 'import pandas'")["info"]["exit_code"] == 0
        wanted = "can't be read: " if pandas else "needs pyarrow: `pip install pyarrow`"
        assert len(lines) == 1 and wanted in lines[0]
        return
    assert len(lines) == 1 and lines[0].startswith("broken.parquet can't be read: ")
    table = "{'n': [1, 2, 3], 'place.city': ['a', 'b', None]}"
    code = f"from pyarrow import parquet, table; parquet.write_table(table({table}), 'f.parquet')"
    assert door.step(f'python3 -c "{code}"')["info"]["exit_code"] == 0
    assert door.step("describe f.parquet")["observation"].splitlines() == [
        "f.parquet: 3 rows, 2 columns (Parquet)",
        "n: int64",
        "place.city: string",
    ]


def test_memory(door):
    assert door.step("memory_read trees")["info"]["exit_code"] == 1
    for note in (
        "'Trees gave 0.78' scores",
        "'there are 4 columns'",
        "'a forest is many trees' ideas",
    ):
        assert door.step(f"memory_write {note}")["info"]["exit_code"] == 0
    lines = door.step("memory_read 'TREES and columns'")["observation"].splitlines()
    assert lines[0].startswith("1. there are 4 columns (score ") and len(lines) == 2
    lines = door.step("memory_read scores")["observation"].splitlines()
    assert len(lines) == 1 and "Trees gave 0.78 [scores]" in lines[0]
    lines = door.step("memory_read zebra")["observation"].splitlines()
    assert lines[0].startswith("No note has a word of that") and len(lines) == 3
    assert lines[1].startswith("1. a forest") and lines[2].startswith("2. there are 4")
    kept = json.loads(door.step("cat ~/memory.json")["observation"])
    assert kept["tags"] == ["scores", "", "ideas"] and kept["embeddings"] == [[], [], []]
    for text in ("{", "[]", '{"texts": 3}'):
        door.step(f"echo '{text}' > ~/memory.json")
        assert door.step("memory_read x")["info"]["exit_code"] == 1
    door.step("rm ~/memory.json; mkfifo ~/memory.json")
    assert door.step("memory_write x")["info"]["outcome"] == "ok"


def test_what_is_no_file(door):
    door.step("mkfifo pipe")
    for path in ("pipe", ".", "/dev/zero"):
        step = door.step(f"describe {path}", timeout_s=60)
        assert step["observation"] == f"{path} is not a regular file.\n"
