/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/*
 * The compiler includes this file before each of our source files (-include) and rejects uses of
 * unsafe functions of C. The system headers that declare these functions come first: only a use is
 * an error. Use buf_*, snprintf, str_*, posix_spawn and sigaction instead.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol system popen signal

#endif
