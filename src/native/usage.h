/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_USAGE_H
#define NATIVE_USAGE_H

#include "native/native.h"

/* Returns the number of bytes used in the sandbox' file system; -1: not known. */
int64_t usage_files_bytes(const struct native_sandbox *sb);

/* Returns a counter of the sandbox: sandbox_count() of native sandboxes. */
int64_t usage_count(const struct sandbox *base, enum sandbox_counter counter);

#endif
