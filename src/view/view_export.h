/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_VIEW_EXPORT_H
#define VIEW_VIEW_EXPORT_H

#include "base/error.h"
#include "base/str.h"

/* Writes the viewer's page with its runs into one file (view --export). */

struct view_export_counts {
	size_t runs;
	int64_t bytes;  /* size of the page */
	bool has_steps; /* false: the records are too large for their steps to be in the page */
};

/*
 * Writes the viewer's page with all answers that it may ask for, as one file that needs no server.
 * It opens at the run if there is one, at the comparison of two, else at the table. Without steps
 * it opens at the table. -ENOENT: the places have no runs. -EFBIG: the page would be too large.
 */
int view_export_write(const struct texts *places, const char *path, struct view_export_counts *out,
		struct fh_error *err);

#endif
