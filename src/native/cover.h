/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_COVER_H
#define NATIVE_COVER_H

#include "native/native.h"

/* Hides a folder from sandboxes: owner_hide() and sandbox_hide_check() of native sandboxes. */
int cover_hide(struct owner *base, const char *folder, struct fh_error *err);
int cover_check(const char *folder, struct fh_error *err);

#endif
