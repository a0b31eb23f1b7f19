# SPDX-License-Identifier: Apache-2.0
"""An installed copy works without the source, for all users. Removing it leaves nothing behind."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.once

INSTALL = ROOT / "scripts/install"
# Search path of the distribution's meson, without /usr/local, which could have another meson.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture(scope="module")
def build(program: str) -> Path:
    if os.geteuid() != 0:
        pytest.skip("only root may install into /opt and /usr/local, which sandboxes see")
    return Path(program).resolve().parent


def installer(build: Path, *args: str, **variables: object) -> subprocess.CompletedProcess:
    env = {"PATH": PATH, "BUILD": str(build), **{k: str(v) for k, v in variables.items()}}
    return subprocess.run(
        [INSTALL, *args], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def prefix(build: Path) -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="fumehood-test-", dir="/opt"))
    root.chmod(0o755)
    try:
        done = installer(build, PREFIX=root / "prefix")
        assert done.returncode == 0, done.stderr
        yield root / "prefix"
    finally:
        shutil.rmtree(root)


def test_an_installed_copy_plays_a_task(prefix: Path, tmp_path: Path) -> None:
    out = subprocess.run(
        [prefix / "bin/fumehood", "run", "--task", "titanicSurvival:micro", "--model", "demo"]
        + ["--out", tmp_path, "--json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(out.splitlines()[-1])["exit_status"] == "submitted"


def test_the_simulators_of_an_installed_copy_can_be_imported(prefix: Path) -> None:
    done = subprocess.run(
        [
            "/usr/bin/python3",
            "-B",
            "-c",
            "import simulators; print(simulators.make_vec('MetaMaze'))",
        ],
        env={"PYTHONPATH": str(prefix / "libexec/fumehood/python")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "VectorEnv" in done.stdout


def test_its_hidden_files_do_not_exist_for_agents(prefix: Path) -> None:
    hidden = prefix / "share/fumehood/tasks/titanicSurvival"
    assert hidden.is_dir()
    shown = subprocess.run(
        [prefix / "bin/fumehood", "sandbox", "exec", "--"]
        + ["sh", "-c", f"ls -d {prefix}/bin; ls {hidden}; find {prefix} -name solve.py"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert shown.split() == [f"{prefix}/bin"]


def test_manual_pages_and_completions_are_where_they_are_looked_for(prefix: Path) -> None:
    def said(*args: str) -> str:
        return subprocess.run(
            [prefix / "bin/fumehood", "help", *args], capture_output=True, text=True, check=True
        ).stdout

    assert (prefix / "share/man/man1/fumehood-task-list.1").is_file()
    for shell, place in [
        ("bash", "bash-completion/completions/fumehood"),
        ("fish", "fish/vendor_completions.d/fumehood.fish"),
        ("zsh", "zsh/site-functions/_fumehood"),
    ]:
        assert (prefix / "share" / place).read_text() == said("--completion", shell)


def test_documents_and_licences_are_complete(prefix: Path) -> None:
    """Links in installed pages lead to installed files, except links to source code."""
    docs = prefix / "share/doc/fumehood"
    assert "Apache License" in (docs / "LICENSE").read_text()
    assert "GNU GENERAL PUBLIC LICENSE" in (docs / "LICENSE.GPL-3.0").read_text()
    pages = sorted(docs.rglob("*.md"))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} < {page.name for page in pages}
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
            source = link.startswith(("../bench", "../tools"))
            assert source or (page.parent / link).exists(), (page, link)


# Sets up a mount namespace with an /etc and /usr/local of its own, and a user `ann` in it. useradd
# gives ann subordinate ids.
MACHINE = """
mount -t tmpfs none /mnt && mkdir -m 1777 /mnt/{up,work,home} && chmod 755 /mnt/up
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc
mount -t tmpfs -o mode=755 none /usr/local
touch /etc/subuid /etc/subgid
userdel ann 2>/dev/null || true
useradd -MN -d /mnt/home -u 54999 ann
as_ann() { setpriv --reuid=54999 --regid=100 --clear-groups env HOME=/mnt/home "$@"; }
cd /mnt/home
"""


def on_a_machine(build: Path, script: str) -> str:
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-euo", "pipefail", "-c", MACHINE + script, INSTALL],
        env={"PATH": PATH, "BUILD": str(build), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


@pytest.mark.long
def test_programs_find_the_library_and_users_the_program(build: Path) -> None:
    """pkg-config finds the library for a C program. Another user can run the installed program."""
    if build.name != "build":
        pytest.skip("a program without sanitizers can't use a library with them")
    shown = on_a_machine(
        build,
        """
        "$0" >/dev/null
        cp /usr/local/share/doc/fumehood/examples/step.c .
        cc step.c $(pkg-config --cflags --libs fumehood) -o step
        as_ann ./step | tail -n 1
        as_ann /usr/local/bin/fumehood run --task titanicSurvival:micro --model demo --json |
            tail -n 1 | jq -r .exit_status
        "$0" --remove
        find /usr/local -mindepth 1
        ldconfig -p | grep -c fumehood || true
        """,
    )
    assert shown.splitlines() == ["4 environments stepped at once", "submitted", "0"]


@pytest.mark.long
def test_a_user_without_rights_reads_one_sentence(build: Path) -> None:
    shown = on_a_machine(
        build,
        """
        as_ann "$0" 2>&1 || echo $?
        as_ann PREFIX=/mnt/home/own "$0" 2>&1 || echo $?
        mkdir -p ro/share && mount --bind ro/share ro/share && mount -o remount,bind,ro ro/share
        PREFIX=/mnt/home/ro "$0" 2>&1 || echo $?
        find /usr/local own ro -mindepth 1 2>/dev/null || true
        """,
    )
    advice = "run make as root, or choose a folder of yours, as in make install PREFIX=$HOME/.local"
    assert shown.splitlines() == [
        f"fumehood: /usr/local can't be written: {advice}",
        "1",
        f"fumehood: {build} belongs to another user: make a copy of this folder and install from there",
        "1",
        f"fumehood: /mnt/home/ro/share can't be written: {advice}",
        "1",
        "ro/share",
    ]


@pytest.mark.long
def test_another_version_replaces_all_of_the_last(build: Path, tmp_path: Path) -> None:
    """Removing keeps folders that existed before, or that hold other files."""
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    prefix.chmod(0o700)
    assert installer(build, PREFIX=prefix).returncode == 0
    listed = prefix / "share/fumehood/installed-files"
    old = prefix / "share/fumehood/tasks/old"
    old.mkdir()
    (old / "task.yaml").touch()
    (prefix / "share/mine").touch()
    names = [*listed.read_text().split("\n")[:-1], "share/fumehood/tasks/old/"]
    names.append("share/fumehood/tasks/old/task.yaml")
    listed.write_text("".join(f"{name}\n" for name in sorted(names)))
    done = installer(build, PREFIX=prefix)
    assert done.stdout == f"Installed in {prefix}. To remove it: make uninstall PREFIX={prefix}\n"
    assert not old.exists() and (prefix / "bin/fumehood").exists()
    assert prefix.stat().st_mode & 0o777 == 0o700
    assert installer(build, "--remove", PREFIX=prefix).returncode == 0
    left = sorted(str(p.relative_to(prefix)) for p in prefix.rglob("*"))
    assert left == ["bin", "share", "share/mine"]
    done = installer(build, "--remove", PREFIX=prefix)
    assert done.returncode == 1
    assert done.stderr == f"fumehood: nothing is installed in {prefix}\n"


@pytest.mark.long
def test_a_package_is_made_beneath_destdir(build: Path, tmp_path: Path) -> None:
    done = installer(build, PREFIX="/usr", DESTDIR=tmp_path / "root")
    assert done.stdout.endswith(f"make uninstall PREFIX=/usr DESTDIR={tmp_path}/root\n")
    (config,) = (tmp_path / "root/usr").rglob("fumehood.pc")
    assert config.read_text().startswith("prefix=/usr\n")


@pytest.mark.long
def test_a_disk_that_is_full_leaves_nothing(build: Path) -> None:
    shown = on_a_machine(
        build,
        """
        mount -t tmpfs -o size=1M none /usr/local
        "$0" 2>&1 || echo $?
        find /usr/local -mindepth 1
        """,
    )
    said, *rest = shown.splitlines()
    assert said.startswith("fumehood: nothing is installed: ") and "No space left" in said
    assert rest == ["1"]
