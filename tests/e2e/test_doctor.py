# SPDX-License-Identifier: Apache-2.0
"""fumehood doctor, on machines that lack something. Each is this machine with a part removed."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HINT = "; run `fumehood doctor`"
USER = 54321  # a user without subordinate ids
MOUNTS = "unshare --mount"  # runs a command in a new mount namespace, as root
USER_NAMESPACE = "unshare --map-root-user"
LANDLOCK_CREATE_RULESET = 444
NO_LANDLOCK = f"python3 {ROOT}/tests/e2e/without_call.py {LANDLOCK_CREATE_RULESET}"

# For each case: a check of doctor, a command that runs doctor, and shell commands that break
# something before. Then words of the check's detail and of its advice.
LACKS = [
    ("kernel", "setarch --uname-2.6", "", "Linux 2.6", "a kernel of 6.1 or later"),
    (
        "user namespaces",
        USER_NAMESPACE,
        "echo 0 >/proc/sys/user/max_user_namespaces",
        "No space left",
        "sysctl -w user.max_user_namespaces=",
    ),
    (
        "subordinate ids",
        f"setpriv --reuid={USER} --regid={USER} --clear-groups",
        "",
        "this user has no 65534 subordinate ids",
        f"useradd --uid {USER} NAME",
    ),
    ("sandbox", MOUNTS, "mount -t tmpfs none /proc/sys", "mount '/proc'", "/proc is masked"),
    ("state folder", "env FUMEHOOD_STATE=/proc/x", "", "/proc/x", "set FUMEHOOD_STATE"),
    (
        "control groups",
        MOUNTS,
        "umount -a -t cgroup,cgroup2",
        "memory is limited for each process, not for the episode",
        "make folders in its own group",
    ),
    (
        "unix sockets",
        NO_LANDLOCK,
        '"$0" sandbox exec --network host -- true',
        "agents reach all abstract unix sockets",
        "a kernel of 6.12 or later",
    ),
    ("python", MOUNTS, "mount --bind /dev/null /usr/bin/python3", "can't be run", "python3"),
]


def checks_of(done: subprocess.CompletedProcess) -> dict[str, dict]:
    report = json.loads(done.stdout)
    assert report["ok"] == (done.returncode == 0)
    return {check["name"]: check for check in report["checks"]}


def test_what_it_says_is_so(fumehood):
    """Checks agree with `sandbox exec`: whether sandboxes work, whether limits give warnings."""
    checks = checks_of(fumehood("doctor", "--json", status=None))
    limited = fumehood("sandbox", "exec", "--memory", "512M", "--", "true", status=None)
    assert checks["sandbox"]["ok"] == (limited.returncode == 0)
    if limited.returncode == 0:
        groups = checks["control groups"]
        assert groups["ok"] == ("control groups" not in limited.stderr)
        assert groups["ok"] or groups["detail"] in limited.stderr
    for check in checks.values():
        assert not (check["ok"] and check["fix"]), check


@pytest.mark.parametrize(("name", "wrap", "before", "detail", "fix"), LACKS)
def test_what_is_missing_is_said(fumehood, name, wrap, before, detail, fix):
    if os.geteuid() != 0:
        pytest.skip("only root can take things from a machine")
    script = f'{before or ":"} && exec "$0" doctor --json'
    done = subprocess.run(
        [*wrap.split(), "sh", "-c", script, fumehood.program],
        cwd="/",
        env=fumehood.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if not done.stdout:
        pytest.skip(f"this machine can't be made to lack it: {done.stderr}")
    check = checks_of(done)[name]
    assert not check["ok"]
    assert detail in check["detail"] and fix in check["fix"], check
    assert done.returncode == int(check["required"])


def test_a_program_without_its_plugin_says_how_to_get_it(fumehood):
    shutil.copy(fumehood.program, fumehood.folder / "alone")
    done = subprocess.run(
        [fumehood.folder / "alone", "doctor"],
        env=fumehood.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("FAIL bash plugin "))
    assert lines[at].endswith(" is not there") and "fix: build it: make" in lines[at + 1]
    assert "less control groups   not known without a sandbox" in lines
    assert done.returncode == 1 and lines[-1] == "This machine can't run episodes yet."


def as_root(fumehood, script: str, *args, status: int = 0) -> subprocess.CompletedProcess:
    """Runs a script as root in a new mount namespace. $0 is the program."""
    if os.geteuid() != 0:
        pytest.skip("only root can change what a machine has")
    done = subprocess.run(
        [*MOUNTS.split(), "bash", "-euc", script, fumehood.program, *map(str, args)],
        cwd="/",
        env=fumehood.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


# Runs doctor as two users without subordinate ids, then gives both ids. Changes /etc in its own
# mount namespace only.
TWO_USERS = """
program=$0
mount -t tmpfs none /mnt && mkdir -m 1777 /mnt/{up,work,state} && chmod 755 /mnt/up
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc
sed -i '/^[^:]*:x:100[01]:/d' /etc/passwd
echo taken:100000:65536 >/etc/subuid
echo taken:165545:65536 >/etc/subgid
add() { useradd -MN -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 -u "$@"; }
add 1000 ann
add 1001 ben
add $((100000 + 997 * 65536 + 7)) cat
doctor() {
    setpriv --reuid="$1" --regid=100 --clear-groups \\
        env HOME=/ FUMEHOOD_STATE="/mnt/state/$1" "$program" doctor --json || true
}
ask() { doctor "$1" | jq -r '.checks[] | select(.name == "subordinate ids").fix'; }
ann=$(ask ann) ben=$(ask ben)
printf '%s\\n' "$ann" "$ben"
${ann#as root: } && ${ben#as root: }
cat /etc/subuid
for user in ann ben; do doctor $user | jq .ok; done
"""


def test_two_users_are_given_different_ids(fumehood):
    """The advice names the user, and ids that nobody has. It works when it is run as shown."""
    lines = as_root(fumehood, TWO_USERS).stdout.splitlines()
    advice, given, ok = lines[:2], lines[2:5], lines[5:]
    ranges = [(100000 + n * 65536, 100000 + n * 65536 + 65535) for n in (2 * 997, 1 + 997)]
    assert advice == [
        f"as root: usermod --add-subuids {a}-{b} --add-subgids {a}-{b} {user}"
        for (a, b), user in zip(ranges, ["ann", "ben"], strict=True)
    ]
    assert given[1:] == [f"ann:{ranges[0][0]}:65536", f"ben:{ranges[1][0]}:65536"]
    assert ok == ["true", "true"]


# Turns the folder $1 into a root file system, by mounting this machine's folders into it.
A_ROOT = """
root=$1
cd "$root" && mkdir proc dev sys usr etc tmp state program && ln -s usr/{bin,sbin,lib,lib64} .
mount -t proc none proc
for part in dev sys usr etc; do mount --rbind /$part $part; done
mount --rbind "$(dirname "$0")/.." program
export FUMEHOOD_STATE=/state
"""


@pytest.mark.parametrize("before", ["", 'mount --rbind "$root" "$root"'])
def test_a_chroot_is_said_to_be_one(fumehood, before):
    """doctor tells that it runs in a chroot. The fix that it names works.

    If the root is a mount, the chroot can only be seen by the root of a process outside.
    """
    program = Path(fumehood.program)
    run = f"{program.parent.name}/{program.name}"
    root = fumehood.folder / "root"
    root.mkdir()
    script = f'{A_ROOT}\n{before}\nchroot "$root" /program/{run}'
    said = as_root(fumehood, f"{script} sandbox exec -- true || exit", root, status=125).stderr
    assert said.endswith(f"make a user namespace: Operation not permitted{HINT}\n")
    check = checks_of(as_root(fumehood, f"{script} doctor --json || exit", root, status=1))
    assert check["user namespaces"]["detail"] == "refused, because this is a chroot"
    assert HINT not in check["sandbox"]["detail"]
    way = check["user namespaces"]["fix"].split("as root, outside, ")[1].replace("DIR", str(root))
    as_root(fumehood, f"{A_ROOT}\n{way} <<<'/program/{run} doctor'", root)


def limited(fumehood, limit: str, *args) -> subprocess.CompletedProcess:
    """Runs the program in a user namespace where /proc/sys/user/max_... is too low."""
    if os.geteuid() != 0:
        pytest.skip("only root can map all ids into a user namespace")
    lower = f'echo {limit.replace(" ", " >/proc/sys/user/max_")} && exec "$0" "$@"'
    with subprocess.Popen(
        # The first shell waits until user ids are mapped. The second is executed after that, so it
        # is root.
        ["unshare", "--user", "sh", "-c", 'read go && exec sh -c "$@"', "sh"]
        + [lower, fumehood.program, *map(str, args)],
        env=fumehood.env,
        cwd=fumehood.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        proc = Path(f"/proc/{child.pid}")
        while os.readlink(proc / "ns/user") == os.readlink("/proc/self/ns/user"):
            time.sleep(0.01)
        for name in ("uid_map", "gid_map"):
            (proc / name).write_text("0 0 4294967295\n")
        out, err = child.communicate("go\n", timeout=120)
    return subprocess.CompletedProcess(args, child.returncode, out, err)


LIMITS = [
    "0 user_namespaces",
    "1 user_namespaces",  # a single one is enough for the nursery, but not for a sandbox
    "0 mnt_namespaces",
    "0 pid_namespaces",
    "0 ipc_namespaces",
    "0 uts_namespaces",
    "0 net_namespaces",
    "0 cgroup_namespaces",
]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_missing_namespace_leads_to_doctor(fumehood, limit):
    done = limited(fumehood, limit, "sandbox", "exec", "--", "true")
    assert done.returncode in (125, 126) and done.stderr.endswith(
        f"No space left on device{HINT}\n"
    )


COMMANDS = [
    "sandbox exec -- true",
    "run --task titanicSurvival:micro",
    "env --task titanicSurvival:micro",
    f"task check --run {ROOT}/tasks/titanicSurvival",
    "bench --only reset",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_without_ids_leads_to_doctor(fumehood, command):
    if os.geteuid() != 0:
        pytest.skip("only root can become a user without ids")
    script = 'mount -t tmpfs -o mode=1777 none /mnt && cd /mnt && HOME=/mnt exec "$@"'
    done = subprocess.run(
        [*MOUNTS.split(), "sh", "-c", script, "sh"]
        + [*f"setpriv --reuid={USER} --regid={USER} --clear-groups".split()]
        + ["env", "-u", "FUMEHOOD_STATE", fumehood.program, *command.split()],
        input='{"op":"reset"}\n',
        env=fumehood.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = (done.stdout + done.stderr).replace('"', "")
    assert f"this user has no 65534 subordinate ids in /etc/subuid{HINT}\n" in said


def test_a_shortage_does_not_lead_to_doctor(fumehood):
    """doctor would not find a lack of descriptors, so that the message ends with the reason."""
    said = []
    for most in range(8, 24):
        done = subprocess.run(
            ["prlimit", f"--nofile={most}", fumehood.program, "sandbox", "exec", "--", "true"],
            env=fumehood.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said.append(done.stderr)
    if os.geteuid() == 0:  # root writes uid_map itself
        assert any("/uid_map: Too many open files" in text for text in said), said
    assert not any(HINT in text for text in said), said
