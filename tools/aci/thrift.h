/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_THRIFT_H
#define ACI_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Thrift's compact protocol (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in
 * which a Parquet file describes itself. Whatever the bytes say, no more is read than there are, and nothing is
 * followed deeper than 32 structs. What is wrong sets `broken`, after which all is empty; `at` is how far it came.
 *
 *   int id = 0, type;
 *
 *   while ((type = thrift_field(r, &id)) != THRIFT_STOP)
 *           if (id == 3 && type == THRIFT_I64)
 *                   rows = thrift_zigzag(r);
 *           else
 *                   thrift_skip(r, type);
 */
struct thrift {
	const unsigned char *at, *end;
	bool broken;
};

enum {
	THRIFT_STOP,
	THRIFT_TRUE,
	THRIFT_FALSE,
	THRIFT_I8,
	THRIFT_I16,
	THRIFT_I32,
	THRIFT_I64,
	THRIFT_DOUBLE,
	THRIFT_BINARY,
	THRIFT_LIST,
	THRIFT_SET,
	THRIFT_MAP,
	THRIFT_STRUCT
};

/* The next field of a struct; THRIFT_STOP at its end. */
int thrift_field(struct thrift *r, int *id);

/* What a field holds; the integers are zigzag. */
uint64_t thrift_varint(struct thrift *r);
int64_t thrift_zigzag(struct thrift *r);
const unsigned char *thrift_bytes(struct thrift *r, size_t *out_n);

/* How many items follow, none of which takes less than a byte. */
size_t thrift_list(struct thrift *r, int *out_type);

void thrift_skip(struct thrift *r, int type);

#endif
