# SPDX-License-Identifier: Apache-2.0
"""`fumehood bench`: its output, its options and its end. Speed is not tested."""

import json
import os
import signal
import subprocess

import pytest
from conftest import beneath, until

pytestmark = pytest.mark.once

NUMBERS = ["p50", "p95", "p99", "floor_p50", "ratio"]
FIELDS = ["name", "unit", "n", *NUMBERS, "reason"]


def bench(fumehood, *args) -> dict:
    done = fumehood("bench", "--json", *args)
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def results(report: dict) -> dict:
    """Results by name. A figure has its numbers, or a reason such as other work on the machine."""
    for result in report["results"]:
        assert list(result) == FIELDS
        if result["reason"]:
            assert all(result[name] is None for name in NUMBERS)
            assert result["reason"].startswith(("busy: ", "unsteady: ", "/proc "))
            continue
        assert 0 < result["p50"] <= result["p95"] <= result["p99"]
    return {result["name"]: result for result in report["results"]}


@pytest.mark.long
def test_figures_and_floors(fumehood):
    report = bench(fumehood, "--only", "reset,step,validate_csv", "-n", "12")
    found = results(report)
    assert list(found)[:3] == ["reset", "observation", "teardown"]
    assert {"step", "step_one_cpu", "validate_csv"} <= set(found)
    for result in found.values():
        assert result["unit"] == "us" and result["n"] >= 12
        if result["reason"]:
            continue
        assert result["floor_p50"] > 0
        assert result["ratio"] == pytest.approx(
            result["p50"] / result["floor_p50"], rel=1e-2, abs=1e-3
        )
    assert {"cpu", "cores", "kernel", "date", "load", "load_after", "quiet"} <= set(
        report["machine"]
    )


@pytest.mark.once
@pytest.mark.long
def test_figures_beside_others_are_not_given(fumehood):
    """Other work on the CPUs makes times useless. Numbers of descriptors are still given."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as other:
        try:
            report = bench(fumehood, "--only", "alive", "--alive", "1", "-n", "5")
            table = fumehood("bench", "--only", "teardown", "-n", "5").stdout
        finally:
            other.kill()
    machine, found = report["machine"], results(report)
    assert machine["quiet"] is False and machine["others_cpus"] > 0.1
    for name in ("reset@1", "step@1", "burst@1", "memory@1"):
        assert found[name]["reason"].startswith(("busy: others used ", "/proc ")), found[name]
    assert found["fds@1"]["reason"] is None and found["fds@1"]["p50"] > 0
    assert "3 of 3 figures could not be measured" in table and "load " in table
    lines = [line for line in table.splitlines() if line.startswith(("reset", "teardown"))]
    assert len(lines) == 2
    for line in lines:
        numbers, _, reason = line.partition("busy: others used ")
        assert numbers.split()[1:] == ["-"] * 5 and reason.endswith(" CPUs")


@pytest.mark.long
def test_many_alive(fumehood):
    found = results(bench(fumehood, "--only", "alive", "--alive", "1,3", "-n", "5"))
    assert list(found) == [
        f"{name}@{n}" for n in (1, 3) for name in ("reset", "step", "burst", "memory", "fds")
    ]
    assert found["memory@3"]["unit"] == "bytes"
    assert found["memory@3"]["floor_p50"] is None
    if os.getuid() == 0:
        assert found["memory@3"]["n"] == 3
        assert found["memory@3"]["reason"] or found["memory@3"]["p50"] > 100_000
    else:
        assert found["memory@3"]["reason"] == "/proc does not tell"
    assert (
        3 <= found["fds@3"]["p50"] <= 50
    )  # allows descriptors that are kept ready or not closed yet


@pytest.mark.long
def test_nothing_grows(fumehood):
    report = bench(fumehood, "--only", "soak", "-n", "20")
    found = {result["name"]: result for result in report["results"]}
    assert found["sustained"]["n"] == 1 and found["soak"]["n"] > 10
    assert found["soak_memory"]["p50"] < 32 << 20  # 32 MiB, because a sanitizer keeps freed memory
    assert found["soak_fds"]["p50"] < 100  # growth in 400 episodes
    assert found["soak_mounts"]["p50"] == 0


@pytest.mark.long
def test_table(fumehood):
    lines = fumehood("bench", "--only", "teardown", "-n", "5").stdout.splitlines()
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["p50", "p95", "p99", "floor", "p50", "ratio", "goal"]
    assert [line.split()[0] for line in table[1:]] == ["reset", "observation", "teardown"]
    end = table[0].index("ratio") + len("ratio")
    for line in table[1:]:
        assert line[end - 1] in "x-" and line[end : end + 3] == "   " and line[end + 3] in "<bu"


@pytest.mark.long
def test_simulators(fumehood):
    found = results(bench(fumehood, "--only", "simulators", "-n", "5"))
    assert list(found) == ["sim_car", "sim_car_gymnasium", "sim_breakout", "sim_maze"]


@pytest.mark.once
@pytest.mark.long
def test_tasks_of_any_size(fumehood):
    """Tasks that were not played here are left out. Data is made, and removed."""
    fumehood.env["TMPDIR"] = str(fumehood.folder)
    found = results(bench(fumehood, "--only", "tasks", "-n", "5"))
    assert list(found)[:3] == ["reset:battleOfSexes", "reset:bench-small", "reset:bench-large"]
    assert list(found)[-2:] == ["memory:bench-small", "memory:bench-large"]
    assert not list(fumehood.folder.glob("fumehood-bench*"))


@pytest.mark.parametrize(
    "args",
    [["--only", "speed"], ["--alive", "0"], ["--alive", "10,1"], ["--alive", "x"], ["-n", "0"]],
)
def test_wrong_words(fumehood, args):
    done = fumehood("bench", *args, status=2)
    assert done.stdout == "" and args[0].strip("-") in done.stderr


def test_interrupted(fumehood):
    running = fumehood.start(
        "bench", "--only", "step", "-n", "100000", stdout=subprocess.PIPE, text=True
    )
    until(lambda: beneath(running.pid, ""), "it measures")
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=300)[0] == ""
    assert running.returncode == 130
