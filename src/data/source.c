/* SPDX-License-Identifier: Apache-2.0 */
#include "data/source.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "web/http.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define ENDPOINT "https://huggingface.co"
#define URL_BYTES_MAX 8192
#define SOURCE_TOKEN_BYTES_MAX 1024
#define COMMIT_DIGITS 40

bool source_is_commit(const char *text)
{
	return strlen(text) == COMMIT_DIGITS && strspn(text, "0123456789abcdef") == COMMIT_DIGITS;
}

/* The value of an environment variable; NULL if it is unset or empty. */
static const char *source_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Appends text, with %XX for bytes other than ASCII letters, digits, "-_.~" and those in `kept`. */
static void source_add_quoted(struct buf *out, const char *text, const char *kept)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text) || strchr(kept, *text))
			buf_add_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

int source_url(const struct dataset_source *source, const char *revision, char **out,
		struct fh_error *err)
{
	auto_buf struct buf url = BUF_INIT(URL_BYTES_MAX);
	const char *endpoint = source_variable("HF_ENDPOINT");
	size_t n;
	int r;

	if (source->url) {
		buf_add_str(&url, source->url);
	} else {
		endpoint = endpoint ? endpoint : ENDPOINT;
		n = strlen(endpoint);
		buf_printf(&url, "%.*s/", (int)(n && endpoint[n - 1] == '/' ? n - 1 : n), endpoint);
		source_add_quoted(&url, source->huggingface, "/");
		buf_add_str(&url, "/resolve/");
		source_add_quoted(&url, revision ? revision : source->revision, "");
		buf_add_str(&url, "/");
		source_add_quoted(&url, source->path, "/");
	}
	if (url.truncated)
		return error_say(err, EINVAL, "the address of %s is too long", source->name);
	r = http_check_url(buf_str(&url), err);
	if (r < 0)
		return r;
	*out = buf_take(&url);
	return 0;
}

char *source_key(const struct dataset_source *source)
{
	if (source->huggingface)
		return xasprintf("%s@%s/%s", source->huggingface, source->revision, source->path);
	return xstrdup(source->url ? source->url : source->target);
}

char *source_hub_home(void)
{
	const char *home = source_variable("HF_HOME"), *cache = source_variable("XDG_CACHE_HOME");
	const char *user = source_variable("HOME");

	if (home)
		return xstrdup(home);
	if (cache)
		return path_join(cache, "huggingface");
	return user ? path_join(user, ".cache/huggingface") : NULL;
}

char *source_token(void)
{
	const char *token = source_variable("HF_TOKEN"), *path = source_variable("HF_TOKEN_PATH");
	auto_buf struct buf text = BUF_INIT(SOURCE_TOKEN_BYTES_MAX);
	auto_free char *home = source_hub_home();
	auto_free char *usual = home ? path_join(home, "token") : NULL;

	if (token)
		return xstrdup(token);
	path = path ? path : usual;
	if (!path || fd_read_file(path, &text, NULL) < 0)
		return NULL;
	while (text.len && isspace((unsigned char)text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	/* Refuse a token with a line break, which would begin another header of the request. */
	return text.len && !strpbrk(text.data, "\r\n") ? buf_take(&text) : NULL;
}

bool source_is_offline(void)
{
	static const char *const yes[] = { "1", "on", "yes", "true" };
	const char *value = source_variable("HF_HUB_OFFLINE");

	for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
		if (strcasecmp(value, yes[i]) == 0)
			return true;
	return false;
}
