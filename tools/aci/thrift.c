/* SPDX-License-Identifier: Apache-2.0 */
#include "thrift.h"

#define DEPTH_MAX 32

uint64_t thrift_varint(struct thrift *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		unsigned char byte = *r->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	r->broken = true;
	return 0;
}

int64_t thrift_zigzag(struct thrift *r)
{
	uint64_t v = thrift_varint(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

const unsigned char *thrift_bytes(struct thrift *r, size_t *out_n)
{
	uint64_t n = thrift_varint(r);
	const unsigned char *at = r->at;

	if (n > (uint64_t)(r->end - r->at)) {
		r->broken = true;
		n = 0;
	}
	r->at += n;
	*out_n = (size_t)n;
	return at;
}

/* The next field of a struct; THRIFT_STOP at its end. */
int thrift_field(struct thrift *r, int *id)
{
	unsigned char head;

	if (r->broken || r->at == r->end) {
		r->broken = true;
		return THRIFT_STOP;
	}
	head = *r->at++;
	if ((head & 0x0f) == THRIFT_STOP)
		return THRIFT_STOP;
	*id = head >> 4 ? *id + (head >> 4) : (int16_t)thrift_zigzag(r);
	return head & 0x0f;
}

size_t thrift_list(struct thrift *r, int *out_type)
{
	unsigned char head = r->at < r->end ? *r->at++ : 0;
	uint64_t n = head >> 4;

	if (n == 15)
		n = thrift_varint(r);
	*out_type = head & 0x0f;
	if (n > (uint64_t)(r->end - r->at)) /* each takes a byte at least */
		r->broken = true;
	return r->broken ? 0 : (size_t)n;
}

static void skip(struct thrift *r, int type, int depth);

/* Of a list or map, in which a truth is a byte: each takes one at least. */
static void skip_item(struct thrift *r, int type, int depth)
{
	if (r->at == r->end)
		r->broken = true;
	skip(r, type == THRIFT_TRUE || type == THRIFT_FALSE ? THRIFT_I8 : type, depth);
}

static void skip_list(struct thrift *r, int depth)
{
	int type;
	size_t n = thrift_list(r, &type);

	for (size_t i = 0; i < n && !r->broken; i++)
		skip_item(r, type, depth);
}

static void skip_map(struct thrift *r, int depth)
{
	uint64_t n = thrift_varint(r);
	unsigned char types = n && r->at < r->end ? *r->at++ : 0;

	for (uint64_t i = 0; i < n && !r->broken; i++) {
		skip_item(r, types >> 4, depth);
		skip_item(r, types & 0x0f, depth);
	}
}

static void skip_struct(struct thrift *r, int depth)
{
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP)
		skip(r, type, depth);
}

static void skip(struct thrift *r, int type, int depth)
{
	size_t n;

	if (depth == DEPTH_MAX)
		r->broken = true;
	if (r->broken)
		return;
	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		break;
	case THRIFT_I8:
	case THRIFT_DOUBLE:
		n = type == THRIFT_I8 ? 1 : 8;
		if ((size_t)(r->end - r->at) < n)
			r->broken = true;
		else
			r->at += n;
		break;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		thrift_varint(r);
		break;
	case THRIFT_BINARY:
		thrift_bytes(r, &n);
		break;
	case THRIFT_LIST:
	case THRIFT_SET:
		skip_list(r, depth + 1);
		break;
	case THRIFT_MAP:
		skip_map(r, depth + 1);
		break;
	case THRIFT_STRUCT:
		skip_struct(r, depth + 1);
		break;
	default:
		r->broken = true;
	}
}

void thrift_skip(struct thrift *r, int type)
{
	skip(r, type, 0);
}
