# SPDX-License-Identifier: Apache-2.0
"""describe of Parquet files that pyarrow wrote, against what pandas says of them."""

import json
import re

import pytest
from conftest import ROOT, Door, Fumehood

DATA = ROOT / "tests" / "data" / "parquet"
EXPECTED = json.loads((DATA / "expected.json").read_text())
FORMS = sorted(path.stem for path in DATA.glob("*.parquet"))
NUMBERS = re.compile(r"min (\S+), quartiles (\S+), (\S+), (\S+), max (\S+), mean (\S+)")


@pytest.fixture(scope="module")
def door(program, state, tmp_path_factory):
    d = Door(
        Fumehood(program, tmp_path_factory.mktemp("parquet"), state),
        *("--task", "rows", "--max-steps", "1000", "--bind", f"{DATA}:/parquet"),
    )
    d.ask(op="reset", seed=0)
    yield d
    d.end()


def describe(door, path: str) -> list[str]:
    return door.step(f"describe {path}")["observation"].splitlines()


def test_the_forms_are_there():
    assert len(FORMS) >= 13 and "brotli" in FORMS


@pytest.mark.parametrize("form", [form for form in FORMS if form != "brotli"])
def test_columns(door, form):
    head, *lines = describe(door, f"/parquet/{form}.parquet")
    assert re.fullmatch(r"\S+: 200 rows, 19 columns \(Parquet, \d row groups?\)", head)
    told = dict(line.split(": ", 1) for line in lines)
    assert told.pop("list.list.element") == "integer, not looked into: it is a list"
    assert set(told) == {column["name"] for column in EXPECTED}
    for column in EXPECTED:
        line = told[column["name"]]
        assert line.startswith(f"{column['type']}, {column['missing']} missing"), line
        if "numbers" in column:
            seen = [float(x) for x in NUMBERS.search(line).groups()]
            assert seen == pytest.approx(column["numbers"], rel=1e-5), column["name"]
        if "top" in column:
            top = ", ".join(f"'{text}' x{n}" for text, n in column["top"])
            assert line.endswith(f"{column['different']} different: {top}"), line


def test_a_codec_that_is_not_there(door):
    _, first, *_ = describe(door, "/parquet/brotli.parquet")
    assert first == "i8: integer, not looked into: its compression is not known here"


@pytest.mark.parametrize("bytes_left", [1, 8, 11, 400, 20000])
def test_a_file_that_was_cut(door, bytes_left):
    door.step(f"head -c {bytes_left} /parquet/zstd.parquet >cut.parquet")
    assert describe(door, "cut.parquet")[0].startswith("cut.parquet")


def test_a_hole_in_the_data(door):
    door.step(
        "cp /parquet/plain.parquet hole.parquet && chmod u+w hole.parquet &&"
        " head -c 2000 /dev/zero | dd of=hole.parquet bs=1 seek=4 conv=notrunc status=none"
    )
    lines = describe(door, "hole.parquet")
    assert "i8: integer, not looked into: it is broken" in lines
    assert any(line.startswith("wide: text, 0 missing; 200 different") for line in lines)
