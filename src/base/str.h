/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h> /* ssize_t */

/* Text: comparing, parsing of numbers with units, and making bytes safe to show. */

/* A list of texts. In lists that config/ reads, a NULL follows the last. */
struct texts {
	const char **items;
	size_t n;
};

bool str_eq(const char *a, const char *b); /* NULL equals NULL only */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* The whole string must be a number that fits; otherwise they return false, and *out stays. */
bool str_to_i64(const char *s, int64_t *out);
bool str_to_double(const char *s, double *out); /* finite only */

/* "512", "64k", "1.5G", "2GiB": units are powers of 1024. Both functions round, and refuse numbers
 * that would be rounded down to 0. */
bool str_to_bytes(const char *s, int64_t *out_bytes);

/* "25", "2.5s", "300ms", "5m", "1h": a bare number is seconds. */
bool str_to_ms(const char *s, int64_t *out_ms);

/* The value of a hexadecimal digit; -1: it is none. */
int str_hex_digit(char c);

/* Appends v as Python's repr() does, with the fewest digits that give v again: "1.0", "1e-07". */
void str_add_double(struct buf *out, double v);

/* Levenshtein distance with transpositions. SIZE_MAX if a string has more than 64 bytes. */
size_t str_distance(const char *a, const char *b);

/* Returns the candidate for "did you mean": the closest to s. NULL: all are too different. */
const char *str_closest(const char *s, const char *const *candidates, size_t n);

/* Length of the UTF-8 character at s, which has n > 0 bytes left. 0: it is not valid. */
size_t str_utf8_length(const char *s, size_t n);

/* Decodes the character at s, which must be valid. *out_length is its length. */
uint32_t str_utf8_decode(const char *s, size_t *out_length);

/* White space as in Python's str.isspace(). A blank text has nothing else; "" is blank. */
bool str_is_space(uint32_t c);
bool str_is_blank(const char *s);

/* Offset of the first byte that is no valid UTF-8; -1: all are. NUL is valid. */
ssize_t str_utf8_invalid(const char *s, size_t n);

/* Cuts n bytes of UTF-8 to at most `most` without splitting a character; returns the length. */
size_t str_utf8_cut(const char *s, size_t n, size_t most);

/* Appends data with \xNN in place of each byte that is NUL or no valid UTF-8. */
void str_add_utf8(struct buf *out, const char *data, size_t n);

/* Appends lines as a terminal shows progress bars: each from its last carriage return on.
 * "10%\r50%\r100%\n" gives "100%\n"; "\r\n" gives "\n". */
void str_add_folded(struct buf *out, const char *data, size_t n);

/* Appends s for a terminal. Bytes become \xNN if they are no UTF-8 or part of a control character
 * (except newline and tab). The same holds for characters that break a line, change the direction
 * of text, or have no width. */
void str_add_printable(struct buf *out, const char *s);

#endif
