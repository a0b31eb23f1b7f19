/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_SOURCE_H
#define DATA_SOURCE_H

#include "base/error.h"
#include "task/dataset.h"

/*
 * The source that a file is fetched from. $HF_ENDPOINT names a server that replaces Hugging Face's.
 * $HF_HUB_OFFLINE forbids all servers. Returned strings are on the heap.
 */

/* Gives the URL of the file at `revision`. If `revision` is NULL, takes the revision that the
 * source names. -EINVAL: it is not a valid URL. */
int source_url(const struct dataset_source *source, const char *revision, char **out,
		struct fh_error *err);

/* Name of the source in data.lock. It does not depend on the server, such as a mirror. */
char *source_key(const struct dataset_source *source);

/* Token for Hugging Face, from $HF_TOKEN or the file that `hf auth login` writes; NULL: none. */
char *source_token(void);

/* $HF_HOME, else $XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface; NULL: $HOME is not set. */
char *source_hub_home(void);

/* Returns true if the user's settings forbid to ask any server. */
bool source_is_offline(void);

/* Returns true if `text` is the hash of a commit, which always names the same files. */
bool source_is_commit(const char *text);

#endif
