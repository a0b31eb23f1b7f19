/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LINE_HISTORY_H
#define MODEL_LINE_HISTORY_H

#include <stddef.h>

/*
 * What a person typed, a line each, oldest first, in a file that only they can read. Each line is added at once, so
 * that whatever ends the program it is there, and two programs can share it. More than LINE_HISTORY_MAX lines
 * are forgotten when it is next loaded. A file that can't be read or written is no reason to stop: nothing fails.
 */
#define LINE_HISTORY_MAX 1000
#define LINE_HISTORY_BYTES_MAX 4096 /* longer lines are not remembered */

void line_history_load(const char *path, void (*add)(void *user, const char *line), void *user);
void line_history_add(const char *path, const char *line, size_t n);

#endif
