# SPDX-License-Identifier: Apache-2.0
"""Files outside the listed root, read-only files inside, devices, setuid programs, layers."""

import os
from pathlib import Path

from conftest import ATTACK, HERE

ROOT = set(
    [
        "bin",
        "dev",
        "etc",
        "fumehood",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "mnt",
        "opt",
        "proc",
        "run",
        "sbin",
        "tmp",
        "usr",
        "var",
    ]
)
DEVICES = [
    "/dev/full",
    "/dev/null",
    "/dev/pts/ptmx",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
]

# Prefixes that could lead out of the sandbox's root when a path of the machine follows.
WAYS = [
    "",
    "/proc/self/root",
    "/proc/self/cwd/../../..",
    f"{ATTACK}/../../..",
    "/..",
    "/dev/fd/0/..",
]


def test_what_is_not_listed_does_not_exist(agent, fumehood):
    assert set(agent.sh("ls -A /").split()) <= ROOT
    hidden = [
        "/sys",
        "/boot",
        "/srv",
        "/root",
        "/etc/shadow",
        "/etc/machine-id",
        "/etc/ssh",
        "/var/log",
    ]
    hidden += [str(HERE), str(fumehood.state), fumehood.program, "/home/agent/../../proc/../root"]
    paths = [way + path for way in WAYS for path in hidden]
    tried = agent.tried(f"python3 {ATTACK}/files.py --open {' '.join(paths)}")
    assert set(tried) == set(paths) and set(tried.values()) <= {"ENOENT", "ENOTDIR"}
    assert agent.tried(f"python3 {ATTACK}/files.py --open /etc/passwd") == {"/etc/passwd": "done"}


def test_files_of_another_episode(agent, neighbour):
    """The agent finds a word that it wrote itself, but not the neighbour's word."""
    agent.sh("for d in ~ /tmp /dev/shm; do echo my-own-word >$d/mine; done")
    look = (
        "grep -rlsI {} ~/* /home /tmp /dev/shm /run /var /mnt /opt /fumehood --exclude-dir=attack"
    )
    assert agent.sh(look.format("my-own-word")).splitlines()
    assert agent.sh(look.format(neighbour.word) + "; true") == ""


TARGETS = """/ /usr /usr/bin/env /bin /etc /etc/passwd /etc/ssl /etc/ld.so.cache /opt /lib64
    /fumehood/bin /fumehood/bin/validate /dev /dev/null /dev/tty /dev/pts /dev/ptmx /var /run
    /run/fumehood /run/fumehood/validate /home /mnt /proc /proc/version /proc/self/exe"""
REFUSALS = {"EROFS", "EACCES", "EPERM", "EXDEV", "EBUSY", "EISDIR", "ENOTDIR", "EINVAL", "ENOENT"}
REFUSALS |= {"ENXIO", "ETXTBSY", "EOPNOTSUPP"}


def test_what_is_listed_stays_as_it_is(agent):
    targets = [*TARGETS.split(), ATTACK, f"{ATTACK}/files.py"]
    tried = agent.tried(f"python3 {ATTACK}/files.py {' '.join(targets)}")
    assert len(tried) == 13 * len(targets)
    allowed = {f"write:{path}" for path in ("/dev/null", "/dev/ptmx", "/run/fumehood/validate")}
    allowed |= {"touch:/dev/ptmx", "touch:/run/fumehood/validate"}  # files of the episode itself
    assert {name for name, result in tried.items() if result == "done"} == allowed
    assert set(tried.values()) <= {"done", *REFUSALS}


def test_devices(agent):
    found = "find /dev -not -type d -not -type l -not -type p | sort"
    assert agent.sh(found).split() == DEVICES
    touch = "for d in /dev/{full,null,random,urandom,zero}; do touch $d; chmod 777 $d; done 2>&1"
    assert agent.sh(f"{touch}; true").count("Read-only file system") == 10
    assert agent.sh("echo x >/dev/null; head -c 2 /dev/zero | wc -c") == "2\n"
    nodes = (
        "for n in 'c 1 1' 'b 254 0' 'c 10 229' 'c 5 1'; do mknod /tmp/n $n && echo made; done 2>&1"
    )
    assert agent.sh(f"{nodes}; true").count("Operation not permitted") == 4
    # Any user may make a character device 0:0, which overlayfs takes for a removed file. So none
    # may get into the workspace.
    agent.sh("mknod /tmp/gone c 0 0 && [ -c /tmp/gone ]")
    assert "Invalid cross-device link" in agent.sh("ln /tmp/gone rows 2>&1; true")
    assert "not permitted" in agent.sh("mknod gone c 0 0 2>&1; [ -s rows.csv ]")


def test_setuid_programs(agent):
    """The dynamic linker prints the user id of a program, and whether it runs with more rights."""
    shows = "LD_SHOW_AUXV=1 {} --version | grep -E 'AT_(EUID|SECURE)' | tr -s ' '"
    plain = "AT_EUID: 1000\nAT_SECURE: 0\n"
    assert agent.sh("find /usr/bin -perm -4000 -user nobody").splitlines()
    assert agent.sh(shows.format("/usr/bin/su")) == plain
    agent.sh("cp /usr/bin/env mine; chmod 6755 mine; cp mine /tmp")
    assert agent.sh(shows.format("./mine")) == agent.sh(shows.format("/tmp/mine")) == plain


def test_setuid_programs_on_the_disk(begin, fumehood):
    """An episode's setuid program lies on the machine's disk. No other user can reach it."""
    episode = begin("prey:disk")
    episode.sh("cp /usr/bin/env mine; chmod 6755 mine")
    (folder,) = (fumehood.state / "episodes").iterdir()
    # Use os.walk(): rglob() fails if files are removed meanwhile, as those of the baseline's
    # episode may be.
    (made,) = (Path(path, "mine") for path, _, files in os.walk(folder) if "mine" in files)
    assert made.stat().st_mode & 0o6000 and made.stat().st_uid not in (0, 1000)
    closed = [
        p for p in made.parents if p.is_relative_to(fumehood.state) and not p.stat().st_mode & 0o1
    ]
    assert closed


XATTRS = """
import os
for folder in (".", "d"):
    os.makedirs(folder, exist_ok=True)
    for name, value in (("opaque", b"y"), ("redirect", b"/../../../etc"), ("whiteouts", b"y")):
        for prefix in ("user.overlay.", "trusted.overlay."):
            try:
                os.setxattr(folder, prefix + name, value)
            except OSError as e:
                print(prefix + name, e.errno)
print("tried")
"""


def test_attributes_that_an_overlay_heeds(agent):
    """An overlay obeys attributes of its layers. Attributes that the agent sets have no effect."""
    agent.sh(f"cat >x.py <<'END'\n{XATTRS}\nEND")
    assert agent.sh("python3 x.py").endswith("tried\n")
    agent.sh("mv d e; mkdir f; mv e f/d; for i in {1..3000}; do : >f/$i; done; rm f/[0-9]*")
    assert agent.sh("ls; ls -A f f/d; cat rows.csv | head -1") == (
        "f\nnone.csv\nright.csv\nrows.csv\nx.py\nf:\nd\n\nf/d:\nid,a,b\n"
    )
