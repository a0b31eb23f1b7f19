/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_FILES_H
#define GUEST_FILES_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Makes a copy of a regular file beneath `folder`, in a sealed memfd, and its hash. Fails if the
 * file is larger than `most` bytes. Follows no link.
 */
int files_get(const char *folder, const char *path, uint64_t most, int *out_fd,
		uint8_t out_digest[SHA256_BYTES], struct fh_error *err);
int files_put(const char *folder, const char *path, mode_t mode, int from, struct fh_error *err);
/*
 * Makes the folders of a path beneath `top`, following no link. New folders belong to the id
 * `owner`. Returns a descriptor (O_PATH) of the last folder, or -errno.
 */
int files_make_folders(int top, const char *path, id_t owner);

#endif
