/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/*
 * Included by the compiler before every file of ours (-include). The system headers that declare
 * the functions come first, then the names are poisoned: a use is a compile error. What to use
 * instead: buf_*, snprintf, str_*, posix_spawn, sigaction, parse_* of base/str.h.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol system popen signal

#endif
