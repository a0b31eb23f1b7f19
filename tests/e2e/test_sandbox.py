# SPDX-License-Identifier: Apache-2.0
"""fumehood sandbox exec: descriptors, names of hosts, and Python environments."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, TASKS, Door

KERNEL = [int(number) for number in re.findall(r"\d+", os.uname().release)[:2]]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_folder_is_not_handed_in(fumehood, number):
    """A descriptor of a folder is refused, because it would lead out of the sandbox."""
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
    assert child.returncode == 125 and not shown
    if number != 2:
        assert f"descriptor {number} is a folder" in said


@pytest.mark.parametrize("network", ["none", "host"])
def test_a_sandbox_can_look_up_its_own_name(fumehood, network):
    """torchrun looks up its own host's name, and would wait for its timeout."""
    words = ["--network", network, "--", "sh", "-c", "getent hosts $(hostname) localhost"]
    names = [line.split()[1] for line in fumehood("sandbox", "exec", *words).stdout.splitlines()]
    assert "fumehood" in names and "localhost" in names


@pytest.mark.parametrize("words", ["exec --json -- echo hi", "shell --json"])
def test_the_output_is_not_ours_to_print_as_json(fumehood, words):
    done = fumehood("sandbox", *words.split(), status=125)
    assert done.stdout == "" and "--json would print nothing: output and exit status" in done.stderr


# --- Python environments bound into a sandbox -----------------------------------------------------


@pytest.fixture
def environment(tmp_path) -> Path:
    """A virtual environment in a user's home, made by a Python in the same home."""
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


@pytest.mark.parametrize(
    "kind", ["missing", "file", "empty", "home", "base is home", "root", "closed", "rx", "usr"]
)
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
    if kind == "closed":
        env.chmod(0o750)
    if kind == "rx":
        env = f"{env}:rx"
    if kind == "usr":
        env = "/usr:rw"
    for words in (["sandbox", "exec", "--python", env, "--", "true"], ["run", "--task", "rows"]):
        more = [] if words[0] == "sandbox" else ["--tasks-dir", TASKS, "--python", env]
        done = fumehood(*words, *more, status=125 if words[0] == "sandbox" else 2)
        assert done.stderr.count("\n") == 1 and "Python environment " in done.stderr, done.stderr


@pytest.mark.parametrize("loop", [False, True])
def test_an_interpreter_behind_a_link_that_leads_nowhere(fumehood, tmp_path, loop):
    """A moved environment, or one of another machine, has a broken link to its interpreter."""
    bin_folder = tmp_path / "env/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python3").symlink_to("python")
    (bin_folder / "python").symlink_to("python3" if loop else "/nowhere/python3.11")
    told = fumehood("run", "--task", "rows", "--python", tmp_path / "env", status=2).stderr
    end = "Too many levels" if loop else "'/nowhere/python3.11': No such file"
    assert "its bin/python3 is a link that can't be followed to '" in told and end in told


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


# --- Python environments bound as writable --------------------------------------------------------


def tree(folder: Path) -> dict:
    """Modes of all files beneath a folder, and contents of regular files, by path."""
    found = sorted(p for p in folder.rglob("*") if p.name != "__pycache__")
    return {
        str(p): (p.lstat().st_mode, p.read_bytes() if p.is_file() else None)
        for p in found
        if "__pycache__" not in p.parts
    }


def site_of(environment: Path) -> Path:
    (site,) = environment.glob("lib/python3*/site-packages")
    return site


@pytest.mark.parametrize("disk", ["memory", "disk"])
def test_an_environment_can_be_written_to(fumehood, environment, disk):
    """A sandbox can change an environment with :rw. The one on this machine stays the same."""
    site = site_of(environment)
    closed = environment / "private"
    closed.mkdir()
    (closed / "file").write_text("mine")
    closed.chmod(0o700)
    (site / "part").mkdir()
    (site / "part/old.py").write_text("A = 1\n")
    link = environment.parent.parent.parent / "link"
    link.symlink_to(environment)
    before = tree(environment)

    def run(*lines: str, env: object = environment, more=()) -> list:
        script = ["exec 2>&1", f"cd {site}", *lines]
        words = ["sandbox", "exec", "--disk-on", disk, "--python", f"{env}:rw", *more]
        done = fumehood(*words, "--", "bash", "-c", "\n".join(script), status=None)
        return done.stdout.splitlines()

    assert run(f"touch new {environment}/bin/tool", "ls -d new", f"ls {environment}/bin") == [
        *("new", "hello", "python", "python3", "tool")
    ]
    assert run("ls new") == ["ls: cannot access 'new': No such file or directory"]
    assert run("sed -i s/here/there/ only_there.py", "hello") == [f"there {environment}"]
    assert run("rm -r part", "mkdir part", "ls part", "echo x >part/a", "cat part/a") == ["x"]
    assert run("mv part other", "ls other") == ["old.py"]
    assert run(f"touch new; ls {link}/{site.relative_to(environment)}/new", env=link) == [
        f"{link}/{site.relative_to(environment)}/new"
    ]
    # Files of a bound environment belong to another user: an agent can replace them, but not change
    # them.
    assert "Permission denied" in run("echo x >>only_there.py")[0]
    assert "Operation not permitted" in run("chmod 777 only_there.py")[0]
    # Files that other users may not read stay unreadable in the sandbox.
    assert all("Permission denied" in line for line in run(f"cat {closed}/file; ls {closed}"))
    if disk == "memory" and KERNEL >= [6, 6]:  # older kernels keep the changes on the disk
        full = run("head -c 9M /dev/zero >big; wc -c <big", more=("--disk", "4M"))
        assert "No space left on device" in full[0] and int(full[1]) < 5 << 20
    assert tree(environment) == before


def test_an_environment_inside_its_base_is_written_to(fumehood, environment):
    """The installation around an environment stays read-only, and does not hide it."""
    base = environment.parent.parent / "python"
    inside = base / "envs/mine"
    shutil.copytree(environment, inside, symlinks=True)
    script = f"touch {inside}/new && ls {inside}/new; touch {base}/new"
    words = ["sandbox", "exec", "--python", f"{inside}:rw", "--", "sh", "-c", script]
    done = fumehood(*words, status=1)
    assert done.stdout == f"{inside}/new\n" and "Read-only file system" in done.stderr
    assert not (inside / "new").exists()


def wheel(folder: Path, version: str) -> Path:
    path = folder / f"tiny-{version}-py3-none-any.whl"
    info = f"tiny-{version}.dist-info"
    files = {
        "tiny/__init__.py": f"V = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as out:
        for name, text in files.items():
            out.writestr(name, text)
    return path


@pytest.mark.once
@pytest.mark.long
def test_pip_installs_for_an_episode(fumehood, tmp_path):
    """pip installs, upgrades and removes packages in an episode. The next episode begins anew."""
    env, wheels = tmp_path / "env", tmp_path / "wheels"
    wheels.mkdir()
    old, new = wheel(wheels, "1.0"), wheel(wheels, "2.0")
    subprocess.run(["/usr/bin/python3", "-m", "venv", env], check=True)
    pip = [env / "bin/pip", "install", "-q", "--no-index", "--no-compile"]
    subprocess.run([*pip, old], check=True)
    before = tree(env)
    words = ["--task", "rows", "--max-steps", "100", "--bind", wheels, "--python", f"{env}:rw"]
    door = Door(fumehood, *words)
    shown = "python -c 'import tiny; print(tiny.V)'"
    gone = "ModuleNotFoundError: No module named 'tiny'"
    for _ in range(2):
        door.ask(op="reset", seed=0)
        assert door.step(shown)["observation"] == "1.0\n"
        assert door.step(f"touch {site_of(env)}/new")["info"]["exit_code"] == 0
        step = door.step(f"pip install -q --no-index -U {new} && {shown}")
        assert step["observation"] == "2.0\n"
        assert door.step(f"ls {site_of(env)}/new && {shown}")["observation"].endswith("new\n2.0\n")
        assert gone in door.step(f"pip uninstall -qy tiny && {shown}")["observation"]
    assert door.end() == 0
    assert tree(env) == before


def test_graders_have_the_environment_as_it_is_on_disk(fumehood, environment, tmp_path):
    """Graders ignore an agent's changes: modules, startup files of Python, the interpreter."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "tests/fixtures/mlgym-root", root)
    evaluator = root / "data/coin/evaluate.py"
    looks = "import only_there, sys, importlib.util as u\nassert only_there.HERE == 'here'\n"
    looks += "assert not u.find_spec('planted')\n"
    evaluator.write_text(looks + evaluator.read_text())
    site = site_of(environment)
    cheat = "print('{\"Score\": 99}'); import os; os._exit(0)"
    plant = f"""cd {site}; echo "HERE = 'planted'" >/tmp/x; mv /tmp/x only_there.py
echo 1 >planted.py; printf '%s' {json.dumps(cheat).replace("$", "")} >/tmp/cheat
cp /tmp/cheat sitecustomize.py; cp /tmp/cheat usercustomize.py
echo 'import planted' >planted.pth
rm {environment}/bin/python3; printf '#!/bin/sh\necho cheat\n' >{environment}/bin/python3
chmod 755 {environment}/bin/python3; cat only_there.py; python3"""
    actions = fumehood.actions(plant, "submit")
    words = ["--mlgym-root", root, "--task", "coin", "--model", actions]
    (done,) = fumehood.run_json(*words, "--python", f"{environment}:rw")
    assert done["exit_status"] == "submitted" and done["scores"][0]["Score"] == 0.4
    folder = Path(done["trajectory"]).parent
    steps = json.loads(Path(done["trajectory"]).read_text())["trajectory"]
    assert steps[0]["observation"] == "HERE = 'planted'\ncheat"
    assert f'python: "{environment}:rw"' in (folder / "args.yaml").read_text()
    again = ["replay", folder, "--mlgym-root", root, "--out", tmp_path / "again"]
    assert f"the run had --python {environment}:rw" in fumehood(*again, status=None).stderr
    assert "the run had" not in fumehood(*again, "--python", f"{environment}:rw").stderr


def test_both_sides_of_a_duel_have_the_environment(fumehood, environment, tmp_path):
    fumehood("task", "new", "coins", "--grader", "duel", "--tasks-dir", tmp_path)
    for program in ("grader/judge.py", "starter/strategy.py"):
        path = tmp_path / "coins" / program
        path.write_text(f"import only_there\n{path.read_text()}")
    words = ["--task", tmp_path / "coins", "--model", fumehood.actions("submit")]
    (done,) = fumehood.run_json(*words, "--python", environment)
    assert done["exit_status"] == "submitted" and 0 < done["best"]["Score"] < 1
