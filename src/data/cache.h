/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_CACHE_H
#define DATA_CACHE_H

#include "base/sha256.h"
#include "data/lock.h"
#include "task/dataset.h"

/*
 * The cache of the Python package huggingface_hub: <cache>/datasets--OWNER--NAME/ with refs/, which
 * hold commits, and snapshots/COMMIT/PATH, links to blobs. The name of a large blob is its sha256.
 */
struct cache_hit {
	char *path; /* absolute path of the blob, on the heap; NULL: the cache lacks the file */
	char commit[LOCK_REVISION_BYTES];
	char sha256[SHA256_HEX_BYTES]; /* hash of the file; "": not known */
};

/* Finds a file of the cache at a commit, branch or tag. The cache's refs/ tell the commit of a
 * branch or tag. */
void cache_find(const struct dataset_source *source, const char *revision, struct cache_hit *out);

#endif
