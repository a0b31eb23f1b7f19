# SPDX-License-Identifier: Apache-2.0
"""fumehood sandbox exec: what it hands to a program, and what it refuses to."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, TASKS


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_folder_is_not_handed_in(fumehood, number):
    """A sandbox would walk this machine through it."""
    folder = os.open("/", os.O_RDONLY)
    ends = [subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE]
    ends[number] = folder
    child = fumehood.start(
        *["sandbox", "exec", "--", "sh", "-c", f"ls /proc/self/fd/{number}/ | wc -l"],
        **dict(zip(("stdin", "stdout", "stderr"), ends, strict=True)),
        text=True,
    )
    shown, said = child.communicate(timeout=60)
    os.close(folder)
    assert child.returncode == 1 and not shown
    if number != 2:
        assert f"descriptor {number} is a folder" in said


@pytest.mark.parametrize("network", ["none", "host"])
def test_a_sandbox_can_look_up_its_own_name(fumehood, network):
    """As torchrun does, which otherwise waits until its limit."""
    words = ["--network", network, "--", "sh", "-c", "getent hosts $(hostname) localhost"]
    names = [line.split()[1] for line in fumehood("sandbox", "exec", *words).stdout.splitlines()]
    assert "fumehood" in names and "localhost" in names


@pytest.mark.parametrize("words", ["exec --json -- echo hi", "shell --json"])
def test_the_output_is_not_ours_to_print_as_json(fumehood, words):
    done = fumehood("sandbox", *words.split(), status=2)
    assert done.stdout == "" and "--json: output and exit status are the program's" in done.stderr


# --- Python -----------------------------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path) -> Path:
    """A virtual environment in somebody's home, made by a Python that lies there, too."""
    home, version = tmp_path / "home", f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base, env = home / "python", home / "envs/mine"
    for folder in (
        base / "bin",
        base / "lib",
        env / "bin",
        env / "lib" / version / "site-packages",
    ):
        folder.mkdir(parents=True)
    (home / "secret.txt").write_text("mine")
    (home / "envs/other.txt").write_text("mine")
    shutil.copy(os.path.realpath(sys.executable), base / "bin/python3")
    stdlib = Path(os.__file__).parent
    (base / "lib" / version).symlink_to(stdlib)
    (env / "bin/python").symlink_to("python3")
    (env / "bin/python3").symlink_to(base / "bin/python3")
    (env / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (env / "lib" / version / "site-packages/only_there.py").write_text("HERE = 'here'\n")
    script = env / "bin/hello"
    script.write_text(
        f"#!{env}/bin/python3\nimport only_there, sys\nprint(only_there.HERE, sys.prefix)\n"
    )
    script.chmod(0o755)
    return env


def test_an_environment_lies_where_its_scripts_look(fumehood, environment):
    def run(command: str) -> str:
        words = ["sandbox", "exec", "--python", environment, "--", "sh", "-c", command]
        return fumehood(*words, status=None).stdout

    assert run("hello") == f"here {environment}\n"
    assert run("command -v python") == f"{environment}/bin/python\n"
    home = environment.parent.parent
    assert run(f"ls -A {home} {environment.parent}").split() == [
        *(f"{home}:", "envs", "python"),
        *(f"{environment.parent}:", "mine"),
    ]
    assert run(f"touch {environment}/new || echo no") == "no\n"


def test_an_environment_by_a_link(fumehood, environment):
    link = environment.parent.parent.parent / "link"
    link.symlink_to(environment)
    shown = fumehood("sandbox", "exec", "--python", link, "--", "hello").stdout
    assert shown == f"here {environment}\n"


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "home", "base is home", "root"])
def test_what_is_no_environment_is_refused(fumehood, environment, kind):
    home = environment.parent.parent
    fumehood.env["HOME"] = str(home)
    places = {"missing": home / "none", "file": home / "secret.txt", "empty": home / "envs"}
    env = places.get(kind, environment)
    if kind == "home":
        shutil.copytree(environment / "bin", home / "bin", symlinks=True)
        shutil.copytree(environment / "lib", home / "lib")
        env = home
    if kind == "base is home":
        (home / "bin").mkdir()
        (home / "bin/python3").symlink_to(home / "python/bin/python3")
        (environment / "bin/python3").unlink()
        (environment / "bin/python3").symlink_to(home / "bin/python3")
    if kind == "root":
        env = "/"
    for words in (["sandbox", "exec", "--python", env, "--", "true"], ["run", "--task", "rows"]):
        more = [] if words[0] == "sandbox" else ["--tasks-dir", TASKS, "--python", env]
        done = fumehood(*words, *more, status=2)
        assert done.stderr.count("\n") == 1 and "--python" in done.stderr, done.stderr


def test_an_environment_is_the_agents_and_the_graders(fumehood, environment, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "tests/fixtures/mlgym-root", root)
    evaluator = root / "data/coin/evaluate.py"
    evaluator.write_text("import only_there\n" + evaluator.read_text())
    conda = "/home/agent/miniconda3/envs/mlgym_generic/bin/python"
    actions = fumehood.actions(f"hello; {conda} -c 'import only_there; print(1)'", "submit")
    words = ["--mlgym-root", root, "--task", "coin", "--model", actions]
    (done,) = fumehood.run_json(*words, "--python", environment)
    assert done["exit_status"] == "submitted" and done["scores"][0]["Score"] == 0.4
    folder = Path(done["trajectory"]).parent
    steps = json.loads(Path(done["trajectory"]).read_text())["trajectory"]
    assert steps[0]["observation"] == f"here {environment}\n1"
    assert f'python: "{environment}"' in (folder / "args.yaml").read_text()
    said = fumehood("replay", folder, "--mlgym-root", root, status=None).stderr
    assert f"the run had --python {environment}" in said
