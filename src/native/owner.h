/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_OWNER_H
#define NATIVE_OWNER_H

#include "native/native.h"

/*
 * Features of sandboxes that this machine supports. They are known once a sandbox or a layer was
 * made.
 */
struct native_abilities {
	bool groups;           /* control groups enforce limits and count usage */
	const char *no_groups; /* sentence that says why there are no groups; the owner's string */
	/* overlays work; without them, a layer's files are copied into each sandbox */
	bool overlay;
};

void native_abilities(const struct owner *base, struct native_abilities *out);

#endif
