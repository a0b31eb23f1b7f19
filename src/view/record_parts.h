/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_RECORD_PARTS_H
#define VIEW_RECORD_PARTS_H

#include "view/steps.h"

/* Makes a run of the parts of its record. */

struct run_part {
	enum record_part part;
	int64_t begin, end;
	const char *data; /* NULL: the part is too long to be read */
	size_t n;
};

void parts_take(struct record *r, const struct run_part *part);
void parts_add_message(struct record *r, int64_t begin, int64_t end);
void parts_add_fault(struct record *r, const struct record_fault *fault);

/* Releases the steps, messages and texts of the run. */
void parts_release(struct record *r);

/* Adds what other files say of the run, after its record was read for the first time. */
void parts_add_others(struct record *r);

/* Returns the text of a recorded member, with its length: strings may contain NULs. */
struct run_text {
	const char *text;
	size_t n;
};
struct run_text run_text_of(const struct pyjson *object, const char *key);

#endif
