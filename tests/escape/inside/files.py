# SPDX-License-Identifier: Apache-2.0
"""Tries to change paths in 13 ways, or (--open) to open them for reading.

Prints `WAY:PATH ERRNO` of each try, or `PATH ERRNO`.
"""

import errno
import os
import sys

WAYS = {
    "create": lambda p: os.open(os.path.join(p, "new"), os.O_CREAT | os.O_WRONLY),
    "write": lambda p: os.open(p, os.O_WRONLY),
    "truncate": lambda p: os.truncate(p, 0),
    "mode": lambda p: os.chmod(p, 0o4777),
    "owner": lambda p: os.chown(p, 1000, 1000),
    "time": lambda p: os.utime(p, (1, 1)),
    "touch": os.utime,
    "attribute": lambda p: os.setxattr(p, "user.x", b"x"),
    "remove": lambda p: (os.rmdir if os.path.isdir(p) else os.unlink)(p),
    "rename": lambda p: os.rename(p, p + "-moved"),
    "move": lambda p: os.rename(p, "/tmp/moved"),
    "link": lambda p: os.link(p, "/tmp/linked"),
    "replace": lambda p: os.rename("/tmp/mine", p),
}


def attempt(name: str, act, path: str) -> None:
    try:
        act(path)
        print(name, "done")
    except OSError as e:
        print(name, errno.errorcode[e.errno])


if sys.argv[1] == "--open":
    for path in sys.argv[2:]:
        attempt(path, lambda p: os.open(p, os.O_RDONLY), path)
    sys.exit()
os.close(os.open("/tmp/mine", os.O_CREAT))
for path in sys.argv[1:]:
    for way, act in WAYS.items():
        attempt(f"{way}:{path}", act, path)
