# SPDX-License-Identifier: Apache-2.0
"""The parser FirstCommand of fumehood_verifiers, which finds the action in a reply."""

import random
import re
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/verifiers"))

from fumehood_verifiers.parser import first_command  # noqa: E402

REPLIES = [
    ("ls", "ls"),
    ("<think>ls or\nvalidate?</think>\nvalidate", "validate"),
    ("first I\nls</think>\npwd", "pwd"),
    ("pwd\n<think>never ended", "pwd"),
    ("ls\n<think>why?</think>\npwd", "ls"),
    ("I look.\n```bash\nls -la && validate\n```\nThen I submit.\nsubmit", "ls -la && validate"),
    ("find what there is:\n```\nls\n```", "ls"),
    ("```\nls", "ls"),
    ("```bash\nls```", "ls"),
    ("```bash ls```", "ls"),
    ("Run `ls`, or:\n`pwd`", "pwd"),
    ("  A=0 python3 a.py\nvalidate", "A=0 python3 a.py"),
    ("cat <<'E' >a.py\nls\nE\npython3 a.py", "cat <<'E' >a.py\nls\nE"),
    ("cat <<-E >a\n\tx\n\tE\nls", "cat <<-E >a\n\tx\n\tE"),
    ("cat <<A <<\\B\na\nA\nb\nB\nls", "cat <<A <<\\B\na\nA\nb\nB"),
    ("cat <<E\nnever (ended", "cat <<E\nnever (ended"),
    ("cat <<E\nit's \"\nE\nls", "cat <<E\nit's \"\nE"),
    ("edit 1:2\nx = 1\n  ls\nend_of_edit\nls", "edit 1:2\nx = 1\n  ls\nend_of_edit"),
    ("edit 1:2 <<E\nx\nE\nls", "edit 1:2 <<E\nx\nE"),
    ("insert 3\ny\nend_of_insert\nls", "insert 3\ny\nend_of_insert"),
    ("python3 -c 'a\nb'\nls", "python3 -c 'a\nb'"),
    ("cp a \\\n  b\nls", "cp a \\\n  b"),
    ("./run.sh 3\nls", "./run.sh 3"),
    ("ls # don't\npwd", "ls # don't"),
    ("ls\r\npwd", "ls"),
    ("echo 'never closed\npwd", "echo 'never closed"),
    ("git status\nls", "git status"),
    ("A='x y' B=\"z\" ls\npwd", "A='x y' B=\"z\" ls"),
    ("python3.11 a.py\nls", "python3.11 a.py"),
    ("/usr/bin/env A=1 ls\npwd", "/usr/bin/env A=1 ls"),
    ("if true; then\n  ls\nfi\npwd", "if true; then\n  ls\nfi"),
    ("If it works, I go on.\nfor now, this:\nls", "ls"),
    ("Look:\n```python\nimport os\n```\nThen\nls", "ls"),
    ("```python\nimport os\n```", None),
    ("I don't know.", None),
    ("```\n\n# a comment\n```", None),
    ("", None),
]

# Commands of bash, each before another command in a fenced block.
BASH = [
    "for i in 1 2; do\n  echo $i\n\ndone",
    "for ((i = 0; i < 1 << 2; i++)) do\n  echo done\ndone | sort",
    "while read -r a; do if [ -n \"$a\" ]; then\n  echo 'fi\n'\nfi; done <file",
    "case $a in\n  a) echo 1 ;;\n  (b | c)\n    echo 2 ;;\nesac",
    "(cd a && ls\n)",
    "((a = 1\n+ 2))",
    "{ ls\n}",
    "f() {\n  echo }\n}",
    "f()\n{\n  ls\n}",
    "function f {\n  ls\n}",
    "a=()",
    "a=(1 # one\n  2)",
    "A='x y' ls",
    "A=1",
    "/bin/ls /tmp",
    "git log",
    "python3.11 a.py",
    "unknown-program --option",
    "[[ -n $a &&\n  -f $b ]] ||\n  exit 1",
    "ls |\n\n  # all of them\n  sort",
    'echo "a $(echo "b\n)" ) c" ${x:-"}\n"}',
    "echo ${x# } $((1 << 2)) $'it\\'s\n' `ls\n`",
    "echo {a,b} } done fi",
    "cat <<E | sort &&\na\nE\n  ls",
    "(\ncat <<E\n)\nE\n)",
    "cat <<<E",
    "time {\nls\n}",
    "echo a#b 'c\nd'",
    "`cat <<E\nit's (\nE`",
    'echo "`ls "a\n" \\` (`" b',
    "coproc while read a; do\n  ls\ndone",
]

# Commands around others.
AROUND = [
    "if true; then\n{}\nfi",
    "if {}\nthen ls; else\nls\nfi",
    "for i in 1 2; do\n  {}\ndone | sort",
    "until {}\ndo ls; done",
    "(\n{}\n) &&\n  ls",
    "{{\n{}\n}} >a",
    "case a in\n  a)\n{}\n;;\nesac",
    "f() {{\n{}\n}}",
    "a=$(\n{}\n)",
    'echo "a $(\n{}\n)"',
    "diff <(\n{}\n) b",
    "time {}",
    "! {}",
]

WORDS = """<think> </think> ``` ```` ~~~ ' " ` \\ ( $(( )) ) ${ } { <<E <<-'E' << E edit end_of_edit insert
ls cat for if then fi do done case esac A=1 A='x # && || | ; & $ ./a function f() submit ```bash ```python
```ls``` \0 \ud800 é"""
PIECES = [*WORDS.split(), *["\n"] * 20, "\r\n", " ", "\t", " " * 500, "\u2028"]


@pytest.mark.parametrize(("reply", "command"), REPLIES)
def test_replies(reply, command):
    assert first_command(reply) == command


@pytest.mark.parametrize("command", BASH)
def test_commands_of_bash_in_a_fence(command):
    assert first_command(f"Now:\n```bash\n\n# first\n{command}\npwd\n```\nls") == command
    indented = f"{command}\npwd".replace("\n", "\n ")
    assert first_command(f"- a list\n ```\n {indented}\n ```") == command
    assert first_command(f"```console\n$ {command}\npwd\n```") == command


def test_a_comment_after_a_prompt():
    assert first_command("```console\n$   # a comment\n$ ls\n```") == "ls"


def test_random_commands_of_bash():
    draw = random.Random(21)
    for _ in range(2000):
        command = draw.choice([one for one in BASH if "`" not in one])
        for around in draw.choices(AROUND, k=draw.randrange(1, 4)):
            command = around.format(command)
        assert first_command(f"I do.\n```bash\n{command}\npwd\n```\nls") == command


def test_random_replies():
    """A command has whole lines of the reply, and is found again in a block of its own."""
    draw = random.Random(21)
    found = 0
    for _ in range(5000):
        reply = "".join(draw.choices(PIECES, k=draw.randrange(1, 30)))
        command = first_command(reply)
        if command is None:
            continue
        found += 1
        seen = re.sub("<think>.*?(</think>|$)", "", reply.replace("\r\n", "\n"), flags=re.DOTALL)
        plain = seen.replace("`", "")
        assert all(line in seen or line in plain for line in command.split("\n")), reply
        assert command.strip(), reply
        if not re.search("```|think>|edit|insert", command):
            assert first_command(f"```\n{command}\n```") == command, reply
    assert found > 500


@pytest.mark.parametrize(
    "piece",
    [
        "<think>",
        "</think>",
        "```\n",
        "```a",
        "'",
        '"',
        "`",
        "$'",
        "\\",
        "A=",
        "(",
        "$((",
        "${",
        "\n",
    ]
    + ["<<E\n", "<<'", "for ", "if a; then\n", "A='x ", "/a/", "# ", "ls |\n", "edit 1:2\n"],
)
def test_time_is_linear(piece):
    """Quadratic time would be minutes. The bound is for slow machines."""
    start = time.process_time()
    for before in ("", "ls '", "```\nls ", "```\n"):
        first_command(before + piece * (200_000 // len(piece)))
    assert time.process_time() - start < 30


@pytest.mark.parametrize("piece", [" -", " a", "` "])
def test_a_long_line_that_is_almost_a_fence(piece):
    reply = "```" + piece * 500_000 + "`\nls"
    start = time.process_time()
    assert first_command(reply) == "ls"
    assert time.process_time() - start < 1
