/* SPDX-License-Identifier: Apache-2.0 */
#include "base/request_head.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum { BAD_REQUEST = 400, UNKNOWN_VERSION = 505 };

/* Cuts the next line off. NULL: it has a control character, such as a lone "\r". */
static char *request_head_line(struct request_head *h)
{
	char *line = h->rest, *end = strstr(line, "\r\n");

	*end = '\0';
	h->rest = end + 2;
	for (const char *c = line; *c; c++)
		if (iscntrl((unsigned char)*c) && *c != '\t')
			return NULL;
	return line;
}

int request_head_begin(struct request_head *h, char *head, size_t n)
{
	char *line, *path, *version;
	size_t n_method;

	h->rest = head;
	line = memchr(head, '\0', n) ? NULL : request_head_line(h);
	if (!line)
		return BAD_REQUEST;
	n_method = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	path = line + n_method + 1;
	if (!n_method || path[-1] != ' ' || *path != '/')
		return BAD_REQUEST;
	version = strchr(path, ' ');
	if (!version || !str_starts(version, " HTTP/"))
		return BAD_REQUEST;
	h->is_old = str_eq(version, " HTTP/1.0");
	if (!h->is_old && !str_eq(version, " HTTP/1.1"))
		return UNKNOWN_VERSION;
	path[-1] = *version = '\0';
	h->method = line;
	h->path = path;
	return 0;
}

int request_head_next(struct request_head *h, const char **out_name, const char **out_value)
{
	char *line, *colon, *value, *end;

	if (str_starts(h->rest, "\r\n"))
		return 0;
	line = request_head_line(h);
	colon = line ? strchr(line, ':') : NULL;
	/* Refuse space in or after a name: request smuggling uses it, and folded lines begin
	 * with it. */
	if (!colon || colon == line || strcspn(line, " \t") < (size_t)(colon - line))
		return BAD_REQUEST;
	*colon = '\0';
	value = colon + 1 + strspn(colon + 1, " \t");
	for (end = value + strlen(value); end > value && isblank((unsigned char)end[-1]);)
		*--end = '\0';
	*out_name = line;
	*out_value = value;
	return 1;
}
