/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "base/fd.h"
#include "report/dump.h"

/*
 * Formats of other programs for recorded runs. A writer takes one run after the other and keeps
 * nothing of it but a few numbers.
 */

#define DUMP_BYTES_MAX (1L << 30) /* most bytes of what is written of one run */

/* The file or descriptor that a writer fills. */
struct dump_out {
	int fd;
	const char *name; /* name of the file, for error messages */
	struct buf text;  /* not written yet */
	size_t n;         /* runs that were added */
};

/* Writes what is in out->text. -EFBIG: it did not fit into its cap. */
int dump_flush(struct dump_out *out, struct fh_error *err);

/* Formats with all runs in one file. */
struct dump_format {
	const char *name;
	void (*begin)(struct dump_out *out); /* NULL: nothing comes before the first run */
	void (*add)(struct dump_out *out, const struct dump_run *run);
};
extern const struct dump_format dump_steps;     /* JSON lines, one a step */
extern const struct dump_format dump_steps_csv; /* CSV, a line a step */
extern const struct dump_format dump_chat;      /* OpenAI's fine-tuning: a conversation a line */

/* Runs of one task, model and agent, which one log of Inspect holds. */
struct inspect_group {
	const struct run_row **runs;
	size_t n;
};

/* True if two runs belong in one log: nothing that their scores depend on differs. */
bool inspect_same(const struct run_row *a, const struct run_row *b);

/* Orders runs so that those of a log are neighbours, for qsort(). */
int inspect_compare(const void *a, const void *b);

/* Writes a log, <folder>/<time>_<task>_<id>.eval. The path lives in the arena. */
int inspect_write(struct arena *a, const char *folder, const struct inspect_group *group,
		const char **out_path, struct fh_error *err);

#endif
