/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_PACK_H
#define INSIDE_PACK_H

#include <stdint.h>

/*
 * Form of a packed folder. Each entry is this struct, then the entry's path beneath the folder,
 * then its content. A subfolder comes before its own entries. Numbers are in the machine's byte
 * order.
 */
enum pack_kind { PACK_FILE, PACK_FOLDER, PACK_LINK, PACK_END };

struct pack_entry {
	uint64_t kind, mode, path_bytes;
	uint64_t bytes; /* size of a file, or of a link's target; 0 for others */
};

#endif
