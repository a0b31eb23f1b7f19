/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REQUEST_HEAD_H
#define BASE_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the head of a request of HTTP/1.0 or 1.1, in place. Strict: lines end with "\r\n", a name
 * has no space, and no line has control characters. The path has to begin with "/". All texts lie
 * in the head, and live as long as it.
 */
struct request_head {
	const char *method; /* in capital letters */
	char *path;         /* with the query */
	bool is_old;        /* HTTP/1.0 */
	char *rest;         /* lines that were not read yet */
};

/* Reads the first line of a head of n bytes, which ends with "\r\n\r\n". Returns 0, or the HTTP
 * status of a refusal. */
int request_head_begin(struct request_head *h, char *head, size_t n);

/* Reads the next line "NAME: VALUE". 1: the texts are set. 0: the head ends. Else the HTTP status
 * of a refusal. */
int request_head_next(struct request_head *h, const char **out_name, const char **out_value);

#endif
