/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_SPLITTER_H
#define TRAJECTORY_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds where the parts of a record begin and end, while its bytes are read in pieces of any size.
 * A part is not checked: it may be broken JSON. The record is untrusted, and may end anywhere.
 */
enum record_part {
	PART_EVENT,   /* a line of an events.jsonl, without its newline */
	PART_STEP,    /* an object in the "trajectory" of a .traj */
	PART_MESSAGE, /* an object in its "history" */
	PART_INFO,    /* the "info" of a .traj, or the "metrics" of a policy's record */
};

/* Takes a part: bytes from `begin` to before `end` of the record. */
typedef void splitter_take(void *user, enum record_part part, int64_t begin, int64_t end);

struct splitter {
	bool lines;    /* the record is an events.jsonl, not a .traj */
	int64_t at;    /* offset of the next byte */
	int64_t begin; /* offset where the current part began; -1: none */
	enum record_part part;
	unsigned depth, part_depth; /* open braces at the next byte, and at the part */
	bool in_string, escaped, in_key, has_value;
	char key[16]; /* name of the member of the outer object; "" if it is long */
	size_t key_len;
};

void splitter_init(struct splitter *s, bool lines);
void splitter_bytes(
		struct splitter *s, const char *data, size_t n, splitter_take *take, void *user);

/* True if a .traj was read to its last brace. */
bool splitter_is_whole(const struct splitter *s);

#endif
