/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_USAGE_H
#define NATIVE_USAGE_H

#include "native/native.h"

/* Returns the used bytes of the sandbox' file system; -1: not known. */
int64_t usage_files_bytes(const struct native_sandbox *sb);

/* sandbox_count() */
int64_t usage_count(const struct sandbox *base, enum sandbox_counter counter);

#endif
