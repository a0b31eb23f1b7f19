/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_PART_H
#define DATA_PART_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A file while it is fetched: TARGET.DIGITS.part. The digits are a hash of what identifies the
 * content, such as an ETag. So a part is never continued with another content. The part gets the
 * target's name when it is whole and has the right hash.
 */
struct part {
	char *path;
	const char *target;
	int fd;
	int64_t done; /* bytes that the file has so far */
	struct sha256 hash;
	bool is_continued; /* some bytes are from an earlier request */
	bool keep;         /* part_close() leaves the file, for a later process to continue */
};

/* Opens the part of `target`, and hashes the bytes that it already has. Removes other parts of the
 * target. If `identity` is NULL, nothing identifies the content: the part begins empty, and no
 * later process can continue it. */
int part_open(const char *target, const char *identity, struct part *out, struct fh_error *err);
void part_close(struct part *p);

#define PART_INIT                                                                                  \
	{                                                                                          \
		.fd = -1                                                                           \
	}
#define auto_part __attribute__((cleanup(part_close)))

int part_add(struct part *p, const void *data, size_t n, struct fh_error *err);
int part_restart(struct part *p, struct fh_error *err);

/* Gives the part its final name. -EBADMSG if its hash is not `expected`, which may be NULL; then
 * the part is empty again. */
int part_finish(struct part *p, const char *expected, char out_hex[SHA256_HEX_BYTES],
		struct fh_error *err);

#endif
