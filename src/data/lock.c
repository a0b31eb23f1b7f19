/* SPDX-License-Identifier: Apache-2.0 */
#include "data/lock.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define LOCK_BYTES_MAX (64L << 20)

static const char *const lock_sections[] = { [LOCK_SOURCES] = "sources", [LOCK_FILES] = "files" };

static int lock_read(const char *path, json_t **out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(LOCK_BYTES_MAX);
	auto_json json_t *whole = NULL;
	int r;

	if (!path_exists(path)) {
		*out = json_object();
		return 0;
	}
	r = fd_read_file(path, &text, err);
	if (r < 0)
		return r;
	r = json_parse(path, buf_str(&text), text.len, &whole, err);
	if (r < 0)
		return r;
	if (!json_is_object(whole))
		return error_say(err, EINVAL, "%s is not a JSON object", path);
	*out = take_ptr(whole);
	return 0;
}

static int lock_read_entry(const json_t *from, struct lock_entry *out, struct fh_error *err)
{
	struct lock_entry entry = { .size_bytes = -1 };
	const char *sha256, *revision = "";
	int r = json_get_str(from, "sha256", JSON_REQUIRED, &sha256, err);

	if (r < 0)
		return r;
	r = json_get_str(from, "revision", JSON_OPTIONAL, &revision, err);
	if (r < 0)
		return r;
	snprintf(entry.sha256, sizeof(entry.sha256), "%s", sha256);
	snprintf(entry.revision, sizeof(entry.revision), "%s", revision);
	if (json_is_integer(json_object_get(from, "size_bytes")))
		entry.size_bytes = json_integer_value(json_object_get(from, "size_bytes"));
	*out = entry;
	return 0;
}

int lock_find(const char *state_dir, enum lock_section section, const char *key, bool *out_found,
		struct lock_entry *out, struct fh_error *err)
{
	auto_free char *path = path_join(state_dir, "data.lock");
	auto_json json_t *whole = NULL;
	const json_t *entry;
	int r = lock_read(path, &whole, err);

	if (r < 0)
		return r;
	entry = json_object_get(json_object_get(whole, lock_sections[section]), key);
	if (entry && lock_read_entry(entry, out, err) < 0)
		return error_wrap(err, "%s, the entry '%s'", path, key);
	*out_found = entry != NULL;
	return 0;
}

static void lock_set(json_t *whole, enum lock_section section, const char *key,
		const struct lock_entry *entry)
{
	json_t *entries = json_object_get(whole, lock_sections[section]);
	json_t *new = json_object();

	if (!json_is_object(entries)) {
		entries = json_object();
		json_object_set_new(whole, lock_sections[section], entries);
	}
	json_object_set_new(new, "sha256", json_text(entry->sha256));
	json_object_set_new(new, "size_bytes", json_integer(entry->size_bytes));
	if (*entry->revision)
		json_object_set_new(new, "revision", json_text(entry->revision));
	json_object_set_new(entries, key, new);
}

int lock_record(const char *state_dir, enum lock_section section, const char *key,
		const struct lock_entry *entry, struct fh_error *err)
{
	auto_free char *path = path_join(state_dir, "data.lock");
	auto_close int folder = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_json json_t *whole = NULL;
	auto_free char *text = NULL;
	int r;

	if (folder < 0)
		return error_set(err, errno, "open '%s'", state_dir);
	if (TEMP_FAILURE_RETRY(flock(folder, LOCK_EX)) < 0)
		return error_set(err, errno, "lock '%s'", state_dir);
	r = lock_read(path, &whole, err);
	if (r < 0)
		return r;
	lock_set(whole, section, key, entry);
	text = json_dumps(whole, JSON_INDENT(2) | JSON_SORT_KEYS);
	if (!text)
		return error_say(err, EINVAL, "%s can't be written: a name is not UTF-8", path);
	return fd_write_file(path, text, strlen(text), 0644, err);
}
