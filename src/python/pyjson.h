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
 * JSON exactly as Python's json module writes it, for files that others read and compare.
 *
 * base/json.h is the everyday one; this one loses nothing: members keep their order, numbers their
 * text (1.50 stays 1.50, NaN and Infinity are numbers), strings every character (a lone surrogate,
 * which Python may write as "\ud800", is kept in its three-byte form), and every value knows where
 * it stood. What is read is a stranger's: depth and count are capped. And what is written goes
 * straight into a buffer, with no tree in between, which a log line for each step needs.
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
	const char *text; /* string: its bytes and a NUL; number: as written */
	size_t len;       /* of text; a string may hold NULs */
	const char *key;  /* its name in the object around it, else NULL */
	size_t key_len;
	const struct pyjson *first; /* of an array or object */
	const struct pyjson *next;  /* beside it */
	size_t n;                   /* how many there are in it */
	unsigned line, column;      /* where it begins, from 1 */
};

#define PYJSON_DEPTH_MAX 64
#define PYJSON_VALUES_MAX 1000000

struct pyjson_source {
	const char *name; /* in messages */
	const char *data;
	size_t n;
	unsigned first_line; /* 0 is 1 */
};

/*
 * Reads one value; nothing but white space may follow it. The tree lives in the arena and points
 * nowhere else. -EINVAL with "<name>:<line>:<column>: what is wrong".
 */
int pyjson_read(struct arena *a, const struct pyjson_source *source, const struct pyjson **out,
		struct fh_error *err);

/* "<name>:<line>:<column>: <message>" about a value that was read. -EINVAL. */
int pyjson_complain(const char *name, const struct pyjson *at, struct fh_error *err,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The last member of that name, as in Python; NULL if there is none or it is no object. */
const struct pyjson *pyjson_get(const struct pyjson *object, const char *key);

/* The string, NULL if it is none or holds a NUL. */
const char *pyjson_string(const struct pyjson *v);

/* The same; "" for what is none, and for NULL. */
const char *pyjson_text(const struct pyjson *v);

/* False (and *out untouched) if it is no number, or not finite, or not whole. */
bool pyjson_double(const struct pyjson *v, double *out);
bool pyjson_i64(const struct pyjson *v, int64_t *out);

/* A string that was not read but made: the text is copied into the arena; NULL gives null. */
const struct pyjson *pyjson_make_text(struct arena *a, const char *text);

/* --- writing ---------------------------------------------------------------------------------- */

enum pyjson_style {
	PYJSON_LINE,     /* one line, no blanks, UTF-8: for a log */
	PYJSON_INDENTED, /* as json.dumps(v, indent=2): ASCII, everything else escaped */
};

/*
 * Writes values one after the other. `key` is NULL outside of objects; who opens, ends. Where the
 * cap of `out` is hit, out->truncated says so.
 */
struct pyjson_writer {
	struct buf *out;
	enum pyjson_style style;
	unsigned depth;
	bool filled; /* something stands in the array or object that is open */
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

/* A value that is JSON already, as it is. */
void pyjson_put_written(struct pyjson_writer *w, const char *key, const char *json);

/* Appends a string as json.dumps does: quoted, everything but ASCII escaped. */
void pyjson_add_ascii(struct buf *out, const char *s, size_t n);

#endif
