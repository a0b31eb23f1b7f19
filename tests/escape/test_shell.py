# SPDX-License-Identifier: Apache-2.0
"""Actions that attack their own shell. It goes on, or a new shell starts in the same files.

A row is an action and the exit status that it must have.
"""

import pytest

ENDS = [
    ("exit 3", 3),
    ("eval 'exit 7'", 7),
    ("source <(echo exit 8)", 8),
    ("set -e; false", 1),
    ("set -o posix; . /nonexistent", 1),
    ("trap 'exit 4' EXIT; exit 5", 4),
    ("trap 'exit 6' DEBUG; true", 6),
    ("exec sleep 0", 0),
    ("exec bash", 0),
    ("exec /nonexistent", 127),
    ("exec -c -a init bash -c 'exit 5'", 5),
    ("kill -9 $$", 137),
    ("kill -9 0", 137),
    ("bash -c 'kill -9 $PPID'", 137),
    ("python3 -c 'import os; os.kill(-1, 9)'", 137),
    ("kill -TERM $$", 143),
    ("kill -SEGV $$", 139),
    ("kill -RTMAX $$", 192),
    ("ulimit -Sc unlimited; kill -ABRT $$", 134),
    ("ulimit -f 0; echo x >f", 153),
    ("exec 250>&-", 125),
    ("exec 251>&-", 125),
    ("exec 252<&-", 125),
    ('for i in {3..400}; do eval "exec $i>&-"; done', 125),
]

GOES_ON = [
    ("(exit 9)", 9),
    ("kill -9 1", 1),
    ("kill -9 -1", 0),
    ("for s in {1..64}; do kill -$s 1 || x=$x.; done; (( ${#x} == 64 ))", 0),
    ("kill -STOP $$", 0),
    ("bash -c 'kill -STOP $PPID'", 0),
    ("kill -TTIN $$; kill -TSTP $$; kill -QUIT $$; suspend -f", 0),
    ("while :; do kill -STOP $$; done & sleep 0.1", 0),
    ("kill -63 $$", 130),
    ("trap '' {1..64} DEBUG ERR EXIT RETURN", 0),
    ("for s in {1..64} EXIT ERR RETURN; do trap 'echo caught' $s; done", 0),
    ("exec 0<&- 1>&- 2>&-", 0),
    ("exec </dev/full >/dev/null 2>&1", 0),
    ("exec 250</dev/null 251>/tmp/mine 252</etc/passwd", 0),
    ("exec 253<&-", 0),
    ("read -t 0.1 -u 250 y; true", 0),
    ("echo forged >&253", 1),
    ("echo forged >&250", 1),
    ("head -c 8 /dev/zero >&250", 0),
    (
        "head -c 8 /dev/zero | tr '\\0' '\\1' >&250; (while :; do printf 12345678; done >&250 2>/dev/null) &",
        0,
    ),
    ("read -t 0.1 -u 249 stolen; true", 0),
    ("python3 -c 'import fcntl; fcntl.fcntl(1, fcntl.F_SETFL, 2048)'", 0),
    ("python3 -c 'import fcntl; fcntl.fcntl(1, 1031, 4096)'", 0),
    ("set -n", 0),
    ("set -k -f -u -v -x -C", 0),
    ("shopt -s extdebug lastpipe; trap 'kill -9 $$' EXIT", 0),
    ("enable -n echo printf cd exit eval kill; enable -n enable", 0),
    ("enable -d fumehood", 1),
    ("fumehood 3", 127),
    ("ulimit -n 3", 0),
    ("ulimit -u 0", 0),
    ("ulimit -v 1", 0),
    ("ulimit -d 1", 0),
    ("umask 777; cd /proc/self/fd", 0),
    ("chmod 000 ~ .; cd /", 0),
    ("rm -rf ~/workspace; cd ..; true", 0),
    ("declare -n LAST_ACTION='a[$(sleep 60)]'", 0),
    ("readonly LAST_ACTION PWD OLDPWD; declare -i PWD", 0),
    ("PATH=; HOME=/nonexistent; TMOUT=1; unset PWD IFS", 0),
    ("PROMPT_COMMAND='exit 9'; PS0='$(exit 9)'; PS1='$(exit 9)'; PS4='$(exit 9)'", 0),
    ("BASH_ENV=/tmp/x ENV=/tmp/x LD_PRELOAD=/tmp/x; export BASH_ENV ENV LD_PRELOAD", 0),
    ("command_not_found_handle() { exit 77; }; nosuchcommand", 77),
    ("sleep 60 & disown -a; coproc cat; bg; fg; true", 0),
    ("((a = 1 / 0))", 1),
]

HANGS = [
    "while :; do :; done",
    "wait & wait; sleep 60 & wait",
    "coproc cat; wait",
    "for s in {1..64}; do trap '' $s; done; sleep 60",
    "for s in {1..64}; do trap 'echo caught' $s; done; sleep 60",
    "trap 'while :; do :; done' EXIT; exit 5",
    "[[ $(sleep 60) ]]",
    "exec bash -c 'trap \"\" {1..62}; sleep 60'",
]

NOT_RUN = ["((", "$(", "'", "case", "echo ran\nif", "function"]


@pytest.mark.parametrize("action,status", ENDS)
def test_a_shell_that_ends(agent, action, status):
    agent.sh("echo kept >kept")
    info = agent.step(action)["info"]
    assert (info["outcome"], info["exit_code"]) == ("shell_restarted", status)
    assert agent.sh("cat kept; echo $x") == "kept\n\n"


@pytest.mark.parametrize("action,status", GOES_ON)
def test_a_shell_that_goes_on(agent, action, status):
    agent.sh("variable=kept")
    info = agent.step(action)["info"]
    assert (info["outcome"], info["exit_code"]) == ("ok", status)
    assert agent.step("[[ $variable == kept ]]")["info"]["exit_code"] == 0


@pytest.mark.parametrize("action", HANGS)
def test_a_shell_that_hangs(agent, action):
    info = agent.step(action, timeout_s=0.3)["info"]
    assert info["outcome"] == "timeout" and info["exit_code"] > 128


def test_what_does_not_parse(agent):
    for action in NOT_RUN:
        answer = agent.step(action)
        assert answer["info"]["outcome"] == "syntax_error" and "ran\n" not in answer["observation"]


REDEFINE = """
    shopt -s expand_aliases
    for name in $(enable | cut -d ' ' -f 2); do
        case $name in .|:|\\[) continue ;; esac
        all+="$name() { ((lied++)); }; alias $name=nothing;"
    done
    eval "$all"
"""


def test_every_builtin_redefined(agent):
    """Functions and aliases replace all builtins. The command loop calls none of them."""
    assert agent.step(REDEFINE)["info"]["outcome"] == "ok"
    answer = agent.step("\\cd /; \\echo on42; \\printf on42; \\command ls; \\exit")
    assert (answer["observation"], answer["info"]["outcome"]) == ("", "ok")
    assert answer["info"]["state"]["working_dir"] == "/home/agent/workspace"
    assert agent.step("((lied >= 5))")["info"]["exit_code"] == 0
    agent.reset()


SPOILT = [
    ("trap 'sleep 60' DEBUG", "timeout", "on42\n"),
    ("shopt -s extdebug; trap false DEBUG", "ok", ""),
]


@pytest.mark.parametrize("action,outcome,printed", SPOILT)
def test_a_shell_that_is_of_no_use(agent, action, outcome, printed):
    """An agent can make its shell useless to itself, until the next reset."""
    agent.step(action, timeout_s=0.3)
    answer = agent.step("echo on42", timeout_s=3)
    assert (answer["info"]["outcome"], answer["observation"].partition("(")[0]) == (
        outcome,
        printed,
    )
    agent.reset()
