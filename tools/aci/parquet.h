/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_PARQUET_H
#define ACI_PARQUET_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* What the footer of a Parquet file tells: rows, columns, types, and the statistics that its writer left. The data
 * itself is not decoded. Exit status. */
int parquet_describe(const char *path);

/* The same from a footer that was read: appends what there is to tell. False if it is broken. */
bool parquet_tell(const unsigned char *footer, size_t n, struct buf *out);

#endif
