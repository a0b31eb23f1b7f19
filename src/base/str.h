/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h> /* ssize_t */

/* Text: comparing, parsing of numbers with units, and escaping of bytes for display. */

/* A list of strings. If config/ has read the list, a NULL follows the last string. */
struct texts {
	const char **items;
	size_t n;
};

bool str_eq(const char *a, const char *b); /* equal texts; NULL equals only NULL */
/* Returns the index of a text in a NULL-terminated list; -1: it is not in the list. */
int str_index(const char *s, const char *const *list);
/* Returns true if an array of strings has a duplicate. *out_at is the index of the second one. */
bool str_find_repeat(const char *const *texts, size_t n, size_t *out_at);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* str_to_i64() and str_to_double() read a number from a string that holds nothing else. If the text
 * is not a number or does not fit, they return false and leave *out unchanged. str_to_double()
 * refuses infinity and NAN too. */
bool str_to_i64(const char *s, int64_t *out);
bool str_to_double(const char *s, double *out);

/* Reads a size in bytes: "512", "64k", "1.5G", "2GiB". Units are powers of 1024. Rounds, but
 * refuses a number over 0 that would become 0. */
bool str_to_bytes(const char *s, int64_t *out_bytes);

/* Reads a duration: "25", "2.5s", "300ms", "5m", "1h". A number without a unit is in seconds.
 * Rounds, but refuses a number over 0 that would become 0. */
bool str_to_ms(const char *s, int64_t *out_ms);

/* Value of a hexadecimal digit; -1: c is not such a digit. */
int str_hex_digit(char c);

/* Appends v as Python's repr() writes it, with the fewest digits that give v again: "1.0",
 * "1e-07". */
void str_add_double(struct buf *out, double v);

/* Number of edits between two strings: Levenshtein distance with transpositions. SIZE_MAX if a
 * string has more than 64 bytes. */
size_t str_distance(const char *a, const char *b);

/*
 * Returns the candidate closest to s, for "did you mean": the one with the fewest edits. If all are
 * too different, returns the shortest that contains s, in upper or lower case. s has to have two
 * bytes, or three for the latter. NULL: there is none.
 */
const char *str_closest(const char *s, const char *const *candidates, size_t n);

/* Length of the UTF-8 character at `text`, where n > 0 bytes are left. 0: it is not valid UTF-8. */
size_t str_utf8_length(const char *text, size_t n);

/* Decodes the UTF-8 character at s, which must be valid, and sets *out_length to its length in
 * bytes. */
uint32_t str_utf8_decode(const char *s, size_t *out_length);

/* str_is_space() is true for characters of Python's str.isspace(). A blank text has only such
 * characters, or none. */
bool str_is_space(uint32_t c);
bool str_is_blank(const char *s);

/* Offset of the first byte that is not valid UTF-8; -1: all bytes are valid. NUL is valid. */
ssize_t str_utf8_invalid(const char *s, size_t n);

/* Number of characters in n bytes of UTF-8. */
size_t str_utf8_characters(const char *s, size_t n);

/* Shortens n bytes of UTF-8 to at most `most` without splitting a character. Returns the new
 * length. */
size_t str_utf8_cut(const char *s, size_t n, size_t most);

/* Appends data, and writes each byte that is NUL or not valid UTF-8 as \xNN. */
void str_add_utf8(struct buf *out, const char *data, size_t n);

/* Writes the byte c as the four characters \xNN, without a NUL. Returns their end. */
char *str_put_hex(char *to, unsigned char c);

/* Appends lines as a terminal shows progress bars: only the text after a line's last carriage
 * return. "10%\r50%\r100%\n" gives "100%\n"; "\r\n" gives "\n". */
void str_add_folded(struct buf *out, const char *data, size_t n);

/* Appends s so that it is safe to print on a terminal. Invalid UTF-8 becomes \xNN, and so do
 * control characters except newline and tab. Characters that break a line, change the direction of
 * text, or have no width become \xNN, too. */
void str_add_printable(struct buf *out, const char *s);

#endif
