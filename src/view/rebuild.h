/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_REBUILD_H
#define VIEW_REBUILD_H

#include "base/arena.h"
#include "view/editor_window.h"

/*
 * Rebuilds the texts of files from the steps of a recorded run. Steps show lines by the editor's
 * commands and by cat. Actions have the texts of edits and here-documents. Programs that change
 * files unseen are not followed, so each version tells how its text is known.
 */

enum rebuilt_how {
	REBUILT_SHOWN, /* a step showed another text than before */
	REBUILT_CREATED,
	REBUILT_EDITED,  /* edit or insert */
	REBUILT_WRITTEN, /* here-document, or echo */
	REBUILT_COPIED,  /* cp or mv */
	REBUILT_REMOVED,
	REBUILT_REPLAYED, /* a replay had this text: view/replayed.h */
	REBUILT_DATA,     /* in a replay it was no text any more, or a longer one */
};

/* Text of a file from one step on. */
struct rebuilt_version {
	size_t step; /* the step that made it or showed it first, from 1 */
	enum rebuilt_how how;
	const struct rebuilt_line *lines;
	size_t n, unknown; /* lines, and those that are not known */
	size_t shown;      /* last step whose output showed the whole text; 0: none */
	/* first step after `shown` that may have changed the file; 0: none */
	size_t doubt;
};

struct rebuilt_file {
	char *path;
	struct rebuilt_version *versions;
	size_t n;
	size_t n_replayed; /* number of the first versions, which come from a replay */
};

/* How often a shown text was as the steps before had it. */
struct rebuilt_checks {
	size_t equal, different;
	size_t changed; /* different after a step that may have changed the file */
};

struct rebuild {
	struct arena arena;
	struct rebuilt_file *files;
	size_t n;
	size_t steps; /* steps that were read */
	unsigned epoch;
	char *folder;        /* the working directory */
	size_t bytes;        /* memory of the texts */
	bool full;           /* later steps are left out, because they need too much memory */
	size_t replayed;     /* first step that a replay does not tell; 0: there is no replay */
	bool lacks_notes;    /* the replay left out files, because there were too many */
	int64_t replay_time; /* value of replayed_time() when the replay was looked for */
	struct rebuilt_checks checks;
};

struct rebuilt_step {
	struct run_text action, observation;
	/* working directory before and after the step; NULL: unknown */
	const char *folder, *folder_after;
	/* 1: the command succeeded, 0: it failed, -1: unknown */
	int succeeded;
	bool mlgym; /* recorded by MLGym, whose observations may differ from the output */
};

void rebuild_step(struct rebuild *b, const struct rebuilt_step *step);
struct rebuild *rebuild_new(unsigned epoch);
void rebuild_free(struct rebuild *b); /* `b` may be NULL */

#endif
