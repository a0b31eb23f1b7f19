/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_OWNER_H
#define NATIVE_OWNER_H

#include "native/native.h"

/* Abilities of this machine. They are known once a sandbox or a layer was made. */
struct native_abilities {
	bool groups;           /* control groups enforce limits and count usage */
	const char *no_groups; /* why there are no groups; the owner's string */
	bool overlay;          /* overlays work; if not, a layer is copied into each sandbox */
};

void native_abilities(const struct owner *base, struct native_abilities *out);

#endif
