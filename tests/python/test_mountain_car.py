# SPDX-License-Identifier: Apache-2.0
"""rlMountainCarContinuous: cars generated from a key, wrong policy files, solutions that climb."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, PolicyTask, check_climb, run_program

np = pytest.importorskip("numpy")
from simulators import policies  # noqa: E402

CAR = PolicyTask("rlMountainCarContinuous", "wiredCar")
KEY = "7c" * 32


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return CAR.make_workspace(tmp_path / "workspace", KEY)


# --- reading a policy's file ----------------------------------------------------------------------


def arrays(units: int = 3, kind: str = "tanh") -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        f"0.{kind}.weight": random.normal(size=(5, 2, units)),
        f"0.{kind}.bias": random.normal(size=(5, units)),
        "1.linear.weight": random.normal(size=(5, units, 1)).astype("f"),
        "1.linear.bias": random.normal(size=(5, 1)),
        "log_std": np.full(5, -20.0),
    }


def saved(**changed: Any) -> bytes:
    """A file with some arrays changed; None leaves one out."""
    file = io.BytesIO()
    kept = {name: array for name, array in {**arrays(), **changed}.items() if array is not None}
    np.savez(file, **kept)
    return file.getvalue()


def zipped(name: str, data: bytes, **options: Any) -> bytes:
    """A zip file with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def numpy_file(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return zipped(
        "log_std.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data
    )


def twice() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, pytest.warns(UserWarning):
        for _ in range(2):
            archive.writestr(
                "log_std.npy", zipfile.ZipFile(io.BytesIO(saved())).read("log_std.npy")
            )
    return file.getvalue()


def with_other_names() -> bytes:
    file = io.BytesIO()
    names = ("w1", "b1", "w" * 100, "b2", "log_std")
    np.savez(file, **{name: np.zeros(5) for name in names})
    return file.getvalue()


class Attack:
    def __reduce__(self) -> Any:
        return os.mkdir, ("attacked",)


def with_value(value: float) -> bytes:
    weight = np.zeros((5, 2, 3))
    weight[4, 1, 2] = value
    return saved(**{"0.tanh.weight": weight})


BAD_NUMBER = "'0.tanh.weight' has a number that is not from -1e+06 to 1e+06"
NOT_FINITE = "'0.tanh.weight' has NaN or infinity; write finite numbers"
NO_ZIP = "it is not a .npz file; write it with numpy.savez"
NO_ARRAY = "'log_std' is not an array of numbers as numpy.savez writes it"
TOO_LARGE = "it unpacks to more than 32 arrays or 232768 bytes"
WRONG = {
    "empty": (b"", "it is empty; write it with numpy.savez"),
    "text": (b"weights", NO_ZIP),
    "a pickle": (pickle.dumps(Attack()), NO_ZIP),
    "a cut file": (saved()[:-30], NO_ZIP),
    "a .npy file": (zipfile.ZipFile(io.BytesIO(saved())).read("log_std.npy"), NO_ZIP),
    "a pickled object": (
        saved(log_std=np.array([Attack()] * 5, object)),
        "'log_std' holds objects; write numbers: an array whose rows have one length",
    ),
    "integers": (
        saved(log_std=np.zeros(5, int)),
        "'log_std' has the type <i8; convert it with .astype('float32')",
    ),
    "NaN": (with_value(np.nan), NOT_FINITE),
    "infinity": (with_value(-np.inf), NOT_FINITE),
    "a huge number": (with_value(1e300), BAD_NUMBER),
    "nothing": (zipped("readme.txt", b""), "'readme.txt' is not an array of numbers"),
    "no arrays": (b"PK\5\6" + bytes(18), "its layers are []; count 1 to 8 layers from 0"),
    "other names": (
        with_other_names(),
        f"its arrays are 'w1', 'b1', '{'w' * 40}', 'b2', ...; name them like '0.linear.weight'",
    ),
    "a missing bias": (saved(**{"1.linear.bias": None}), "the array '1.linear.bias' is missing"),
    "no deviation": (saved(log_std=None), "the array 'log_std' is missing"),
    "a gap": (
        saved(**{"3.linear.bias": np.zeros((5, 1))}),
        "its layers are [0, 1, 3]; count 1 to 8 layers from 0",
    ),
    "another kind": (
        saved(**{"1.linear.weight": None, "1.linear.bias": None, "1.gelu.bias": np.zeros(5)}),
        "layer 1 is 'gelu'; the kinds are linear, tanh, relu, conv, gru",
    ),
    "more arrays": (saved(note=np.zeros(5)), "the array 'note' belongs to no layer"),
    "one checkpoint": (
        saved(**{"0.tanh.weight": np.zeros((2, 3))}),
        "'0.tanh.weight' has the shape [2, 3]; expected [5, 2, any]",
    ),
    "other outputs": (
        saved(**{"1.linear.weight": np.zeros((5, 3, 2))}),
        "'1.linear.weight' has the shape [5, 3, 2]; expected [5, 3, 1]",
    ),
    "no units": (
        saved(**{"0.tanh.weight": np.zeros((5, 2, 0))}),
        "'0.tanh.weight' has the shape [5, 2, 0]; expected [5, 2, any]",
    ),
    "another bias": (
        saved(**{"0.tanh.bias": np.zeros((5, 4))}),
        "'0.tanh.bias' has the shape [5, 4]; expected [5, 3]",
    ),
    "many weights": (saved(**{"0.tanh.weight": np.zeros((5, 2, 4000))}), TOO_LARGE),
    "many arrays": (saved(**{str(i): np.zeros(1) for i in range(40)}), TOO_LARGE),
    "a zip bomb": (
        zipped("log_std.npy", bytes(1 << 26), compression=zipfile.ZIP_DEFLATED),
        TOO_LARGE,
    ),
    "another packer": (
        zipped("log_std.npy", bytes(100), compression=zipfile.ZIP_LZMA),
        "'log_std' is packed in another way than numpy.savez does it",
    ),
    "an array twice": (twice(), "'log_std' is there twice"),
    "code in a header": (numpy_file("__import__('os').mkdir('attacked')\n"), NO_ARRAY),
    "a giant header": (numpy_file("(" * 60_000), NO_ARRAY),
    "a giant shape": (
        numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 9), }\n"),
        "'log_std' has another length than its header tells",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_gives_a_sentence(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, sentence = WRONG[name]
    Path("policy.npz").write_bytes(data)
    with pytest.raises(policies.Unfit) as told:
        policies.load("policy.npz", (2,), 25_000)
    assert str(told.value).startswith(f"policy.npz: {sentence}")
    assert len(str(told.value)) < 200 and os.listdir() == ["policy.npz"]


def test_a_damaged_file_is_refused_or_read(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    file = tmp_path / "policy.npz"
    refused = 0
    for _ in range(300):
        data = np.frombuffer(saved(), np.uint8).copy()
        data[random.integers(len(data), size=2)] = random.integers(256, size=2)
        file.write_bytes(data.tobytes())
        try:
            policies.load(file, (2,), 25_000)
        except policies.Unfit:
            refused += 1
    assert refused > 100


def test_layers_are_run_as_described(tmp_path: Path) -> None:
    seen = np.random.default_rng(2).normal(size=(5, 4, 2))
    functions = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "linear": lambda x: x}
    for kind, function in functions.items():
        given = arrays(kind=kind)
        given["log_std"][3] = 0.5
        given[f"0.{kind}.weight"] = np.asfortranarray(given[f"0.{kind}.weight"])
        np.savez_compressed(tmp_path / "policy.npz", **given)
        policy = policies.load(tmp_path / "policy.npz", (2,), 25_000)
        forces = policy.act(seen, np.random.default_rng(3))
        drawn = np.random.default_rng(3).standard_normal((5, 4))
        for i in range(5):
            units = function(seen[i] @ given[f"0.{kind}.weight"][i] + given[f"0.{kind}.bias"][i])
            means = units @ given["1.linear.weight"][i] + given["1.linear.bias"][i]
            std = np.exp(0.5) if i == 3 else 0
            assert np.allclose(forces[i], means[:, 0] + std * drawn[i], atol=1e-6)


# --- tests of the judge of policies -------------------------------------------------------------


def test_the_judge_counts_first_episodes_only(workspace: Path) -> None:
    """A policy that stands still costs nothing, and one of a full force costs a tenth a step."""
    still = {name: np.zeros_like(array) for name, array in arrays().items()}
    still["log_std"] -= 20
    np.savez(workspace / "policy.npz", **still)
    assert abs(CAR.judge(workspace, KEY)["Reward Mean"]) < 1e-6
    np.savez(workspace / "policy.npz", **{**still, "1.linear.bias": np.full((5, 1), 3.0)})
    assert CAR.judge(workspace, KEY)["Reward Mean"] == pytest.approx(-0.1 * 9 * 200)


def test_the_judge_refuses(workspace: Path) -> None:
    (workspace / "policy.npz").write_bytes(WRONG["a pickled object"][0])
    assert CAR.judge(workspace, KEY) == {"error": f"policy.npz: {WRONG['a pickled object'][1]}"}
    np.savez(workspace / "policy.npz", **{**arrays(), "1.linear.bias": np.full((5, 1), 1e6)})
    assert "gave a force that is not from -1e+06 to 1e+06" in CAR.judge(workspace, KEY)["error"]


def test_a_key_decides_the_score(workspace: Path) -> None:
    np.savez(workspace / "policy.npz", **{**arrays(), "log_std": np.zeros(5)})
    first, same = CAR.judge(workspace, KEY), CAR.judge(workspace, KEY)
    assert first == same != CAR.judge(workspace, "11" * 32)


def test_missing_numpy_is_named(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "numpy.py").write_text("raise ModuleNotFoundError(name='numpy')\n")
    monkeypatch.setenv("PYTHONPATH", f"{workspace}:{os.environ['PYTHONPATH']}")
    sentence = "policies can't be scored here: this machine's python3 has no numpy"
    assert CAR.judge(workspace, KEY) == {"error": sentence}


# --- tests that better policies score better ----------------------------------------------------

# Programs in order of their expected scores, from the baseline to the solution. Each takes a seed
# as argument.
CLIMB = {
    "the baseline": ("baseline.py",),
    **{
        f"the best of 1,000 with larger weights, and forces of log_std {log_std}": (
            "-c",
            "import baseline, sys; baseline.CARS = 16; "
            "weights = baseline.draw(int(sys.argv[1]), 1000, 1.5); "
            f"baseline.save(baseline.unpack(weights), log_std={log_std})",
        )
        for log_std in (0, -1)
    },
    "10 rounds of the solution": (
        "-c",
        "import solve, sys; solve.solve(int(sys.argv[1]), rounds=10)",
    ),
    "the solution": ("solve.py",),
}


def test_new_forces_in_each_step_seldom_get_up(workspace: Path) -> None:
    """The baseline of rlMountainCarContinuousReinforce mostly stands still."""
    reinforce = ROOT / "tasks/rlMountainCarContinuousReinforce/starter/micro/baseline.py"
    run_program(workspace, str(shutil.copy(reinforce, workspace / "reinforce.py")))
    assert -25 < CAR.judge(workspace, KEY)["Reward Mean"] < 10


def test_a_model_can_climb(tmp_path: Path) -> None:
    def in_car(number: int) -> list[float]:
        return CAR.climb(CLIMB.values(), tmp_path / str(number), number)

    check_climb(in_car, ends=(0, 90))
    # A policy that was trained for one drawn car must be worth nothing in another.
    other = CAR.make_workspace(tmp_path / "other", "22" * 32)
    shutil.copy(tmp_path / "0/policy.npz", other)
    assert CAR.judge(other, KEY)["Reward Mean"] < 50
