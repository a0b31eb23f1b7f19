# SPDX-License-Identifier: Apache-2.0
"""The public headers, as compilers of other projects see them."""

import ctypes
import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include" / "fumehood").glob("*.h"))
DIALECTS = [("gcc", "c99"), ("clang-14", "c17"), ("g++", "c++11"), ("clang++-14", "c++20")]


@pytest.mark.parametrize(("compiler", "dialect"), DIALECTS)
def test_each_header_compiles_alone(compiler: str, dialect: str, tmp_path: Path) -> None:
    ending = "cpp" if "++" in compiler else "c"
    sources = []
    for header in HEADERS:
        sources.append(tmp_path / f"{header.stem}.{ending}")
        sources[-1].write_text(
            f"#include <fumehood/{header.name}>\nint main(void) {{ return 0; }}\n"
        )
    flags = [f"-std={dialect}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
    subprocess.run([compiler, *flags, f"-I{ROOT / 'include'}", *sources], check=True)


def test_functions_have_c_names() -> None:
    """A function that C++ would mangle is declared outside of extern "C"."""
    names = subprocess.run(
        ["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True
    ).stdout.split()
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        assert text.count('extern "C" {') == 1, header
        begin, end = text.index('extern "C"'), text.rindex("}\n#endif")
        declared = re.findall(r"FH_PUBLIC[^;]*?(fh_\w+)\(", text)
        assert declared == re.findall(r"FH_PUBLIC[^;]*?(fh_\w+)\(", text[begin:end])
        assert set(declared) <= set(names)


def library() -> str:
    return str(Path(os.environ["FUMEHOOD"]).with_name("libfumehood.so"))


def test_versions_agree() -> None:
    loaded = ctypes.CDLL(library())
    loaded.fh_version.restype = ctypes.c_char_p
    told = subprocess.run(
        [os.environ["FUMEHOOD"], "--version"], capture_output=True, text=True, check=True
    ).stdout
    soname = subprocess.run(
        ["readelf", "--dynamic", library()], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.fh_version().decode() in told
    assert f"[libfumehood.so.{loaded.fh_api_version()}]" in soname
