/* SPDX-License-Identifier: Apache-2.0 */
#include "data/cache.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "data/source.h"

#include <stdio.h>
#include <string.h>

static char *cache_folder(void)
{
	static const char *const names[] = { "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE" };
	auto_free char *home = source_hub_home();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return xstrdup(value);
	}
	return home ? path_join(home, "hub") : NULL;
}

/* Returns the folder of a repository in the cache: "datasets--a--b" for the data set
 * "datasets/a/b", "models--a--b" for the model "a/b". */
static char *cache_repository(const char *cache, const char *repository)
{
	auto_buf struct buf name = BUF_INIT(1024);
	bool has_kind = str_starts(repository, "datasets/") || str_starts(repository, "spaces/");

	buf_add_str(&name, has_kind ? "" : "models--");
	for (const char *s = repository; *s; s++) {
		if (*s == '/')
			buf_add_str(&name, "--");
		else
			buf_add_char(&name, *s);
	}
	return path_join(cache, buf_str(&name));
}

/* Writes the commit of a commit, branch or tag; false if the cache does not know it. */
static bool cache_commit(const char *folder, const char *revision, char out[LOCK_REVISION_BYTES])
{
	auto_buf struct buf text = BUF_INIT(LOCK_REVISION_BYTES - 1);
	auto_free char *path = xasprintf("%s/refs/%s", folder, revision);

	if (source_is_commit(revision)) {
		snprintf(out, LOCK_REVISION_BYTES, "%s", revision);
		return true;
	}
	if (!path_stays_inside(revision) || fd_read_file(path, &text, NULL) < 0)
		return false;
	snprintf(out, LOCK_REVISION_BYTES, "%.*s", (int)strcspn(buf_str(&text), "\r\n"),
			buf_str(&text));
	return source_is_commit(out);
}

void cache_find(const struct dataset_source *source, const char *revision, struct cache_hit *out)
{
	auto_free char *cache = cache_folder();
	auto_free char *folder = NULL, *link = NULL, *real = NULL;
	const char *name;

	*out = (struct cache_hit){ .path = NULL };
	if (!source->huggingface || !cache)
		return;
	folder = cache_repository(cache, source->huggingface);
	if (!cache_commit(folder, revision, out->commit))
		return;
	link = xasprintf("%s/snapshots/%s/%s", folder, out->commit, source->path);
	real = realpath(link, NULL);
	if (!real)
		return;
	name = path_basename(real);
	if (strlen(name) == SHA256_HEX_BYTES - 1 &&
			strspn(name, "0123456789abcdef") == SHA256_HEX_BYTES - 1)
		memcpy(out->sha256, name, SHA256_HEX_BYTES);
	out->path = take_ptr(real);
}
