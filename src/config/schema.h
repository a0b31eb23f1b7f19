/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "config/node.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Structs in YAML. Each struct has a table of fields. The table serves to read, check, print and
 * document the struct.
 *
 *   static const struct field limits_fields[] = {
 *           { "memory", FIELD_BYTES, offsetof(struct limits, memory_bytes), "most memory",
 *                   .preset = "4G" },
 *           { "wall", FIELD_DURATION, offsetof(struct limits, wall_ms), "most time" },
 *           {},
 *   };
 *   const struct schema limits_schema = {
 *           .name = "limits", .help = "What an episode may use.",
 *           .size = sizeof(struct limits), .fields = limits_fields };
 *
 * Texts and lists in the struct live in the arena that is passed to schema_read().
 */

enum field_kind {
	FIELD_TEXT,   /* a text; the member is a const char *, NULL if the key is missing */
	FIELD_BOOL,   /* true or false; the member is a bool */
	FIELD_INT,    /* a whole number; the member is an int64_t */
	FIELD_NUMBER, /* a finite number; the member is a double */
	FIELD_BYTES,  /* a size, "512M" or "2G"; the member is an int64_t in bytes */
	/* a duration, "90s" or "5m", or a bare number of seconds; the member is an int64_t in ms */
	FIELD_DURATION,
	/* a word of `choices`; the member is an int-sized enum, the word's index */
	FIELD_CHOICE,
	FIELD_TEXTS,    /* a list of texts; the member is a struct texts */
	FIELD_TEXT_MAP, /* a mapping of texts to texts; the member is a struct text_map */
	/* a mapping; the member is the struct of `schema`, with its presets if the key is
	 * missing */
	FIELD_STRUCT,
	FIELD_STRUCTS, /* a list of mappings; the member is a struct_list of structs of `schema` */
	FIELD_NODE, /* any YAML; the member is a const struct node *, NULL if the key is missing */
};

struct text_map {
	const struct text_pair {
		const char *key, *value;
	} * pairs;
	size_t n;
};

struct struct_list {
	const void *items;
	size_t n;
};

struct schema;

struct field {
	const char *name;
	enum field_kind kind;
	unsigned offset;
	const char *help;   /* description of the field, a sentence of Markdown */
	const char *preset; /* default value, written as YAML; NULL: the member is zero */
	bool required;
	/* smallest and largest value, for sizes in bytes, for durations in ms; both 0: any value */
	double min, max;
	const char *const *choices; /* names of the values of FIELD_CHOICE, NULL-terminated */
	const struct schema *schema;
	/* word for a value in documentation, such as "path"; NULL: from `kind` */
	const char *takes;
};

struct schema {
	const char *name; /* name in documentation: "task", "limits" */
	const char *help; /* description, a paragraph of Markdown; NULL: none */
	size_t size;
	const struct field *fields; /* table of the struct's fields, ended by {} */
};

/* Messages about unknown keys, for callers of schema_read() that don't treat them as errors. */
struct warnings {
	const char *items[32];
	size_t n; /* used items; messages over 32 are dropped */
};

/* Appends the messages that suggest another key to an error: a mistyped key may be its cause. Skips
 * messages that the error has already. `err` may be NULL. */
void warnings_add_hints(const struct warnings *warnings, struct fh_error *err);

/*
 * Reads a YAML mapping into the struct `out`. An unknown key fails, and the message suggests the
 * closest key. If `warnings` is not NULL, an unknown key only adds a warning there. Then errors of
 * other causes get hints, as warnings_add_hints() gives. A null value counts as a missing key.
 * -EINVAL.
 */
int schema_read(struct arena *a, const struct schema *schema, const struct node *node,
		struct warnings *warnings, void *out, struct fh_error *err);

/* Appends the struct as YAML, presets included. Reading this YAML gives an equal struct. */
void schema_print(struct buf *out, const struct schema *schema, const void *value);

/* Appends documentation of a struct in Markdown: its help, and a table of its keys. */
void schema_document(struct buf *out, const struct schema *schema);

#define SCHEMAS_MAX 64
/* Appends a schema and its nested schemas, each once, to `out`, which already has n. Returns the
 * new n. */
size_t schema_all(const struct schema *schema, const struct schema **out, size_t n);

/* Appends a number with the field's unit: "512M", "90s", "1.5". */
void field_add_number(struct buf *out, const struct field *field, double v);

/* Appends a description of allowed values: "text", "list of texts", "`a`, `b`", "integer, 1 to
 * 9". */
void field_describe(struct buf *out, const struct field *field);

#endif
