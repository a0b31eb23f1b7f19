/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_REPORT_ROWS_H
#define CMD_REPORT_ROWS_H

#include "cli/command.h"
#include "report/row.h"

#include "base/error.h"

/* Reads the runs beneath the folders that are the command's arguments, by their indexes. */
int report_rows_read(struct command_context *ctx, const char *tasks_dir, struct run_rows *out,
		struct fh_error *err);

/* Warns about records that can't be read, and about those that are damaged. The latter are left out
 * too if `whole` is true. */
void report_rows_warn(const struct run_rows *rows, bool whole);

#endif
