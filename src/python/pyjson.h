/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PYTHON_PYJSON_H
#define PYTHON_PYJSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON exactly as Python's json module writes it, for files that other programs compare.
 *
 * Unlike base/json.h, it loses nothing. Members keep their order, and numbers their text: 1.50
 * stays 1.50, and NaN and Infinity are numbers. A lone surrogate, which Python writes as "\ud800",
 * is kept in three bytes. Each value knows its line and column. The input is untrusted: its depth
 * and the number of its values are limited. A writer needs no tree: it appends to a buffer.
 */
enum pyjson_kind {
	PYJSON_NULL,
	PYJSON_BOOL,
	PYJSON_NUMBER,
	PYJSON_STRING,
	PYJSON_ARRAY,
	PYJSON_OBJECT,
};

struct pyjson {
	enum pyjson_kind kind;
	bool boolean;
	const char *text; /* string: decoded, and a NUL; number: as written */
	size_t len;       /* bytes of `text`; a string may hold NULs */
	const char *key;  /* name of an object's member; else NULL */
	size_t key_len;
	const struct pyjson *first; /* member of an array or object */
	const struct pyjson *next;  /* member of the same array or object */
	size_t n;                   /* number of members */
	unsigned line, column;      /* place of its first character, from 1 */
};

#define PYJSON_DEPTH_MAX 64
#define PYJSON_VALUES_MAX 1000000

struct pyjson_source {
	const char *name; /* in messages */
	const char *data;
	size_t n;
	unsigned first_line; /* 0 is 1 */
};

/* Reads a text that is one value. The tree and all that it points to live in the arena. -EINVAL
 * with "<name>:<line>:<column>: what is wrong". */
int pyjson_read(struct arena *a, const struct pyjson_source *source, const struct pyjson **out,
		struct fh_error *err);

/* Fails with "<name>:<line>:<column>: <message>", the place of the value. -EINVAL. */
int pyjson_complain(const char *name, const struct pyjson *at, struct fh_error *err,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The last member of that name, as in Python. NULL: there is none, or it is no object. */
const struct pyjson *pyjson_get(const struct pyjson *object, const char *key);

/* The text of a string. NULL: it is no string, or holds a NUL. */
const char *pyjson_string(const struct pyjson *v);

/* As pyjson_string(), but "" in place of NULL. */
const char *pyjson_text(const struct pyjson *v);

/* False if it is no number, not finite, or, for an integer, not whole. Then *out stays. */
bool pyjson_double(const struct pyjson *v, double *out);
bool pyjson_i64(const struct pyjson *v, int64_t *out);

/* Makes a string with a copy of the text. NULL gives null. */
const struct pyjson *pyjson_make_text(struct arena *a, const char *text);

/* --- writing ---------------------------------------------------------------------------------- */

enum pyjson_style {
	PYJSON_LINE,     /* for logs: no blanks or newlines, UTF-8 */
	PYJSON_INDENTED, /* as json.dumps(v, indent=2): ASCII */
};

/* Appends values. `key` is NULL outside of objects. The caller ends each object and array that it
 * opens. out->truncated is set when its cap is hit. */
struct pyjson_writer {
	struct buf *out;
	enum pyjson_style style;
	unsigned depth;
	bool filled; /* the open array or object has a member */
};

#define PYJSON_WRITER_INIT(buffer, how)                                                            \
	{                                                                                          \
		.out = (buffer), .style = (how)                                                    \
	}

void pyjson_put_object(struct pyjson_writer *w, const char *key); /* opens { */
void pyjson_put_array(struct pyjson_writer *w, const char *key);  /* opens [ */
void pyjson_end_object(struct pyjson_writer *w);
void pyjson_end_array(struct pyjson_writer *w);
void pyjson_put_text(struct pyjson_writer *w, const char *key, const char *s); /* NULL is null */
void pyjson_put_i64(struct pyjson_writer *w, const char *key, int64_t v);
void pyjson_put_u64(struct pyjson_writer *w, const char *key, uint64_t v);
void pyjson_put_double(struct pyjson_writer *w, const char *key, double v);
void pyjson_put_bool(struct pyjson_writer *w, const char *key, bool v);
void pyjson_put_null(struct pyjson_writer *w, const char *key);
void pyjson_put_value(struct pyjson_writer *w, const char *key, const struct pyjson *v);

/* Appends a value that is JSON already. */
void pyjson_put_written(struct pyjson_writer *w, const char *key, const char *json);

#endif
