# SPDX-License-Identifier: Apache-2.0
"""The agent's own commands: windows, edits, searches, the linter, and the open file."""

import pytest

HUNDRED = "seq 100 > long.txt"


def seen(door, action: str) -> list[str]:
    return door.step(action)["observation"].splitlines()


def window(lines: list[str]) -> tuple[str, list[str]]:
    """Header and footer lines of a window, and its first and last numbered line."""
    numbered = [line for line in lines if line.split(":")[0].isdigit()]
    around = " ".join(line for line in lines if line.startswith(("[File", "(")))
    return around, [numbered[0], numbered[-1]] if numbered else []


@pytest.mark.parametrize(
    ("size", "action", "around", "ends"),
    [
        (10, "open long.txt", "(90 more lines below)", ["1:1", "10:10"]),
        (10, "open long.txt 50", "(49 more lines above) (41 more lines below)", ["50:50", "59:59"]),
        (10, "open long.txt 100", "(90 more lines above)", ["91:91", "100:100"]),
        (10, "open long.txt 101", "(90 more lines above)", ["91:91", "100:100"]),
        (10, "open long.txt; goto 1", "(90 more lines below)", ["1:1", "10:10"]),
        (10, "open long.txt; scroll_down", "(8 more lines above)", ["9:9", "18:18"]),
        (10, "open long.txt 50; scroll_up", "(41 more lines above)", ["42:42", "51:51"]),
        (7, "open long.txt", "(93 more lines below)", ["1:1", "7:7"]),
        (1000, "open long.txt 50", "[File: ", ["1:1", "100:100"]),
    ],
)
def test_windows(door, size, action, around, ends):
    lines = seen(door, f"{HUNDRED}; export WINDOW={size}; {action}")
    last = max(i for i, line in enumerate(lines) if line.startswith("[File"))
    assert lines[last] == "[File: /home/agent/workspace/long.txt (100 lines total)]"
    shown, numbered = window(lines[last:])
    assert around in shown
    assert numbered == ends


def test_what_is_open_outlives_the_shell(door):
    assert door.step("ls")["info"]["state"]["open_file"] == "n/a"
    path = "/home/agent/workspace/long.txt"
    assert door.step(f"{HUNDRED}; open long.txt")["info"]["state"]["open_file"] == path
    assert door.step("exit 3")["info"]["outcome"] == "shell_restarted"
    after = door.step("goto 5")
    assert after["info"]["state"]["open_file"] == path
    assert "5:5" in after["observation"]
    assert door.ask(op="reset")["info"]["state"]["open_file"] == "n/a"


def test_an_agent_s_word_is_checked(door):
    """The open file is noted in a file that the agent can change. A wrong note is not shown."""
    for text in ("'1 0\\n/a\\x1b[2J\\n'", "'1 0\\nrelative\\n'", "'nonsense'", "'1 0\\n/\\xff\\n'"):
        door.step("open submission.csv")
        door.step(f"printf {text} > ~/.fumehood/editor; printf x > /run/fumehood/state")
        assert door.step("true")["info"]["state"]["open_file"] == "n/a", text
    door.step("rm -rf ~/.fumehood; ln -s /etc/passwd ~/.fumehood")
    assert door.step("open submission.csv")["info"]["outcome"] == "ok"
    door.step("rm ~/.fumehood; mkdir ~/.fumehood; mkfifo ~/.fumehood/editor")
    assert door.step("printf x > /run/fumehood/state")["info"]["outcome"] == "ok"


def test_edit(door):
    door.step("printf 'a\\nb\\nc' > f.txt; open f.txt")
    lines = seen(door, "edit 2:2\nB $HOME\n  indented\nend_of_edit")
    assert "2:B $HOME" in lines and "3:  indented" in lines and "4:c" in lines
    assert seen(door, "cat f.txt") == ["a", "B $HOME", "  indented", "c"]
    seen(door, "insert 0\nfirst\nend_of_insert")
    seen(door, "edit 9:9\nlast\nend_of_edit")
    assert seen(door, "cat f.txt")[0::5] == ["first", "last"]
    for action in ("edit x:2", "edit 1:1 2:2", "edit 1:1 text", "insert 1 2"):
        assert door.step(f"{action} <<< x")["info"]["exit_code"] == 1, action
    assert door.step("edit 1:2\nnever ends")["info"]["outcome"] == "malformed_edit"
    assert door.step("edit 1:1 << 'E'\nother word\nE")["info"]["exit_code"] == 0
    door.step("chmod 400 f.txt")
    assert door.step("edit 1:1\nx\nend_of_edit")["info"]["exit_code"] == 1
    assert seen(door, "stat -c %a f.txt") == ["400"]


# For each case: a file's content, an edit, and the content after it. New lines get the end that
# most lines have. Other lines keep theirs.
ENDINGS = {
    "edited": ("a\\r\\nb\\r\\nc\\r\\n", "edit 2:2\nx\ny\nend_of_edit", "a\r\nx\r\ny\r\nc\r\n"),
    "inserted": ("a\\r\\nb\\r\\n", "insert 0\nx\nend_of_insert", "x\r\na\r\nb\r\n"),
    "anew": ("a\\r\\nb\\r\\n", "edit 1:2\nx\nend_of_edit", "x\r\n"),
    "nothing left": ("a\\r\\n", "edit 1:1\nend_of_edit", "\r\n"),
    "no last end": ("a\\r\\nb", "insert 2\nx\nend_of_insert", "a\r\nb\r\nx\r\n"),
    "a text with its own": ("a\\r\\n", "edit 1:1 <<< $'x\\r\\ny\\r'", "x\r\ny\r\n"),
    "and where there are none": ("a\\n", "edit 1:1 <<< $'x\\r\\ny\\r'", "x\ny\n"),
    "mixed": ("a\\r\\nb\\r\\nc\\n", "edit 1:1\nx\nend_of_edit", "x\r\nb\r\nc\n"),
    "mixed, as many": ("a\\r\\nc\\n", "insert 0\nx\nend_of_insert", "x\na\r\nc\n"),
}


@pytest.mark.parametrize("what", ENDINGS)
def test_endings_of_lines(door, what):
    before, action, after = ENDINGS[what]
    shown = door.step(f"printf '{before}' > f.txt; open f.txt")["observation"]
    shown += door.step(action)["observation"]
    assert "The file is changed." in shown and "\r" not in shown
    assert door.step("od -An -tx1 f.txt")["observation"].split() == [f"{ord(c):02x}" for c in after]


def test_endings_of_lines_are_not_searched(door):
    door.step("printf 'a needle\\r\\n' > f.txt")
    assert seen(door, "search_file 'needle$' f.txt")[1:] == ["Line 1:a needle"]


@pytest.mark.parametrize("name", ["n\\nl.txt", "n\\n", "\\n", "n\\n\\n/x"])
def test_a_name_of_several_lines(door, name):
    """A file whose name has newlines can be edited, but is not shown as open. `n` is kept."""
    door.step(f"mkdir -p $'{name}'; rmdir $'{name}'; echo keep > n; echo inside > $'{name}'")
    opened = door.step(f"open $'{name}'")
    assert "1:inside" in opened["observation"]
    assert opened["info"]["state"]["open_file"] == "n/a"
    assert door.step("edit 1:1\nmine\nend_of_edit")["info"]["exit_code"] == 0
    assert door.step(f"cat n $'{name}'")["observation"] == "keep\nmine\n"
    assert door.step("open n")["info"]["state"]["open_file"] == "/home/agent/workspace/n"


def test_text_is_not_mistaken(door):
    """A command after `edit` on its line runs. An `insert` in a here-document is text."""
    door.step("printf 'a\\n' > f.txt; open f.txt")
    assert seen(door, "edit 1:1; echo done\nx\nend_of_edit")[-1] == "done"
    door.step("cat > how.md <<E\ninsert 1\ntext\nend_of_insert\nE")
    assert seen(door, "cat how.md f.txt") == ["insert 1", "text", "end_of_insert", "x"]


def test_an_edit_is_whole_or_not_at_all(door):
    """Edits work in a read-only folder and for links. On a full disk they change nothing."""
    door.step(
        "seq 3 > f; seq 3 > g; ln g h; mkdir d; seq 3 > d/f; chmod 500 d; mkdir e; ln -s ../f e/f"
    )
    for path in ("d/f", "g", "e/f"):
        door.step(f"open {path}")
        assert door.step("edit 2:3\nx\nend_of_edit")["info"]["exit_code"] == 0, path
        assert seen(door, f"cat {path}") == ["1", "x"]
    assert seen(door, "cat h f; readlink e/f; ls -A d") == ["1", "x", "1", "x", "../f", "f"]
    door.step("head -c 1G /dev/zero > all; head -c 1G /dev/zero >> all")
    for path in ("f", "d/f", "g"):
        door.step(f"open {path}")
        text = "long line\n" * 20000
        assert door.step(f"insert 1\n{text}end_of_insert")["info"]["exit_code"] == 1, path
        assert seen(door, f"cat {path}") == ["1", "x"]


def test_edits_of_python_are_linted(door):
    door.step("printf 'import os\\n\\n\\ndef f():\\n    return os.name\\n' > f.py; open f.py")
    refused = door.step("edit 5:5\n    return oss.name\nend_of_edit")
    assert refused["info"]["exit_code"] == 1
    lines = refused["observation"].splitlines()
    assert "- F821 undefined name 'oss'" in lines
    assert "5:    return oss.name" in lines and "5:    return os.name" in lines
    assert seen(door, "tail -n 1 f.py") == ["    return os.name"]
    for text, code in (
        ("  return os.name", "E111 "),
        ("return os.name", "E999 "),
        ("    return (os.name", "E999 "),
    ):
        lines = seen(door, f"edit 5:5\n{text}\nend_of_edit")
        assert any(line.startswith(f"- {code}") for line in lines), (text, lines)
    assert door.step("insert 5\n\n\nprint(f())\nend_of_insert")["info"]["exit_code"] == 0


def test_old_errors_are_not_held_against_an_edit(door):
    door.step("printf 'x = 1\\ny = nowhere\\n' > f.py; open f.py")
    assert door.step("edit 1:1\nx = 1\nz = 2\nend_of_edit")["info"]["exit_code"] == 0
    # An insertion is refused for an old error, because the line of that error has moved.
    assert door.step("insert 1\nw = 3\nend_of_insert")["info"]["exit_code"] == 1


def test_the_linter_is_warm_and_may_die(door):
    door.step("create a.py")
    for _ in range(3):
        assert door.step("edit 1:1\nx = nowhere\nend_of_edit")["info"]["exit_code"] == 1
        assert len(seen(door, "pgrep -f linter.py")) == 1
        door.step("pkill -f linter.py; while pgrep -f linter.py; do sleep 0.01; done")
    for other in (
        "mkfifo",
        "mkdir",
        "ln -s /etc/passwd",
        "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'",
    ):
        door.step(f"pkill -f linter.py; rm -rf ~/.fumehood/linter; {other} ~/.fumehood/linter")
        answer = door.step("edit 1:1\nx = nowhere\nend_of_edit")
        unlinted = "(flake8 gave no answer" in answer["observation"]
        assert answer["info"]["exit_code"] == (0 if unlinted else 1), other


def test_the_linter_starts_before_an_edit(door):
    """The linter starts when the first Python file is opened. An edit starts no other process."""
    last = "sh -c 'echo $$'"
    door.step(f"{HUNDRED}; open long.txt; create other.txt; open nowhere.py")
    assert seen(door, "pgrep -f linter.py") == []
    door.step("create a.py; open a.py")
    (linter,) = seen(door, "until pgrep -f linter.py; do sleep 0.01; done")
    (before,) = seen(door, last)
    assert door.step("edit 1:1\nx = nowhere\nend_of_edit")["info"]["exit_code"] == 1
    (after,) = seen(door, last)
    assert int(after) - int(before) == 2
    assert seen(door, "pgrep -f linter.py") == [linter]


def test_a_linter_that_is_stopped(door):
    """A stopped linter delays one edit. The next edit is linted, also if that edit timed out."""
    wrong, right = "edit 1:1\nx = nowhere\nend_of_edit", "edit 1:1\nx = 1\nend_of_edit"
    door.step("create a.py")
    for limit_s, outcome in ((1, "timeout"), (60, "ok")):
        assert door.step(wrong)["info"]["exit_code"] == 1
        door.step("pkill -STOP -f linter.py")
        held_up = door.step(right, timeout_s=limit_s)
        assert held_up["info"]["outcome"] == outcome
        assert door.step(wrong)["info"]["exit_code"] == 1  # 0 if flake8 gave no answer
    assert "(flake8 gave no answer" in held_up["observation"]
    assert held_up["info"]["exit_code"] == 0 and held_up["info"]["duration_s"] > 14


def test_searches(door):
    door.step(
        "mkdir -p d/.git; for i in 1 2 3; do printf 'Needle\\nhay\\nneedle\\n' > d/$i.txt; done"
    )
    door.step("cp d/1.txt d/.git/x; printf 'needle\\0' > d/binary")
    lines = seen(door, "search_dir needle d")
    assert lines[0].startswith("3 matches ") and len(lines) == 4
    assert lines[1] == "/home/agent/workspace/d/1.txt (1 matches)"
    lines = seen(door, "search_file needle d/1.txt")
    assert lines[1:] == ["Line 3:needle"]
    assert seen(door, "find_file '*.txt' d")[1:] == [
        f"/home/agent/workspace/d/{i}.txt" for i in (1, 2, 3)
    ]
    assert door.step("search_file nothing d/1.txt")["info"]["exit_code"] == 1
    assert door.step("search_dir '\\(' d")["info"]["exit_code"] == 1
    door.step("for i in $(seq 101); do echo rare > m$i; done")
    assert door.step("search_dir rare")["info"]["exit_code"] == 1


def test_create_and_refusals(door):
    assert "[File: /home/agent/workspace/new.py (1 lines total)]" in seen(door, "create new.py")
    again = door.step("create new.py")
    assert again["info"]["exit_code"] == 1 and "new.py (1 lines total)]" in again["observation"]
    for action in ("open", "open nowhere", "open .", "open new.py x", "goto", "goto 9", "goto 1 2"):
        assert door.step(action)["info"]["exit_code"] == 1, action
    door.step("head -c 30000 /dev/zero | tr '\\0' 'x' > big")
    assert door.step("open big 1")["info"]["exit_code"] == 1
    assert door.step("open big")["info"]["exit_code"] == 0
    assert door.step("python -c 'print(1)'")["observation"].strip() == "1"


@pytest.mark.parametrize(
    "action",
    [
        "true && edit 1:2\nx; touch ran\nend_of_edit",
        "cd data; cd ..; edit 1:2; true\nx; touch ran\nend_of_edit",
        "open three.txt >/dev/null; edit 1:2\nx; touch ran\nend_of_edit",
    ],
)
def test_an_edit_that_is_not_alone(door, action):
    door.step("seq 3 >three.txt; mkdir -p data; open three.txt")
    assert "The file is changed." in door.step(action)["observation"]
    assert door.step("cat three.txt; ls ran")["observation"].startswith("x; touch ran\n3\nls: ")


def test_an_edit_without_a_text(door):
    door.step("seq 3 >three.txt; open three.txt")
    for action in ("true && edit 1:3", "if true; then edit 1:3; fi", "insert 1"):
        step = door.step(action)
        assert "There is no text" in step["observation"] and step["info"]["exit_code"] == 1
    assert door.step("cat three.txt")["observation"] == "1\n2\n3\n"
    door.step("edit 1:2\nend_of_edit")
    assert door.step("cat three.txt")["observation"] == "3\n"
