/* SPDX-License-Identifier: Apache-2.0 */
#include "data/verify.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "data/lock.h"
#include "data/source.h"

#include <strings.h>

struct verifying {
	void (*tell)(void *user, const struct data_verdict *verdict);
	void *user;
	const char *state_dir;
	size_t n_wrong;
};

static int verify_file(struct verifying *v, const char *path, enum lock_section section,
		const char *key, const char *expected, struct fh_error *err)
{
	struct data_verdict verdict = { .path = path, .expected = expected };
	struct lock_entry entry;
	char hex[SHA256_HEX_BYTES];
	bool found = false;
	int r = lock_find(v->state_dir, section, key, &found, &entry, err);

	if (r < 0)
		return r;
	if (!expected && found)
		verdict.expected = entry.sha256;
	if (!path_exists(path)) {
		verdict.state = DATA_MISSING;
	} else if (path_is_dir(path)) {
		verdict.state = DATA_UNKNOWN;
	} else {
		r = sha256_file(path, hex, err);
		if (r < 0)
			return r;
		verdict.sha256 = hex;
		verdict.state = !verdict.expected                        ? DATA_UNKNOWN
				: strcasecmp(hex, verdict.expected) == 0 ? DATA_RIGHT
									 : DATA_DIFFERS;
	}
	v->n_wrong += verdict.state == DATA_MISSING || verdict.state == DATA_DIFFERS;
	v->tell(v->user, &verdict);
	return 0;
}

static int verify_files(struct verifying *v, const struct dataset *dataset, struct fh_error *err)
{
	for (size_t i = 0; i < dataset->n_files; i++) {
		const struct dataset_file *file = &dataset->files[i];
		auto_free char *key = path_join(dataset->store ? dataset->store : "", file->path);
		int r = verify_file(v, file->source, LOCK_FILES, key, file->sha256, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int verify_sources(struct verifying *v, const struct dataset *dataset, struct fh_error *err)
{
	for (size_t i = 0; i < dataset->n_sources; i++) {
		const struct dataset_source *source = &dataset->sources[i];
		auto_free char *key = source_key(source);
		int r;

		if (!path_exists(source->target))
			continue;
		r = verify_file(v, source->target, LOCK_SOURCES, key, source->sha256, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int data_verify(const struct dataset *dataset,
		void (*tell)(void *user, const struct data_verdict *), void *user,
		size_t *out_wrong, struct fh_error *err)
{
	auto_free char *state_dir = NULL;
	struct verifying v = { .tell = tell, .user = user };
	int r = places_state_path(NULL, &state_dir, err);

	if (r < 0)
		return r;
	v.state_dir = state_dir;
	r = verify_files(&v, dataset, err);
	if (r < 0)
		return r;
	/* Without a layout, fetched files are the data set's own, which were just compared. */
	r = dataset->layout ? verify_sources(&v, dataset, err) : 0;
	if (r < 0)
		return r;
	*out_wrong = v.n_wrong;
	return 0;
}
