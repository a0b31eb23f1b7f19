# SPDX-License-Identifier: Apache-2.0
"""Finds where a command of bash ends: quotes, compound commands and here-documents."""

import re

_TOKEN = re.compile(
    r"""
    \\. | \$'[^'\\]*(?:\\.[^'\\]*)*' | '[^']*' | `[^`\\]*(?:\\.[^`\\]*)*`
    | <<< | <<(?P<tabs>-?)[ \t]*(?P<end>'[^'\n]*'|"[^"\n]*"|[^\s'"|&;<>()]+)
    | \$?\(\( | [$<>]?\( | \$\{ | \)\) | && | \|[|&]? | [ \t\r]+
    | [^\\'"`$<>(){}|;&\#\s]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKEN_IN_QUOTES = re.compile(
    r"""\\.|`[^`\\]*(?:\\.[^`\\]*)*`|\$\(\(?|\$\{|[^\\"`$]+|.""", re.DOTALL
)
_FUNCTION = re.compile(r"[ \t]+[\w-]+")

_ENDS_OF_WORDS = {"if": "fi", "case": "esac", "for": "done", "select": "done"}
_ENDS_OF_WORDS |= {"while": "done", "until": "done"}
_ENDS = {"((": "))", "$((": "))", "(": ")", "$(": ")", "<(": ")", ">(": ")", "${": "}"}
_BEFORE_COMMANDS = {"if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "!"}
_GROUP = "{ }"  # in `open`: a group of commands in braces


class _Scan:
    """A scan of a text that begins with a command. Each character is looked at once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.open: list[str] = []  # ends of the constructs that are open, the innermost last
        self.here_documents: list[tuple[str, bool]] = []  # begin after the next newline
        self.starts = True  # a command may start here
        self.apart = True  # a word may start here
        self.continued = False  # an operator needs a command, maybe on a later line

    def end(self) -> int | None:
        """Returns the index after the command. None: bash would wait for more text."""
        while self.at < len(self.text):
            begin = self.at
            in_quotes = self.open[-1:] == ['"']
            match = (_TOKEN_IN_QUOTES if in_quotes else _TOKEN).match(self.text, begin)
            assert match
            token, self.at = match[0], match.end()
            if token in _ENDS:
                self._opened(_ENDS[token])
            elif token == '"':
                self._quote()
            elif token == "`":
                return None  # bash reads up to the next one, whatever is between
            elif in_quotes:
                continue
            elif token == "\n":
                if not self.open and not self.continued and not self.here_documents:
                    return begin
                if self._newline():
                    return self.at
            elif token == "'" or (token == "\\" and self.at == len(self.text)):
                return None
            elif token == "#" and self.apart and self.open[-1:] not in (["}"], ["))"]):
                newline = self.text.find("\n", begin)
                self.at = newline if newline >= 0 else len(self.text)
            elif token.isspace():
                self.apart = True
            else:
                self._piece(token, match)
        return None if self.open or self.continued else len(self.text)

    def _opened(self, end: str) -> None:
        self.open.append(end)
        self.starts = self.apart = True
        self.continued = False

    def _quote(self) -> None:
        if self.open[-1:] == ['"']:
            self.open.pop()
            self.starts = self.apart = self.continued = False
        else:
            self._opened('"')

    def _newline(self) -> bool:
        """Skips the here-documents that begin here. Returns whether the command has ended."""
        had = bool(self.here_documents)
        for end, tabs in self.here_documents:
            line = "^" + ("\t*" if tabs else "") + re.escape(end) + "[ \t\r]*$"
            found = re.compile(line, re.MULTILINE).search(self.text, self.at)
            self.at = found.end() + 1 if found else len(self.text)
        self.here_documents.clear()
        self.starts = self.apart = True
        return had and not self.open and not self.continued

    def _piece(self, token: str, match: re.Match[str]) -> None:
        """Takes a piece of a word, or an operator."""
        begin = match.start()
        starts, apart = self.starts, self.apart
        self.starts = self.apart = self.continued = False
        if token in ("&&", "||", "|", "|&", ";", "&"):
            self.starts = self.apart = True
            self.continued = token not in (";", "&")
        elif token == ")" or token == "))":
            self._parenthesis(token)
            # The body of a function may begin on the next line.
            self.continued = (
                self.text[begin - 1 : begin] == "(" and self.text[begin - 2] not in "=$"
            )
        elif token == "}" and (self.open[-1:] == ["}"] or (starts and self.open[-1:] == [_GROUP])):
            self.starts = self.open.pop() == _GROUP
        elif token.startswith("<<") and match["end"]:
            if self.open[-1:] != ["))"]:
                end = match["end"].strip("'\"").lstrip("\\")
                self.here_documents.append((end, bool(match["tabs"])))
        elif token in ("<", ">", "<<<"):
            self.apart = True
        elif starts and apart and self.text[self.at : self.at + 1] in " \t\n;|&()<>":
            self._first_word(token)

    def _parenthesis(self, token: str) -> None:
        top = self.open[-1] if self.open else ""
        self.starts = self.apart = True
        if token == "))" and top != "))":
            self._parenthesis(")")
            self._parenthesis(")")
        elif top == "))" and token == ")":
            self.open[-1] = ")"  # "((" were two subshells
        elif top == token:
            self.open.pop()

    def _first_word(self, word: str) -> None:
        if self.open[-1:] == [word]:
            self.open.pop()
            self.starts = True
        elif word == "{":
            self._opened(_GROUP)
        elif word == "function":
            name = _FUNCTION.match(self.text, self.at)
            self.at = name.end() if name else self.at
            self.starts = True
        else:
            if word in _ENDS_OF_WORDS:
                self.open.append(_ENDS_OF_WORDS[word])
            self.starts = word in _BEFORE_COMMANDS


def command_end(text: str) -> int:
    """Returns the index after a text's first line, with the lines that bash would read for it.

    If a quote or a compound command never ends, this is the first line alone.
    """
    end = _Scan(text).end()
    if end is None:
        end = text.find("\n")
    return end if end >= 0 else len(text)
