# SPDX-License-Identifier: Apache-2.0
"""Makes a bare Debian 12 by mmdebstrap, and runs commands in it as in a machine of its own."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
FOLDER = PROJECT / "build/clean"
ROOT, DEBS, LOG = FOLDER / "root", FOLDER / "debs", FOLDER / "log"
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
ORIGIN = "/srv/fumehood.git"  # stands for <this repository> in README.md
PROXIES = "http_proxy,https_proxy,no_proxy"


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def run_logged(argv: list[str], **kwargs) -> subprocess.CompletedProcess:
    """Runs a command, and adds its output and errors to the log."""
    done = subprocess.run(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        **({"stdin": subprocess.DEVNULL} if "input" not in kwargs else {}),
        **kwargs,
    )
    with LOG.open("a") as log:
        log.write(f"\n$ {argv[-1]}\n{done.stdout}")
    return done


def package_source() -> str:
    """This machine's list of Debian's packages. Raises Skipped if no root can be made here."""
    if Path("/run/clean-root").exists():
        raise Skipped("this is a clean root already")
    if os.geteuid() != 0:
        raise Skipped("needs root, to make a root file system and to enter it")
    if not shutil.which("mmdebstrap"):
        raise Skipped("mmdebstrap is not installed")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        raise Skipped("no mount and pid namespace can be made here")
    for source in SOURCES:
        if Path(source).is_file() and re.search(r"^\s*[^#\s]", Path(source).read_text(), re.M):
            return source
    raise Skipped("this machine has no package source of Debian's")


def make_root() -> None:
    """Makes a bare Debian 12: essential packages and apt, without lists of packages."""
    source = package_source()
    shutil.rmtree(ROOT, ignore_errors=True)
    DEBS.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    settings = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True)
    kept = re.findall(r"^Acquire::(?:Check-|https?::|Retries).*;$", settings.stdout, re.MULTILINE)
    archives = '"$1/var/cache/apt/archives"'
    made = run_logged(
        [
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            "--skip=download/empty,essential/unlink,cleanup/apt/cache",
            *(f"--aptopt={line}" for line in kept),
            "--dpkgopt=force-unsafe-io",  # faster: the root need not survive a loss of power
            f"--setup-hook=mkdir -p {archives} && mount --bind '{DEBS}' {archives}",
            f"--customize-hook=umount {archives}",
            "bookworm",
            str(ROOT),
            source,
        ]
    )
    if made.returncode and "downloading packages" not in made.stdout:
        raise Skipped(f"the package source can't be reached: {made.stdout.splitlines()[-1]}")
    if made.returncode:
        raise Failed(made.stdout)
    (ROOT / "etc/hosts").write_text("127.0.0.1 localhost clean\n")
    # Let git clone the repository for any user: it belongs to root, and git would refuse.
    (ROOT / "etc/gitconfig").write_text("[safe]\n\tdirectory = *\n")
    push_working_tree(ROOT / ORIGIN[1:])


def push_working_tree(bare: Path) -> None:
    """Makes the repository that the tests clone: HEAD, and a commit with the working tree."""
    env = os.environ | {"GIT_INDEX_FILE": str(FOLDER / "index")}

    def git(*args: str) -> str:
        return subprocess.run(
            ["git", "-C", PROJECT, *args], env=env, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("read-tree", "HEAD")
    git("add", "--all")
    who = ("-c", "user.name=clean", "-c", "user.email=clean")
    commit = git(*who, "commit-tree", git("write-tree"), "-p", "HEAD", "-m", "The working tree")
    git("init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git("push", "--quiet", str(bare), f"{commit}:refs/heads/main")


class Machine:
    """A root whose PID 1 runs. Calling it runs a command there."""

    def __init__(self, pid: int):
        self.join = ["nsenter", "-t", str(pid), "-m", "-p", "-i", "-u"]

    def words(self, command: str, user: str) -> list[str]:
        """The command line that runs a command as after the user's login."""
        return [*self.join, "su", "-w", PROXIES, "-", user, "-c", command]

    def __call__(self, command: str, user: str = "root", status: int | None = 0, **kwargs) -> str:
        done = run_logged(self.words(command, user), **kwargs)
        if status is not None and done.returncode != status:
            last = "\n".join(done.stdout.splitlines()[-40:])
            raise Failed(f"{command}\nexit status {done.returncode}, not {status}\n{last}")
        return done.stdout

    def show(self, command: str, user: str) -> str:
        """Runs a command, prints its output while it runs, and returns it."""
        lines = []
        with subprocess.Popen(
            self.words(command, user), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as child:
            for line in child.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        return "".join(lines)


@contextlib.contextmanager
def entered() -> Iterator[Machine]:
    """A machine that ends, with all of its processes, at the end of the `with` block."""
    unshare = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    with subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *unshare, str(HERE / "enter"), str(ROOT), str(DEBS)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as outer:
        try:
            if outer.stdout.readline() != "ready\n":
                raise Failed("the root can't be entered")
            children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text()
            yield Machine(int(children.split()[0]))
        finally:
            outer.kill()
