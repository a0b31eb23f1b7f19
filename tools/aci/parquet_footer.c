/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet.h"
#include "thrift.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file ends with its footer, four bytes of its length (little endian) and "PAR1". Numbers of fields are those of
 * parquet.thrift. */
#define FOOTER_BYTES_MAX (64L << 20)
#define CHUNKS_MAX (1 << 20)
#define NAME_BYTES_MAX 1024
#define WIDTH_MAX (1 << 20)
#define NESTED_MAX 32
#define DIGITS_MAX 38

/* --- the schema --------------------------------------------------------------------------------- */

enum { REQUIRED, OPTIONAL, REPEATED };

/* A line of the schema: a leaf has a type, a group has children, which follow. */
struct element {
	int type, repetition;
	int64_t width, children;
	enum parquet_kind kind;
	int64_t digits;
	const unsigned char *name;
	size_t n_name;
};

/* What older writers gave for what a type means. */
static void read_converted(struct element *e, int64_t converted)
{
	static const struct {
		enum parquet_kind kind;
		int digits;
	} kinds[] = {
		[0] = { PARQUET_TEXT },
		[4] = { PARQUET_TEXT },
		[5] = { PARQUET_DECIMAL },
		[6] = { PARQUET_DATE },
		[7] = { PARQUET_TIME, 3 },
		[8] = { PARQUET_TIME, 6 },
		[9] = { PARQUET_TIMESTAMP, 3 },
		[10] = { PARQUET_TIMESTAMP, 6 },
		[11] = { PARQUET_UNSIGNED },
		[12] = { PARQUET_UNSIGNED },
		[13] = { PARQUET_UNSIGNED },
		[14] = { PARQUET_UNSIGNED },
		[19] = { PARQUET_TEXT },
	};

	if (converted < 0 || (size_t)converted >= ARRAY_SIZE(kinds) || e->kind != PARQUET_PLAIN)
		return;
	e->kind = kinds[converted].kind;
	if (kinds[converted].digits)
		e->digits = kinds[converted].digits;
}

/* TimeUnit: 1 milliseconds, 2 microseconds, 3 nanoseconds. */
static int read_unit(struct thrift *r)
{
	int id = 0, type, digits = 0;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		if (id >= 1 && id <= 3)
			digits = 3 * id;
		thrift_skip(r, type);
	}
	return digits;
}

/* DecimalType: 1 scale. TimeType, TimestampType: 2 unit. IntType: 2 isSigned. */
static void read_kind(struct thrift *r, struct element *e)
{
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		if (e->kind == PARQUET_DECIMAL && id == 1 && type == THRIFT_I32)
			e->digits = thrift_zigzag(r);
		else if (id == 2 && type == THRIFT_STRUCT)
			e->digits = read_unit(r);
		else if (e->kind == PARQUET_UNSIGNED && id == 2 && type == THRIFT_TRUE)
			e->kind = PARQUET_PLAIN;
		else
			thrift_skip(r, type);
	}
}

/* LogicalType, of which one field is set. */
static void read_logical(struct thrift *r, struct element *e)
{
	static const enum parquet_kind kinds[] = {
		[1] = PARQUET_TEXT,
		[4] = PARQUET_TEXT,
		[5] = PARQUET_DECIMAL,
		[6] = PARQUET_DATE,
		[7] = PARQUET_TIME,
		[8] = PARQUET_TIMESTAMP,
		[10] = PARQUET_UNSIGNED,
		[12] = PARQUET_TEXT,
		[14] = PARQUET_UUID,
		[15] = PARQUET_HALF,
	};
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		if (type != THRIFT_STRUCT || id < 0 || (size_t)id >= ARRAY_SIZE(kinds)) {
			thrift_skip(r, type);
			continue;
		}
		e->kind = kinds[id];
		read_kind(r, e);
	}
}

/* SchemaElement: 1 type, 2 type_length, 3 repetition_type, 4 name, 5 num_children, 6 converted_type, 7 scale,
 * 10 logicalType. */
static struct element read_element(struct thrift *r)
{
	struct element e = { .type = -1 };
	int64_t converted = -1;
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32)
			e.type = (int)thrift_zigzag(r);
		else if (id == 2 && type == THRIFT_I32)
			e.width = thrift_zigzag(r);
		else if (id == 3 && type == THRIFT_I32)
			e.repetition = (int)thrift_zigzag(r);
		else if (id == 4 && type == THRIFT_BINARY)
			e.name = thrift_bytes(r, &e.n_name);
		else if (id == 5 && type == THRIFT_I32)
			e.children = thrift_zigzag(r);
		else if (id == 6 && type == THRIFT_I32)
			converted = thrift_zigzag(r);
		else if (id == 7 && type == THRIFT_I32)
			e.digits = thrift_zigzag(r);
		else if (id == 10 && type == THRIFT_STRUCT)
			read_logical(r, &e);
		else
			thrift_skip(r, type);
	}
	read_converted(&e, converted);
	return e;
}

/* Where in the tree a line stands: what the groups around it add up to. */
struct place {
	int64_t children; /* that are still to come */
	uint32_t levels;
	bool repeated;
	size_t n_name;
};

static bool add_leaf(struct parquet *p, const struct element *e, const struct place *at,
		const char *name)
{
	bool fixed = e->type == PARQUET_FIXED;
	bool time = e->kind == PARQUET_TIME || e->kind == PARQUET_TIMESTAMP;

	if (e->type < 0 || e->type >= PARQUET_TYPE_N || p->n == PARQUET_COLUMNS_MAX)
		return false;
	if (fixed && (e->width < 1 || e->width > WIDTH_MAX))
		return false;
	if (e->kind == PARQUET_HALF && (!fixed || e->width != 2))
		return false;
	if (e->digits < 0 || e->digits > (time ? 9 : DIGITS_MAX))
		return false;
	p->columns[p->n++] = (struct parquet_column){
		.name = xstrdup(name),
		.type = e->type,
		.kind = e->kind,
		.digits = (int)e->digits,
		.width = fixed ? (size_t)e->width : 0,
		.levels = at->levels,
		.repeated = at->repeated,
	};
	return true;
}

/* FileMetaData's schema: a tree, each group before its children, the root first. */
static bool read_schema(struct thrift *r, struct parquet *p)
{
	struct place places[NESTED_MAX] = { { .children = read_element(r).children } };
	auto_buf struct buf name = BUF_INIT(NAME_BYTES_MAX);
	size_t depth = 1;

	while (depth && !r->broken) {
		struct place *around = &places[depth - 1];
		struct place own = *around;
		struct element e;

		if (!around->children) {
			depth--;
			continue;
		}
		around->children--;
		e = read_element(r);
		own.levels += e.repetition != REQUIRED;
		own.repeated |= e.repetition == REPEATED;
		own.children = e.children;
		name.len = around->n_name;
		buf_add(&name, ".", name.len > 0);
		buf_add(&name, e.name, e.n_name);
		own.n_name = name.len;
		if (e.type >= 0 ? !add_leaf(p, &e, &own, buf_str(&name)) : depth == NESTED_MAX)
			return false;
		if (e.type < 0)
			places[depth++] = own;
	}
	return !r->broken;
}

/* --- groups of rows ----------------------------------------------------------------------------- */

/* ColumnMetaData: 4 codec, 5 num_values, 7 total_compressed_size, 9 data_page_offset, 11 dictionary_page_offset. */
static void read_chunk_metadata(struct thrift *r, struct parquet_chunk *c)
{
	int64_t data = 0, dictionary = 0;
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		int64_t *to = id == 5     ? &c->values
				: id == 7 ? &c->bytes
				: id == 9 ? &data
					  : &dictionary;

		if (id == 4 && type == THRIFT_I32)
			c->codec = (int)thrift_zigzag(r);
		else if (type == THRIFT_I64 && (id == 5 || id == 7 || id == 9 || id == 11))
			*to = thrift_zigzag(r);
		else
			thrift_skip(r, type);
	}
	/* Some writers say 0 where there is no dictionary. */
	c->at = dictionary > 0 && dictionary < data ? dictionary : data;
}

/* ColumnChunk: 3 meta_data, 8 crypto_metadata. */
static void read_chunk(struct thrift *r, struct parquet *p, struct parquet_chunk *c)
{
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		p->encrypted |= id == 8;
		if (id == 3 && type == THRIFT_STRUCT)
			read_chunk_metadata(r, c);
		else
			thrift_skip(r, type);
	}
}

static void read_chunks(struct thrift *r, struct parquet *p)
{
	int type;
	size_t n = thrift_list(r, &type), all = (p->n_groups + 1) * p->n;

	if (n != p->n || all > CHUNKS_MAX || type != THRIFT_STRUCT) {
		r->broken = true;
		return;
	}
	p->chunks = xrealloc(p->chunks, all + 1, sizeof(*p->chunks));
	memset(&p->chunks[all - n], 0, n * sizeof(*p->chunks));
	for (size_t i = all - n; i < all && !r->broken; i++)
		read_chunk(r, p, &p->chunks[i]);
	p->n_groups++;
}

/* RowGroup: 1 columns. */
static void read_group(struct thrift *r, struct parquet *p)
{
	size_t before = p->n_groups;
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP)
		if (id == 1 && type == THRIFT_LIST && p->n_groups == before)
			read_chunks(r, p);
		else
			thrift_skip(r, type);
	if (p->n_groups == before)
		r->broken = true;
}

/* FileMetaData: 2 schema, 3 num_rows, 4 row_groups, in this order. */
bool parquet_read_footer(const unsigned char *footer, size_t n, struct parquet *p)
{
	struct thrift r = { footer, footer + n, false };
	int id = 0, type;

	while ((type = thrift_field(&r, &id)) != THRIFT_STOP) {
		size_t items;

		if (id == 2 && type == THRIFT_LIST && !p->n) {
			thrift_list(&r, &type);
			if (!read_schema(&r, p))
				return false;
		} else if (id == 3 && type == THRIFT_I64) {
			p->rows = thrift_zigzag(&r);
		} else if (id == 4 && type == THRIFT_LIST) {
			items = thrift_list(&r, &type);
			for (size_t i = 0; i < items && !r.broken; i++)
				read_group(&r, p);
		} else {
			thrift_skip(&r, type);
		}
	}
	return !r.broken && p->rows >= 0;
}

/* --- the file ----------------------------------------------------------------------------------- */

static bool read_tail(struct parquet *p)
{
	auto_free unsigned char *footer = NULL;
	unsigned char tail[8];
	struct stat st;
	uint32_t n;

	if (fstat(p->fd, &st) < 0 || st.st_size < 12)
		return false;
	p->bytes = st.st_size;
	if (pread(p->fd, tail, sizeof(tail), p->bytes - 8) != sizeof(tail) ||
			memcmp(tail + 4, "PAR1", 4) != 0)
		return false;
	memcpy(&n, tail, sizeof(n));
	if (!n || n > FOOTER_BYTES_MAX || n > p->bytes - 12)
		return false;
	footer = xcalloc(n, 1);
	return pread(p->fd, footer, n, p->bytes - 8 - n) == (ssize_t)n &&
			parquet_read_footer(footer, n, p);
}

bool parquet_open(const char *path, struct parquet *out)
{
	*out = (struct parquet){ .fd = fd_open_file(path, NULL) };
	out->columns = xcalloc(PARQUET_COLUMNS_MAX, sizeof(*out->columns));
	if (out->fd >= 0 && read_tail(out))
		return true;
	parquet_close(out);
	return false;
}

void parquet_close(struct parquet *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->columns[i].name);
	free(p->columns);
	free(p->chunks);
	if (p->fd >= 0)
		close(p->fd);
	*p = (struct parquet){ .fd = -1 };
}
