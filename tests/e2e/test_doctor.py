# SPDX-License-Identifier: Apache-2.0
"""fumehood doctor: what it says of machines that lack something, each made of this one."""

import json
import os
import shutil
import subprocess

import pytest

USER = 54321  # who has no subordinate ids
MOUNTS = "unshare --mount"  # of its own, as root
USER_NAMESPACE = "unshare --map-root-user"

# The check, what to run the program with, commands before it, and words of its detail and its fix.
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
        "usermod --add-subuids",
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
    ("python", MOUNTS, "mount --bind /dev/null /usr/bin/python3", "can't be run", "python3"),
]


def checks_of(done: subprocess.CompletedProcess) -> dict[str, dict]:
    report = json.loads(done.stdout)
    assert report["ok"] == (done.returncode == 0)
    return {check["name"]: check for check in report["checks"]}


def test_what_it_says_is_so(fumehood):
    """Of control groups: whoever may use them is warned of nothing when there is a limit."""
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
