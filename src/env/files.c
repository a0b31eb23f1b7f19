/* SPDX-License-Identifier: Apache-2.0 */
#include "env/files.h"

#include "base/mem.h"
#include "base/scope.h"
#include "inside/tools.h"

/* Returns the file to write into the sandbox next. NULL: the agent's memory file, which is written
 * before all others. */
static const struct env_setup_file *files_current(const struct files *f)
{
	size_t first = memory_began(f->memory) != NULL;

	return f->n_put < first ? NULL : &f->setup->files[f->n_put - first];
}

static int files_wrap(const struct files *f, struct fh_error *err)
{
	const struct env_setup_file *file = files_current(f);

	if (!file)
		return error_wrap(err, "put the agent's memory into the sandbox");
	return error_wrap(err, "put '%s' into the sandbox", file->name);
}

static int files_put_next(struct files *f, struct fh_error *err)
{
	const struct buf *memory = memory_began(f->memory);
	const struct env_setup_file *file;
	auto_free char *path = NULL;
	int r = 0;

	if (f->n_put == (memory != NULL) + f->setup->n_files)
		return 0;
	file = files_current(f);
	if (file) {
		path = xasprintf("%s/%s", &SETUP_DIR[sizeof(GUEST_HOME)], file->name);
		r = sandbox_put_text_begin(f->sb, GUEST_HOME, path, file->data, file->n,
				file->executable ? 0755 : 0644, &f->id, err);
	} else if (memory) {
		r = sandbox_put_text_begin(f->sb, GUEST_HOME, GUEST_MEMORY, buf_str(memory),
				memory->len, 0644, &f->id, err);
	}
	return r < 0 ? files_wrap(f, err) : 1;
}

int files_begin(struct files *f, struct fh_error *err)
{
	int r = memory_read(f->memory, err);

	if (r < 0)
		return error_wrap(err, "put the agent's memory into the sandbox");
	f->n_put = 0;
	return r > 0 ? 1 : files_put_next(f, err);
}

int files_advance(struct files *f, struct fh_error *err)
{
	struct sandbox_answer answer = { .fd = -1 };
	int r = 1;

	if (memory_is_busy(f->memory)) {
		r = memory_read_advance(f->memory, err);
		if (r < 0)
			return error_wrap(err, "put the agent's memory into the sandbox");
		return r > 0 ? 1 : files_put_next(f, err);
	}
	while (r > 0 && sandbox_answered(f->sb, f->id)) {
		r = sandbox_take(f->sb, &answer, err);
		close_fd(&answer.fd);
		if (r < 0)
			return files_wrap(f, err);
		f->n_put++;
		r = files_put_next(f, err);
	}
	return r;
}
