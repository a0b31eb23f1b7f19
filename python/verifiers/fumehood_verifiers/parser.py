# SPDX-License-Identifier: Apache-2.0
"""FirstCommand: finds the action in a reply of a language model."""

import re

_WORDS = """
open goto scroll_down scroll_up create edit insert search_dir search_file find_file describe
plot memory_write memory_read literature_search parse_pdf_url validate submit
skip exit_forfeit
accelerate awk bash bc cat cd chmod cp cut date deepspeed df diff du echo env export false find free
grep gunzip gzip head hostname id jq kill ln ls make mkdir mv nl nohup nvidia-smi od paste pip
pip3 printf ps pwd python python3 rm rmdir sed seq set sh sleep sort source stat tail tar tee
test time timeout torchrun touch tr true uniq unset unzip wc wget which xargs zcat
"""
COMMANDS = frozenset(_WORDS.split())
TEXT_ENDS = {"edit": "end_of_edit", "insert": "end_of_insert"}

_THOUGHT = re.compile(r"<think>.*?</think>|^.*</think>|<think>.*", re.DOTALL)
_FENCED = re.compile(r"^```[^\n`]*\n(.*?)(?:^```|\Z)", re.DOTALL | re.MULTILINE)
_FIRST_WORD = re.compile(r"\s*(?:[A-Za-z_]\w*=\S*\s+)*(\S+)")
_HERE_DOCUMENT = re.compile(r"<<(-?)\s*(['\"]?)([A-Za-z_]\w*)\2")


def _is_open(text: str) -> bool:
    """Returns whether a quote is not closed, or the text ends with a backslash."""
    quote = ""
    characters = iter(text)
    for c in characters:
        if c == "\\" and quote != "'":
            if next(characters, None) is None:
                return True
        elif c == quote:
            quote = ""
        elif not quote and c in "'\"":
            quote = c
    return bool(quote)


def _until(lines: list[str], start: int, end: str, *, tabs: bool = False) -> int:
    """Returns the index after the line `end`. It returns that of the last line if there is none."""
    for i in range(start, len(lines)):
        if (lines[i].lstrip("\t") if tabs else lines[i]).rstrip() == end:
            return i + 1
    return len(lines)


def _command_at(lines: list[str], first: int, word: str) -> str:
    """Returns the command that begins in a line, with the lines that belong to it."""
    after = first + 1
    if word in TEXT_ENDS:
        if "<<" not in lines[first]:
            return "\n".join(lines[first : _until(lines, after, TEXT_ENDS[word])])
    else:
        ends = range(after, len(lines) + 1)
        after = next((i for i in ends if not _is_open("\n".join(lines[first:i]))), after)
    for here in _HERE_DOCUMENT.finditer("\n".join(lines[first:after])):
        after = _until(lines, after, here[3], tabs=bool(here[1]))
    return "\n".join(lines[first:after])


def _first_command(text: str) -> str | None:
    lines = text.replace("\r\n", "\n").split("\n")
    for i, line in enumerate(lines):
        word = _FIRST_WORD.match(line)
        if word and (word[1] in COMMANDS or word[1].startswith("./")):
            return _command_at([line.strip(), *lines[i + 1 :]], 0, word[1])
    return None


def first_command(reply: str) -> str | None:
    """Returns the first command of a reply. None: the reply has none.

    Thoughts between <think> and </think> don't count. If the reply has fenced blocks, their
    commands come first. A command is a line whose first word is known. It includes the
    lines of a here-document, of the text of `edit` and `insert`, and of a quoted string.
    """
    reply = _THOUGHT.sub("", reply)
    fenced = "\n".join(_FENCED.findall(reply))
    command = _first_command(fenced) or _first_command(re.sub(r"^```.*$", "", reply, flags=re.M))
    return command or _first_command(reply.replace("`", ""))
