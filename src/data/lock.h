/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_LOCK_H
#define DATA_LOCK_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * <state>/data.lock: a JSON file with the hashes of fetched files, and of data sets' files made of
 * them. A fetch writes the entry of each file. Later fetches ask for its revision, and expect its
 * hash if datasets/<id>.yaml has none.
 */

enum lock_section { LOCK_SOURCES, LOCK_FILES };

#define LOCK_REVISION_BYTES 128

struct lock_entry {
	char sha256[SHA256_HEX_BYTES];
	char revision[LOCK_REVISION_BYTES]; /* commit of a repository; "": none */
	int64_t size_bytes;
};

/* Finds an entry of data.lock; *out_found tells if there is one. */
int lock_find(const char *state_dir, enum lock_section section, const char *key, bool *out_found,
		struct lock_entry *out, struct fh_error *err);

/* Writes an entry of data.lock. Other processes may do the same at once. */
int lock_record(const char *state_dir, enum lock_section section, const char *key,
		const struct lock_entry *entry, struct fh_error *err);

#endif
