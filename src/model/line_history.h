/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LINE_HISTORY_H
#define MODEL_LINE_HISTORY_H

#include <stddef.h>

/*
 * Typed lines in a file that only their user can read, oldest first. Each line is appended at once:
 * it survives a crash, and programs can share the file. Loading cuts the file to LINE_HISTORY_MAX
 * lines. Errors of the file are ignored.
 */
#define LINE_HISTORY_MAX 1000
#define LINE_HISTORY_BYTES_MAX 4096 /* longer lines are not kept */

void line_history_load(const char *path, void (*add)(void *user, const char *line), void *user);
void line_history_add(const char *path, const char *line, size_t n);

#endif
