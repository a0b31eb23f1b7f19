# SPDX-License-Identifier: Apache-2.0
"""Tries to change its network. Prints `NAME ERRNO` of each way."""

import errno
import fcntl
import os
import socket
import struct

RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE = 16, 20, 24
REQUEST_ACK_CREATE = 0x405
SIOCSIFFLAGS, SIOCSIFADDR, SIOCADDRT = 0x8914, 0x8916, 0x890B
NLMSG_ERROR = 2


def netlink(kind: int, body: bytes) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.send(struct.pack("=LHHLL", 16 + len(body), kind, REQUEST_ACK_CREATE, 1, 0) + body)
        answer = s.recv(4096)
    assert struct.unpack_from("=LH", answer)[1] == NLMSG_ERROR
    code = -struct.unpack_from("=i", answer, 16)[0]
    if code:
        raise OSError(code, "netlink")


def ioctl(request: int, name: bytes = b"lo") -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, request, struct.pack("16s24x80x", name))


DUMMY = struct.pack("=HHHH", 16, 18, 9, 1) + b"dummy\0\0\0"  # IFLA_LINKINFO, IFLA_INFO_KIND
TRIES = {
    "new-link": lambda: netlink(RTM_NEWLINK, bytes(16) + DUMMY),
    "new-address": lambda: netlink(RTM_NEWADDR, struct.pack("=BBBBi", 2, 8, 0, 0, 1)),
    "new-route": lambda: netlink(RTM_NEWROUTE, struct.pack("=BBBBBBBBI", 2, *[0] * 8)),
    "link-down": lambda: ioctl(SIOCSIFFLAGS),
    "set-address": lambda: ioctl(SIOCSIFADDR),
    "add-route": lambda: ioctl(SIOCADDRT),
    "forward": lambda: os.open("/proc/sys/net/ipv4/ip_forward", os.O_WRONLY),
    "low-port": lambda: socket.create_server(("127.0.0.1", 80)),
}

for name, act in TRIES.items():
    try:
        act()
        print(name, "done")
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e))
