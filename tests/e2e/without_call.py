# SPDX-License-Identifier: Apache-2.0
"""Runs a command for which a system call does not exist: without_call.py NUMBER COMMAND ...

For calls that a kernel without some feature lacks. Only root may do that.
"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000

code = ctypes.create_string_buffer(
    struct.pack("HBBI", LOAD_NUMBER, 0, 0, 0)
    + struct.pack("HBBI", JUMP_IF_EQUAL, 0, 1, int(sys.argv[1]))
    + struct.pack("HBBI", RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.ENOSYS)
    + struct.pack("HBBI", RETURN, 0, 0, SECCOMP_RET_ALLOW)
)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(code))
assert ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0
os.execvp(sys.argv[2], sys.argv[2:])
