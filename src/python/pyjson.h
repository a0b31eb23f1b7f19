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
 * Unlike base/json.h, reading and writing lose nothing. Members keep their order, and numbers their
 * text: 1.50 stays 1.50, and NaN and Infinity are numbers. A lone surrogate, which Python writes as
 * "\ud800", is kept as three bytes. Each value has its line and column. The input is untrusted: its
 * depth and the number of its values are limited. A writer needs no tree: it appends to a buffer.
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
	/* a string's text, decoded and NUL-terminated, or a number's as written in the file */
	const char *text;
	size_t len;      /* length of `text` in bytes; a string may contain NULs */
	const char *key; /* name of this value in its object; NULL outside of objects */
	size_t key_len;
	const struct pyjson *first; /* first member of this array or object */
	/* next member of the array or object that this value is in */
	const struct pyjson *next;
	size_t n;              /* number of members if this value is an array or object */
	unsigned line, column; /* place of the value's first character, counted from 1 */
};

#define PYJSON_DEPTH_MAX 64
#define PYJSON_VALUES_MAX 1000000

struct pyjson_source {
	const char *name; /* name of the JSON text for error messages, for example a file's path */
	const char *data;
	size_t n;
	/* line number to count from: that of the text's first line; 0 means 1 */
	unsigned first_line;
};

/* Parses a text that must be one JSON value. The tree of values and all strings live in the arena.
 * -EINVAL with "<name>:<line>:<column>: what is wrong". */
int pyjson_read(struct arena *a, const struct pyjson_source *source, const struct pyjson **out,
		struct fh_error *err);

/* Sets the error "<name>:<line>:<column>: <message>" with the place of the JSON value `at`. Returns
 * -EINVAL. */
int pyjson_complain(const char *name, const struct pyjson *at, struct fh_error *err,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Finds a member of a JSON object. The last of equal names counts, as in Python. NULL: there is no
 * such member, or `object` is not an object. */
const struct pyjson *pyjson_get(const struct pyjson *object, const char *key);

/* Returns the text of a JSON string. NULL: v is not a string, or the string contains a NUL. */
const char *pyjson_string(const struct pyjson *v);

/* Returns the text of a JSON string. It is "" if v is not a string, or contains a NUL. */
const char *pyjson_text(const struct pyjson *v);

/* True if v is the JSON value true. */
bool pyjson_true(const struct pyjson *v);

/* Functions that read a JSON number into *out. They return false and leave *out unchanged unless v
 * is a finite number of that type. */
bool pyjson_double(const struct pyjson *v, double *out);
bool pyjson_i64(const struct pyjson *v, int64_t *out);

/* Makes a JSON string with a copy of the text. A NULL text makes a JSON null. */
const struct pyjson *pyjson_make_text(struct arena *a, const char *text);

/* --- writing ---------------------------------------------------------------------------------- */

enum pyjson_style {
	PYJSON_LINE,     /* single line for logs: no blanks or newlines, UTF-8 */
	PYJSON_INDENTED, /* as json.dumps(v, indent=2) writes it: ASCII */
};

/* Appends JSON values to a buffer. `key` is NULL outside of objects. The caller must end each
 * object and array that it begins. out->truncated is set if the cap of `out` is hit. */
struct pyjson_writer {
	struct buf *out;
	enum pyjson_style style;
	unsigned depth;
	bool filled; /* the JSON array or object that was begun last has a member already */
};

#define PYJSON_WRITER_INIT(buffer, how)                                                            \
	{                                                                                          \
		.out = (buffer), .style = (how)                                                    \
	}

void pyjson_put_object(struct pyjson_writer *w, const char *key); /* begins an object: appends { */
void pyjson_put_array(struct pyjson_writer *w, const char *key);  /* begins an array: appends [ */
void pyjson_end_object(struct pyjson_writer *w);
void pyjson_end_array(struct pyjson_writer *w);
/* appends a string; a NULL `s` becomes null */
void pyjson_put_text(struct pyjson_writer *w, const char *key, const char *s);
void pyjson_put_i64(struct pyjson_writer *w, const char *key, int64_t v);
void pyjson_put_u64(struct pyjson_writer *w, const char *key, uint64_t v);
void pyjson_put_double(struct pyjson_writer *w, const char *key, double v);
void pyjson_put_bool(struct pyjson_writer *w, const char *key, bool v);
void pyjson_put_null(struct pyjson_writer *w, const char *key);
void pyjson_put_value(struct pyjson_writer *w, const char *key, const struct pyjson *v);

/* Appends `json`, a text that is a JSON value already. */
void pyjson_put_written(struct pyjson_writer *w, const char *key, const char *json);

#endif
