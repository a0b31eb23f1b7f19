/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json_lines.h"

#include "base/fd.h"
#include "base/str.h"

#include <string.h>

int json_lines_read(const char *path, json_lines_take *take, void *data, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(JSON_LINES_BYTES_MAX);
	const char *at, *end;
	unsigned number = 1;
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	at = buf_str(&text);
	end = at + text.len;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct pyjson_source line = { .name = path, .data = at, .first_line = number++ };
		auto_arena struct arena arena = ARENA_INIT;
		const struct pyjson *value;

		line.n = (size_t)((stop ? stop : end) - at);
		at = stop ? stop + 1 : end;
		if (strspn(line.data, " \t\r\n") >= line.n)
			continue;
		r = pyjson_read(&arena, &line, &value, err);
		if (r < 0)
			return r;
		r = take(data, path, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int json_lines_text(const char *path, const struct pyjson *value, const char *what, size_t most,
		const char **out, struct fh_error *err)
{
	if (value->kind != PYJSON_STRING)
		return pyjson_complain(
				path, value, err, "expected %s: a string in double quotes", what);
	if (!pyjson_string(value))
		return pyjson_complain(path, value, err, "%s can't hold a NUL", what);
	if (str_utf8_invalid(value->text, value->len) >= 0)
		return pyjson_complain(path, value, err, "half of a surrogate pair");
	if (value->len > most)
		return pyjson_complain(path, value, err, "%s is longer than %zu bytes", what, most);
	*out = value->text;
	return 0;
}
