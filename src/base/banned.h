/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/*
 * The compiler includes this before each of our files (-include). Headers that declare the
 * functions come first, so that only a use is a compile error. Use buf_*, snprintf, str_*,
 * posix_spawn and sigaction instead.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol system popen signal

#endif
