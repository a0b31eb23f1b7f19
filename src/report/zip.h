/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_ZIP_H
#define REPORT_ZIP_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/*
 * Writes a ZIP archive without compression to a descriptor, front to back. Archives over 4 GiB and
 * with over 65,535 files are Zip64. Dates are always the first of 1980, so the same files give the
 * same bytes.
 */
struct zip {
	int fd;
	uint64_t at;          /* bytes written */
	struct buf directory; /* entries of the central directory, written at the end */
	uint64_t n;
};

#define ZIP_DIRECTORY_BYTES_MAX (512L << 20)
#define ZIP_INIT(descriptor)                                                                       \
	{                                                                                          \
		.fd = (descriptor), .directory = BUF_INIT(ZIP_DIRECTORY_BYTES_MAX)                 \
	}

/* Adds a file of less than 4 GiB. -EFBIG: it is larger, or there are too many. */
int zip_add(struct zip *z, const char *name, const void *data, size_t n, struct fh_error *err);
int zip_end(struct zip *z, struct fh_error *err);
void zip_release(struct zip *z);
#define auto_zip __attribute__((cleanup(zip_release)))

#endif
