/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"
#include "base/scope.h"
#include "report/inspect_inside.h"
#include "report/scan.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Fuzzes the readers of records for reports and exports. The first byte says which file of a record
 * the rest is. A record is refused, or each export of it is valid JSON.
 */

static const char *const files[] = { "events.jsonl", "blotto.traj", "results.json",
	"blotto_pi3_x.json" };

/* A folder for the record, which is removed at the end. */
static char *folder;

static void remove_folder(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		auto_free char *path = path_join(folder, files[i]);

		unlink(path);
	}
	rmdir(folder);
	free(folder);
}

static void make_folder(void)
{
	const char *top = getenv("TMPDIR");

	folder = path_join(top ? top : "/tmp", "fuzz-report-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
}

/* Traps unless each line is a value of JSON. */
static void check(const struct buf *text)
{
	const char *at = buf_str(text), *end;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		auto_arena struct arena arena = ARENA_INIT;
		struct pyjson_source source = {
			.name = "out", .data = at, .n = (size_t)(end - at)
		};
		const struct pyjson *v;

		if (pyjson_read(&arena, &source, &v, NULL) < 0)
			__builtin_trap();
	}
}

static void add(const struct dump_format *format, const struct dump_run *run)
{
	struct dump_out out = { .fd = -1, .name = "out" };

	buf_init(&out.text, DUMP_BYTES_MAX);
	format->add(&out, run);
	if (format != &dump_steps_csv)
		check(&out.text);
	buf_release(&out.text);
}

static void add_sample(const struct dump_run *run)
{
	auto_buf struct buf out = BUF_INIT(DUMP_BYTES_MAX);
	struct inspect_sample s = { .run = run, .model = "m", .epoch = 1, .begin_s = NAN };
	struct pyjson_writer w = PYJSON_WRITER_INIT(&out, PYJSON_LINE);

	inspect_id(s.id, "fuzz", NULL);
	inspect_put_sample(&out, &s);
	buf_add_char(&out, '\n');
	inspect_put_summary(&w, &s);
	buf_add_char(&out, '\n');
	check(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct scan_tasks tasks = { 0 };
	auto_free char *path = NULL;
	struct dump_run run;
	struct run_row row;

	if (!n)
		return 0;
	if (!folder)
		make_folder();
	path = path_join(folder, files[*data % (sizeof(files) / sizeof(files[0]))]);
	if (fd_write_file(path, data + 1, n - 1, 0600, NULL) < 0)
		abort();
	scan_record(&arena, &tasks, path, &row);
	scan_tasks_release(&tasks);
	if (!row.problem && dump_run_read(&row, &run, NULL) == 0) {
		add(&dump_steps, &run);
		add(&dump_steps_csv, &run);
		add(&dump_chat, &run);
		add_sample(&run);
		dump_run_release(&run);
	}
	unlink(path);
	return 0;
}
