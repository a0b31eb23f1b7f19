/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h> /* ssize_t */

/* Text: comparing, parsing of numbers with units, and making bytes safe to show. */

/* A list of texts. In one that a configuration gives, a NULL follows the last. */
struct texts {
	const char **items;
	size_t n;
};

bool str_eq(const char *a, const char *b); /* NULL equals NULL only */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Whole strings only; false (and *out untouched) for anything else, overflow included. */
bool str_to_i64(const char *s, int64_t *out);
bool str_to_double(const char *s, double *out); /* finite only */

/* Of both: what is more than 0 and would be rounded to it is refused.
 * "512", "64k", "1.5G", "2GiB": units are powers of 1024. */
bool str_to_bytes(const char *s, int64_t *out_bytes);

/* "25", "2.5s", "300ms", "5m", "1h": a bare number is seconds. */
bool str_to_ms(const char *s, int64_t *out_ms);

/* Appends v as Python's repr() does: the shortest digits that give v again, "1.0", "1e-07", "inf". */
void str_add_double(struct buf *out, double v);

/* Levenshtein distance with transpositions, for "did you mean"; long strings are far from all. */
size_t str_distance(const char *a, const char *b);

/* The closest of n candidates to s if it is close enough to be what was meant, else NULL. */
const char *str_closest(const char *s, const char *const *candidates, size_t n);

/* Bytes of the valid UTF-8 character that begins the n > 0 bytes of s, 0 if there is none. */
size_t str_utf8_length(const char *s, size_t n);

/* The character that begins s, which is valid UTF-8 there, and its bytes. */
uint32_t str_utf8_decode(const char *s, size_t *out_length);

/* What Python's str.isspace() says of a character, and whether a text has no other, or none: what is no UTF-8
 * is no space. */
bool str_is_space(uint32_t c);
bool str_is_blank(const char *s);

/* Offset of the first byte that is no valid UTF-8, -1 if all is. NUL is valid. */
ssize_t str_utf8_invalid(const char *s, size_t n);

/* How many of the n bytes of s, which are valid UTF-8, are whole characters within the first `most`. */
size_t str_utf8_cut(const char *s, size_t n, size_t most);

/* Appends data; bytes that are no valid UTF-8 become \xNN (lower case), NUL becomes \x00. */
void str_add_utf8(struct buf *out, const char *data, size_t n);

/*
 * Appends data with each line folded to what a terminal would show after its last carriage return
 * ("10%\r50%\r100%\n" gives "100%\n"); "\r\n" gives "\n".
 */
void str_add_folded(struct buf *out, const char *data, size_t n);

/* Appends n bytes as a JSON string with its quotes; what is no UTF-8, or NUL, becomes the text \xNN. */
void str_add_json(struct buf *out, const char *s, size_t n);

/* Appends s for a terminal: control characters but newline and tab become \xNN, and so do the bytes of what
 * changes the direction of text, breaks a line or has no width, and of what is no UTF-8. */
void str_add_printable(struct buf *out, const char *s);

#endif
