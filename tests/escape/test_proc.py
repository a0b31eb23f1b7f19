# SPDX-License-Identifier: Apache-2.0
"""/proc, /sys and control groups: an agent sees its own processes, and can change nothing else."""

import os

import pytest

WRITABLE = """
import os
for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [f for f in folders if not f.isdigit() and f not in ("self", "thread-self")]
    for path in (os.path.join(folder, f) for f in files):
        try:
            print("tried", flush=True) if path == "/proc/version" else None
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.write(fd, b"1")
            print("wrote", path)
        except OSError:
            pass
"""


def test_switches_of_the_kernel(agent):
    agent.sh(f"cat >w.py <<'END'\n{WRITABLE}\nEND")
    assert agent.sh("python3 w.py") == "tried\n"


CLOSED = [
    "auxv",
    "cwd",
    "environ",
    "exe",
    "fd",
    "fdinfo",
    "io",
    "map_files",
    "maps",
    "mem",
    "ns",
    "ns/mnt",
    "ns/user",
    "numa_maps",
    "pagemap",
    "personality",
    "root",
    "smaps",
    "stack",
    "syscall",
    "timers",
]


@pytest.mark.parametrize("pid", ["1", "$$"])
def test_processes_that_are_trusted(agent, pid):
    """The agent can't open files of PID 1 and the shell in /proc. They began as the nursery."""
    names = " ".join([*CLOSED, "status"])
    look = f"ls /proc/{pid}/$f/. || head -c 1 /proc/{pid}/$f"
    opened = agent.sh(f"for f in {names}; do ({look}) >/dev/null 2>&1 && echo $f; done")
    assert opened.split() == ["status"]


KERNEL = [
    "kcore",
    "kmsg",
    "sysrq-trigger",
    "timer_list",
    "sched_debug",
    "vmallocinfo",
    "slabinfo",
    "pagetypeinfo",
    "kpagecount",
    "kpageflags",
    "kpagecgroup",
    "acpi/wakeup",
    "mtrr",
    "scsi/scsi",
]


def test_files_of_the_kernel(agent):
    for name in KERNEL:
        assert agent.step(f"head -c 1 /proc/{name} >x && [ -s x ]")["info"]["exit_code"] == 1, name
    assert set(agent.sh("cut -d ' ' -f 1 /proc/kallsyms | uniq").split()) <= {"0" * 16}
    assert agent.sh("cat /proc/keys /proc/net/unix | grep -v RefCount; true") == ""


def test_processes_of_others(agent, neighbour):
    """Processes of others have no pid here. The pids that they have outside are not found."""
    assert set(agent.sh("cat /proc/[0-9]*/comm").split()) <= {"init", "porter", "bash", "cat"}
    missing = [p for p in (agent.pid, neighbour.pid, os.getpid()) if p > 1000]
    for pid in missing:
        assert "No such file" in agent.sh(f"ls /proc/{pid} 2>&1")
    assert missing or os.getpid() <= 1000


def test_control_groups(agent):
    """The agent is at the root of its control group namespace, and sees no cgroup file system."""
    groups = agent.sh("cut -d : -f 3 /proc/self/cgroup").split()
    assert groups and set(groups) == {"/"}
    assert (
        agent.sh("find / -xdev -name 'cgroup.*' -o -name 'memory.*limit*' -o -name pids.max") == ""
    )
    assert agent.sh("grep -c cgroup /proc/self/mountinfo; true") == "0\n"
    assert agent.sh("ls /sys 2>&1; true").endswith("No such file or directory\n")


def test_its_own_switches(agent):
    """A process can't raise its priority, and can't write a uid_map."""
    assert "denied" in agent.sh("echo -1000 2>&1 >/proc/self/oom_score_adj")
    assert "not permitted" in agent.sh("python3 -c 'import os; os.nice(-1)' 2>&1; true")
    assert "not permitted" in agent.sh("chrt -f 1 true 2>&1; true")
    assert "denied" in agent.sh("(echo 0 0 1 >/proc/$BASHPID/uid_map) 2>&1; true")
