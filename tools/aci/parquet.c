/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * https://github.com/apache/parquet-format: a file ends with its metadata, four bytes of their length (little
 * endian) and "PAR1". The metadata are Thrift's compact protocol
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Numbers of fields are those
 * of parquet.thrift. Whatever a file says, no more is read than it has, and nothing is followed deeper than
 * DEPTH_MAX.
 */
#define FOOTER_BYTES_MAX (64L << 20)
#define TEXT_BYTES_MAX (4L << 20)
#define COLUMNS_MAX 4096
#define DEPTH_MAX 32

enum {
	T_STOP,
	T_TRUE,
	T_FALSE,
	T_I8,
	T_I16,
	T_I32,
	T_I64,
	T_DOUBLE,
	T_BINARY,
	T_LIST,
	T_SET,
	T_MAP,
	T_STRUCT
};

struct reader {
	const unsigned char *at, *end;
	bool broken;
};

struct column {
	char *name;
	int type;
	int64_t nulls;
	bool has_nulls, has_range;
	double min, max;
};

struct metadata {
	int64_t rows, groups;
	struct column *columns; /* the leaves of the schema, in order */
	size_t n;
};

/* --- the compact protocol ------------------------------------------------------------------------------- */

static uint64_t read_varint(struct reader *r)
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

static int64_t read_zigzag(struct reader *r)
{
	uint64_t v = read_varint(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static const unsigned char *read_bytes(struct reader *r, size_t *out_n)
{
	uint64_t n = read_varint(r);
	const unsigned char *at = r->at;

	if (n > (uint64_t)(r->end - r->at)) {
		r->broken = true;
		n = 0;
	}
	r->at += n;
	*out_n = (size_t)n;
	return at;
}

/* The next field of a struct; T_STOP at its end. */
static int read_field(struct reader *r, int *id)
{
	unsigned char head;

	if (r->broken || r->at == r->end) {
		r->broken = true;
		return T_STOP;
	}
	head = *r->at++;
	if ((head & 0x0f) == T_STOP)
		return T_STOP;
	*id = head >> 4 ? *id + (head >> 4) : (int16_t)read_zigzag(r);
	return head & 0x0f;
}

static size_t read_list(struct reader *r, int *out_type)
{
	unsigned char head = r->at < r->end ? *r->at++ : 0;
	uint64_t n = head >> 4;

	if (n == 15)
		n = read_varint(r);
	*out_type = head & 0x0f;
	if (n > (uint64_t)(r->end - r->at)) /* each takes a byte at least */
		r->broken = true;
	return r->broken ? 0 : (size_t)n;
}

static void skip(struct reader *r, int type, int depth);

/* Of a list or map, in which a truth is a byte: each takes one at least. */
static void skip_item(struct reader *r, int type, int depth)
{
	if (r->at == r->end)
		r->broken = true;
	skip(r, type == T_TRUE || type == T_FALSE ? T_I8 : type, depth);
}

static void skip_list(struct reader *r, int depth)
{
	int type;
	size_t n = read_list(r, &type);

	for (size_t i = 0; i < n && !r->broken; i++)
		skip_item(r, type, depth);
}

static void skip_map(struct reader *r, int depth)
{
	uint64_t n = read_varint(r);
	unsigned char types = n && r->at < r->end ? *r->at++ : 0;

	for (uint64_t i = 0; i < n && !r->broken; i++) {
		skip_item(r, types >> 4, depth);
		skip_item(r, types & 0x0f, depth);
	}
}

static void skip_struct(struct reader *r, int depth)
{
	int id = 0, type;

	while ((type = read_field(r, &id)) != T_STOP)
		skip(r, type, depth);
}

static void skip(struct reader *r, int type, int depth)
{
	size_t n;

	if (depth == DEPTH_MAX)
		r->broken = true;
	if (r->broken)
		return;
	switch (type) {
	case T_TRUE:
	case T_FALSE:
		break;
	case T_I8:
	case T_DOUBLE:
		n = type == T_I8 ? 1 : 8;
		if ((size_t)(r->end - r->at) < n)
			r->broken = true;
		else
			r->at += n;
		break;
	case T_I16:
	case T_I32:
	case T_I64:
		read_varint(r);
		break;
	case T_BINARY:
		read_bytes(r, &n);
		break;
	case T_LIST:
	case T_SET:
		skip_list(r, depth + 1);
		break;
	case T_MAP:
		skip_map(r, depth + 1);
		break;
	case T_STRUCT:
		skip_struct(r, depth + 1);
		break;
	default:
		r->broken = true;
	}
}

/* --- parquet.thrift ---------------------------------------------------------------------------------------- */

static const char *const types[] = { "boolean", "int32", "int64", "int96", "float", "double",
	"bytes", "fixed bytes" };
enum { P_BOOLEAN, P_INT32, P_INT64, P_INT96, P_FLOAT, P_DOUBLE };

/* SchemaElement: a leaf has a type. */
static void read_element(struct reader *r, struct metadata *m)
{
	int id = 0, type, physical = -1;
	const unsigned char *name = NULL;
	size_t n = 0;

	while ((type = read_field(r, &id)) != T_STOP) {
		if (id == 1 && type == T_I32)
			physical = (int)read_zigzag(r);
		else if (id == 4 && type == T_BINARY)
			name = read_bytes(r, &n);
		else
			skip(r, type, 0);
	}
	if (physical < 0 || !name || r->broken || m->n == COLUMNS_MAX)
		return;
	m->columns[m->n++] = (struct column){ .name = xstrndup((const char *)name, n),
		.type = physical };
}

static void read_schema(struct reader *r, struct metadata *m)
{
	int type;
	size_t n = read_list(r, &type);

	for (size_t i = 0; i < n && !r->broken; i++)
		read_element(r, m);
}

static bool number_of(const struct column *c, const unsigned char *at, size_t n, double *out)
{
	int32_t i32;
	int64_t i64;
	float f;

	if (c->type == P_INT32 && n == sizeof(i32)) {
		memcpy(&i32, at, n);
		*out = i32;
	} else if (c->type == P_INT64 && n == sizeof(i64)) {
		memcpy(&i64, at, n);
		*out = (double)i64;
	} else if (c->type == P_FLOAT && n == sizeof(f)) {
		memcpy(&f, at, n);
		*out = f;
	} else if (c->type == P_DOUBLE && n == sizeof(*out)) {
		memcpy(out, at, n);
	} else {
		return false;
	}
	return true;
}

/* Statistics: 3 null_count, 5 max_value, 6 min_value; 1 and 2 are what older writers gave for these. */
static void read_statistics(struct reader *r, struct column *c)
{
	int id = 0, type;

	while ((type = read_field(r, &id)) != T_STOP) {
		const unsigned char *at;
		double v;
		size_t n;

		if (id == 3 && type == T_I64) {
			if (__builtin_add_overflow(c->nulls, read_zigzag(r), &c->nulls))
				r->broken = true;
			c->has_nulls = true;
			continue;
		}
		if (type != T_BINARY || (id != 1 && id != 2 && id != 5 && id != 6)) {
			skip(r, type, 0);
			continue;
		}
		at = read_bytes(r, &n);
		if (r->broken || !number_of(c, at, n, &v))
			continue;
		if (!c->has_range || v < c->min)
			c->min = v;
		if (!c->has_range || v > c->max)
			c->max = v;
		c->has_range = true;
	}
}

/* ColumnMetaData: 12 statistics. */
static void read_column_metadata(struct reader *r, struct column *c)
{
	int id = 0, type;

	while ((type = read_field(r, &id)) != T_STOP) {
		if (id == 12 && type == T_STRUCT && c)
			read_statistics(r, c);
		else
			skip(r, type, 0);
	}
}

/* ColumnChunk: 3 meta_data. They come in the order of the leaves. */
static void read_chunk(struct reader *r, struct column *c)
{
	int id = 0, type;

	while ((type = read_field(r, &id)) != T_STOP) {
		if (id == 3 && type == T_STRUCT)
			read_column_metadata(r, c);
		else
			skip(r, type, 0);
	}
}

/* RowGroup: 1 columns. */
static void read_group(struct reader *r, struct metadata *m)
{
	int id = 0, type;

	m->groups++;
	while ((type = read_field(r, &id)) != T_STOP) {
		size_t n;

		if (id != 1 || type != T_LIST) {
			skip(r, type, 0);
			continue;
		}
		n = read_list(r, &type);
		for (size_t i = 0; i < n && !r->broken; i++)
			read_chunk(r, i < m->n ? &m->columns[i] : NULL);
	}
}

/* FileMetaData: 2 schema, 3 num_rows, 4 row_groups. */
static void read_metadata(struct reader *r, struct metadata *m)
{
	int id = 0, type;

	while ((type = read_field(r, &id)) != T_STOP) {
		size_t n;

		if (id == 2 && type == T_LIST) {
			read_schema(r, m);
		} else if (id == 3 && type == T_I64) {
			m->rows = read_zigzag(r);
		} else if (id == 4 && type == T_LIST) {
			n = read_list(r, &type);
			for (size_t i = 0; i < n && !r->broken; i++)
				read_group(r, m);
		} else {
			skip(r, type, 0);
		}
	}
}

/* --- telling ------------------------------------------------------------------------------------------------ */

static void tell_column(struct buf *out, const struct column *c)
{
	size_t known = ARRAY_SIZE(types);

	str_add_printable(out, c->name);
	buf_printf(out, ": %s",
			c->type >= 0 && (size_t)c->type < known ? types[c->type] : "unknown");
	if (c->has_nulls)
		buf_printf(out, ", %" PRId64 " missing", c->nulls);
	if (c->has_range)
		buf_printf(out, "; min %g, max %g", c->min, c->max);
	buf_add_char(out, '\n');
}

bool parquet_tell(const unsigned char *footer, size_t n, struct buf *out)
{
	struct reader r = { footer, footer + n, false };
	struct metadata m = { .columns = xcalloc(COLUMNS_MAX, sizeof(*m.columns)) };

	read_metadata(&r, &m);
	if (!r.broken) {
		buf_printf(out, "%" PRId64 " rows, %zu columns (Parquet, %" PRId64 " row groups)\n",
				m.rows, m.n, m.groups);
		for (size_t i = 0; i < m.n; i++)
			tell_column(out, &m.columns[i]);
		buf_add_str(out,
				"(What is told here its writer left in the file; quantiles need pandas or pyarrow.)\n");
	}
	for (size_t i = 0; i < m.n; i++)
		free(m.columns[i].name);
	free(m.columns);
	return !r.broken;
}

static int broken(const char *path)
{
	printf("%s is no whole Parquet file.\n", path);
	return 1;
}

int parquet_describe(const char *path)
{
	auto_buf struct buf out = BUF_INIT(TEXT_BYTES_MAX);
	auto_free unsigned char *footer = NULL;
	unsigned char tail[8];
	FILE *file = fopen(path, "re");
	uint32_t n = 0;
	bool ok;

	if (!file)
		return broken(path);
	ok = fseek(file, -(long)sizeof(tail), SEEK_END) == 0 &&
			fread(tail, 1, sizeof(tail), file) == sizeof(tail) &&
			memcmp(tail + 4, "PAR1", 4) == 0;
	if (ok)
		memcpy(&n, tail, sizeof(n));
	ok = ok && n && n <= FOOTER_BYTES_MAX &&
			fseek(file, -(long)(n + sizeof(tail)), SEEK_END) == 0;
	if (ok) {
		footer = xcalloc(n, 1);
		ok = fread(footer, 1, n, file) == n;
	}
	fclose(file);
	if (!ok || !parquet_tell(footer, n, &out))
		return broken(path);
	printf("%s: %s", path, buf_str(&out));
	return 0;
}
