/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_LAYERS_H
#define NATIVE_LAYERS_H

#include "native/native.h"

/*
 * Layers (starting files) of an owner. The nursery copies the files, and the owner keeps a
 * description. From it a new nursery makes the layer again.
 */

/* Adds a layer: owner_add_layer() and owner_add_writable() of native sandboxes. */
int layers_add(struct owner *base, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err);
int layers_add_writable(struct owner *base, const char *source, struct fh_error *err);

/* Drops a layer: owner_drop_layer() of native sandboxes. */
void layers_drop(struct owner *base, const char *name);

bool layers_has(struct native_owner *owner, const char *name);
void layers_release(struct native_owner *owner);

#define FOLDERS_NAME_BYTES 32
/* Writes the name of the layer that owner_add_writable() makes of a folder. */
void layers_folders_name(const char *source, char out[FOLDERS_NAME_BYTES]);

#endif
