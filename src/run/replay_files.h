/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_REPLAY_FILES_H
#define RUN_REPLAY_FILES_H

#include "base/buf.h"
#include "base/error.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Texts of the files in the workspace after each step of a replay. They are written beside the
 * recorded run as JSON lines. The first line has:
 *
 *   format        1
 *   record_bytes  size of the record that was replayed; if it has another size, the run went on
 *   steps         last step whose files are noted
 *   differs       first step that differs from the record; null: none
 *   full          true: there were more than 1,000 files, and the last to come are left out
 *
 * Each other line has a file that a step changed: `step` (0: the start), `path` in the workspace,
 * and `text`. `text` is null if the file is gone, or is no text any more, or one of over 1 MiB.
 * `gone` tells whether it is gone. The folder "data" is left out.
 */

#define REPLAY_FILES "files.jsonl"
#define REPLAY_FILES_BYTES_MAX (32L << 20)

struct replay_files {
	struct buf lines;
	struct replay_file *files; /* each path that had a text so far */
	size_t n;
	bool is_full;           /* files were left out, because there are too many */
	int steps;              /* last step whose files are noted; -1: not even the start */
	struct fh_error failed; /* why later steps are left out; code 0: none is */
};

void replay_files_init(struct replay_files *f);
void replay_files_release(struct replay_files *f);

/* Notes what changed since the last call: the reset, then a step for each call. The environment
 * must be idle. Blocks until all files are read. */
void replay_files_note(struct replay_files *f, struct fh_env *env);

/* Writes the file into a folder. `differs`: first step that differs from the record; 0: none. */
int replay_files_write(const struct replay_files *f, const char *folder, int64_t record_bytes,
		size_t differs, struct fh_error *err);

#endif
