/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_DISK_H
#define NATIVE_DISK_H

#include "native/native.h"

/*
 * Makes a folder (heap path) for an episode's files, with a quota if the file system can set it.
 * *out_counted: the quota is set and counts the folder's files.
 */
int disk_folder_new(struct native_owner *owner, const struct sandbox_limits *limits, char **out,
		bool *out_counted, struct fh_error *err);
/* Removes the folder that this owner has for its episodes. Call it when all episodes' folders were
 * removed. */
void disk_close(struct native_owner *owner);

/* Makes the folder (heap path) that holds the folders of all owners' episodes. It may exist
 * already. */
int disk_episodes_dir(char **out, struct fh_error *err);

#endif
