# SPDX-License-Identifier: Apache-2.0
"""FirstCommand: finds the action in a reply of a language model."""

import re

from .shell import command_end

_WORDS = """
open goto scroll_down scroll_up create edit insert search_dir search_file find_file describe
plot memory_write memory_read literature_search parse_pdf_url validate submit
skip exit_forfeit
accelerate awk basename bash bc cat cd chmod cp curl cut date deepspeed df diff dirname du echo
env export false find free gcc git grep gunzip gzip head hostname id jq kill ln ls make md5sum
mkdir mv nl nohup nvidia-smi od paste perl pip pip3 printf ps pwd python python3 readlink realpath
rm rmdir sed seq set sh sha256sum sleep sort source sqlite3 stat tail tar tee test time timeout
torchrun touch tr tree true uniq unset unzip wc wget which xargs zcat
"""
COMMANDS = frozenset(_WORDS.split())
TEXT_ENDS = {"edit": "end_of_edit", "insert": "end_of_insert"}

# Fences with one of these words, or with none, have commands of a shell.
_SHELLS = {"bash", "sh", "shell", "zsh", "console", "terminal", "command"}

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"([ \t]*)(`{3,})([^`]*)")
_LANGUAGE = re.compile(r"\w+")
_INLINE_FENCE = re.compile(r"```(?:(?:bash|sh|shell)[ \t])?")
_FIRST_WORD = re.compile(r"""\s*(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)*(\S+)""")
# Commands outside of fences that COMMANDS can't list: programs by path, versions of Python, loops
# and conditions.
_OTHER_COMMAND = re.compile(
    r"\./|/\w[\w.-]*/\S|python\d\.\d+\s|(?:for|while|until|if)\s.*;\s*(?:do|then)\b"
)


def _command_at(text: str, word: str) -> str:
    """Returns the command at the start of a text, with the lines that belong to it."""
    first = text.partition("\n")[0]
    if word in TEXT_ENDS and "<<" not in first:
        last = re.compile(rf"^{TEXT_ENDS[word]}[ \t]*$", re.MULTILINE).search(text)
        return text[: last.end()] if last else text
    return text[: command_end(text)].rstrip()


def _split(reply: str) -> tuple[list[list[str]], list[str]]:
    """Returns the lines of each fenced block with commands, and the lines outside of fences."""
    blocks: list[list[str]] = []
    outside: list[str] = []
    block = outside
    fence = indent = ""
    for line in reply.replace("\r\n", "\n").split("\n"):
        begins = None if fence else _FENCE.fullmatch(line)
        if begins:
            indent, fence, words = begins.groups()
            block = []
            language = _LANGUAGE.search(words)
            if not language or language[0].lower() in _SHELLS:
                blocks.append(block)
        elif fence and line.rstrip().endswith(fence):
            block.append(line.rstrip().removesuffix(fence).removeprefix(indent))
            block, fence, indent = outside, "", ""
        else:
            block.append(line.removeprefix(indent))
    return blocks, outside


def _first_command(lines: list[str], *, fenced: bool = False) -> str | None:
    """Returns the first command in lines. In a fenced block any line is one, but a comment."""
    for i, indented in enumerate(lines):
        line = indented.lstrip().removeprefix("$ " if fenced else "").lstrip()
        word = _FIRST_WORD.match(line)
        if not word or line.startswith("#"):
            continue
        if fenced or word[1] in COMMANDS or _OTHER_COMMAND.match(line, word.start(1)):
            return _command_at("\n".join([line, *lines[i + 1 :]]), word[1])
    return None


def first_command(reply: str) -> str | None:
    """Returns the first command of a reply. None: the reply has none.

    Thoughts between <think> and </think> don't count. The first command in a fenced block comes
    before others. Any line of a block is a command, unless the fence names another language than
    a shell's. Elsewhere a command is a line whose first word is known. It includes the lines
    that bash would read for it, such as a here-document. Those of `edit` and `insert` end with
    their text. Any text is allowed, and takes time in proportion to its length. The command may
    have characters that no step can have, such as a NUL.
    """
    reply = _THOUGHT.sub("", reply).rpartition("</think>")[2]
    blocks, outside = _split(reply)
    for block in blocks:
        command = _first_command(block, fenced=True)
        if command:
            return command
    unquoted = [_INLINE_FENCE.sub("", line).replace("`", "") for line in outside]
    return _first_command(outside) or _first_command(unquoted)
