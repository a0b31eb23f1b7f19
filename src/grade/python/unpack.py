# SPDX-License-Identifier: Apache-2.0
"""Unpacks a folder of another sandbox, from a stream of struct pack_entry (src/inside/pack.h).

The stream is untrusted, because the agent made the files. No file is made through a link, outside
of the folder, or in place of the judge's own files. Forged is raised for entries that the packer
never sends.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

HEAD = struct.Struct("=4Q")  # kind, mode, bytes of the path, bytes of the content
FILE, FOLDER, LINK, END = range(4)
CHUNK_BYTES = 1 << 20
PATH_BYTES_MAX, NAME_BYTES_MAX = 4095, 255
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
HOLE = bytes(CHUNK_BYTES)


class Forged(Exception):
    """An entry that the packer never sends."""


class Unfit(Exception):
    """The reason why the workspace can't be scored."""


# --- reading the packed workspace ---------------------------------------------------------------


def read(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise Unfit("The workspace could not be copied to its end.")
    return data


def read_pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        piece = read(source, min(size, CHUNK_BYTES))
        size -= len(piece)
        yield piece


def is_plain(path: bytes, left_out: list[bytes]) -> bool:
    parts = path.split(b"/")
    return parts[0] not in left_out and all(
        part not in (b"", b".", b"..") and b"\0" not in part and len(part) <= NAME_BYTES_MAX
        for part in parts
    )


def read_entry(source: BinaryIO, left_out: list[bytes]) -> tuple[int, int, bytes, int]:
    kind, mode, path_bytes, size = HEAD.unpack(read(source, HEAD.size))
    if kind > END or mode > 0o777 or path_bytes > PATH_BYTES_MAX:
        raise Forged(f"an entry has the kind {kind}, the mode {mode:o}, a path of {path_bytes}")
    path = read(source, path_bytes)
    if size > {FILE: (1 << 63) - 1, FOLDER: 0, LINK: PATH_BYTES_MAX, END: 0}[kind]:
        raise Forged(f"an entry of the kind {kind} has {size} bytes")
    if kind != END and not is_plain(path, left_out):
        raise Forged(f"it leads to {path[:200]!r}")
    return kind, mode, path, size


# --- choosing the entries that are left out -----------------------------------------------------


def is_code_for(path: bytes, own: bytes) -> bool:
    """True if Python would import `path` in place of `own`, a module of the judge."""
    stem, suffix = os.path.splitext(own)
    if suffix != b".py":
        return False
    compiled = path.startswith(stem + b".") and path.endswith((b".so", b".pyc"))
    return compiled or path.startswith(stem + b"/")


def is_taken(path: bytes, own: list[bytes]) -> bool:
    """True if `path` would replace a file of the judge, or may be compiled Python."""
    return b"__pycache__" in path.split(b"/") or any(
        (path + b"/").startswith(name + b"/") or is_code_for(path, name) for name in own
    )


def stays_inside(path: bytes, target: bytes, top: bytes) -> bool:
    """True if the link `path` leads to a place below `top`, through whatever other links.

    The link's folder is not a link, so `..` at the target's begin leads to the folders above. A
    `..` after a name is refused, because the name may be a link to a higher folder.
    """
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    if b".." in itertools.dropwhile(lambda part: part == b"..", parts):
        return False
    folder = os.path.dirname(os.path.join(top, path))
    return os.path.normpath(os.path.join(folder, target)).startswith(top + b"/")


# --- making the files ---------------------------------------------------------------------------


def open_folder(top: bytes, parts: list[bytes]) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    at = os.open(top, flags)
    for part in parts:
        try:
            below = os.open(part, flags, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


def make(kind: int, mode: int, path: bytes, target: bytes, top: bytes) -> int | None:
    """Makes a file, link or folder; replaces files and links. Returns a file's descriptor."""
    *above, name = path.split(b"/")
    at = open_folder(top, above)
    try:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=at)
        if kind == FOLDER:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=at)
        elif kind == FILE:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            return os.open(name, flags, mode | 0o600, dir_fd=at)
        elif stays_inside(path, target, top):
            os.symlink(target, name, dir_fd=at)
    finally:
        os.close(at)
    return None


def write(fd: int, source: BinaryIO, size: int) -> None:
    for piece in read_pieces(source, size):
        if piece == HOLE[: len(piece)]:
            os.lseek(fd, len(piece), os.SEEK_CUR)
        else:
            view = memoryview(piece)
            while view:
                view = view[os.write(fd, view) :]
    os.ftruncate(fd, size)


def unpack_entry(source: BinaryIO, entry: tuple, top: bytes, own: list[bytes]) -> None:
    kind, mode, path, size = entry
    target = read(source, size) if kind == LINK else b""
    fd = None
    try:
        if not is_taken(path, own):
            fd = make(kind, mode, path, target, top)
    except OSError as error:  # a folder exists at the path, or the parent was skipped
        if error.errno in NO_ROOM:
            raise
    if fd is None:
        for _ in read_pieces(source, size if kind == FILE else 0):
            pass
        return
    try:
        write(fd, source, size)
    finally:
        os.close(fd)


def unpack(source: BinaryIO, top: str, left_out: list[str], own: list[str]) -> None:
    """Unpacks into `top`. Entries in `left_out` are forged. Skips `own`, the judge's files."""
    names = [os.fsencode(name) for name in own]
    out = [os.fsencode(name) for name in left_out]
    try:
        while (entry := read_entry(source, out))[0] != END:
            unpack_entry(source, entry, os.fsencode(top), names)
    except OSError as error:
        raise Unfit(f"The workspace can't be copied: {error.strerror}.") from error
