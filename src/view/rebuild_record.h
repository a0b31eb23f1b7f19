/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_REBUILD_RECORD_H
#define VIEW_REBUILD_RECORD_H

#include "view/rebuild.h"

/* Reads the record's steps up to number `n` that were not read yet. */
void rebuild_record(struct rebuild *b, const struct record *r, size_t n);

#endif
