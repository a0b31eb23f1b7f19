/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records for fumehood.Trajectory, by the code of `fumehood show` and `export`. */
#include "agents.h"

#include "base/path.h"
#include "base/scope.h"
#include "trajectory/export_files.h"

#include <stdlib.h>

/* A record as JSON texts. */
struct record_text {
	char *path;      /* path of the record's folder, or of a .traj; NULL: not found */
	struct buf traj; /* the .traj */
	struct buf run;  /* facts that only events.jsonl has; empty: there is none */
};

static void record_put(struct pyjson_writer *w, const char *key, const struct pyjson *value)
{
	if (value)
		pyjson_put_value(w, key, value);
	else
		pyjson_put_null(w, key);
}

static void record_write_run(struct buf *out, const struct exported *e)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	record_put(&w, "open", e->open);
	record_put(&w, "reset", e->reset);
	pyjson_put_array(&w, "steps");
	for (size_t i = e->reset ? 1 : 0; i < e->n_told; i++)
		pyjson_put_value(&w, NULL, e->told[i]);
	pyjson_end_array(&w);
	record_put(&w, "numbers", e->numbers);
	pyjson_put_bool(&w, "over", e->over);
	pyjson_end_object(&w);
}

static int record_read_text(const char *path, struct record_text *out, struct fh_error *err)
{
	struct exported e = { 0 };
	bool is_folder;
	int r = export_record(path, &out->path, err);

	if (r < 0)
		return r;
	is_folder = path_is_dir(out->path);
	r = is_folder ? export_read(out->path, &e, err) : traj_read(out->path, &e.traj, err);
	if (r == 0)
		traj_write(&out->traj, e.traj);
	if (r == 0 && is_folder)
		record_write_run(&out->run, &e);
	export_release(&e);
	return r;
}

PyObject *record_read(PyObject *module, PyObject *path)
{
	struct record_text text = { .traj = BUF_INIT(TRAJ_BYTES_MAX),
		.run = BUF_INIT(EXPORT_EVENTS_BYTES_MAX) };
	struct fh_error err = FH_ERROR_INIT;
	const char *name = convert_text(path);
	PyObject *result = NULL;
	int r;

	if (!name)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = record_read_text(name, &text, &err);
	Py_END_ALLOW_THREADS;
	if (r < 0)
		errors_raise(&err);
	else if (text.traj.truncated || text.run.truncated)
		PyErr_NoMemory();
	else
		result = Py_BuildValue("(NNN)", step_text(text.path),
				step_text(buf_str(&text.traj)),
				step_text(text.run.len ? buf_str(&text.run) : NULL));
	free(text.path);
	buf_release(&text.traj);
	buf_release(&text.run);
	return result;
}
