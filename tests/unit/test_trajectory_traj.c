/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/exec.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/traj.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

/*
 * Reads MLGym's trajectory files and writes them again, which must give the same bytes. Uses files
 * of the test and, if they are at hand, runs that MLGym recorded.
 */

/* A trajectory file with both orders of a step's members, each optional member, escapes and odd
 * numbers. */
static const char whole[] =
		"{\n"
		"  \"environment\": \"mlgym_main\",\n"
		"  \"trajectory\": [\n"
		"    {\n"
		"      \"state\": \"{\\\"open_file\\\": \\\"n/a\\\", \\\"working_dir\\\": \\\"/w\\\"}\",\n"
		"      \"response\": \"caf\\u00e9 \\ud83d\\ude00 \\ud800 \\u0000 \\u007f\\t\",\n"
		"      \"thought\": \"\",\n"
		"      \"action\": \"ls\\n\",\n"
		"      \"execution_time\": 1.50e-07,\n"
		"      \"observation\": null\n"
		"    }\n"
		"  ],\n"
		"  \"history\": [\n"
		"    {\n"
		"      \"role\": \"assistant\",\n"
		"      \"content\": \"x\",\n"
		"      \"thought\": \"t\",\n"
		"      \"action\": \"ls\\n\",\n"
		"      \"agent\": \"primary_0\",\n"
		"      \"is_demo\": true\n"
		"    }\n"
		"  ],\n"
		"  \"info\": {\n"
		"    \"model_stats\": {\n"
		"      \"total_cost\": 0,\n"
		"      \"api_calls\": 123456789012345678901234567890\n"
		"    },\n"
		"    \"exit_status\": \"submitted\",\n"
		"    \"submission\": null,\n"
		"    \"score\": [\n"
		"      {\n"
		"        \"Score\": NaN,\n"
		"        \"low\": -Infinity\n"
		"      }\n"
		"    ],\n"
		"    \"summarizer\": {}\n"
		"  }\n"
		"}";

static const char empty[] = "{\n"
			    "  \"environment\": \"mlgym_main\",\n"
			    "  \"trajectory\": [],\n"
			    "  \"history\": [],\n"
			    "  \"info\": {}\n"
			    "}";

static bool same_after(const char *name, const char *data, size_t n)
{
	auto_buf struct buf out = BUF_INIT(TRAJ_BYTES_MAX);
	struct fh_error err = FH_ERROR_INIT;
	struct traj *t;
	bool same;

	if (traj_parse(name, data, n, &t, &err) < 0) {
		print_error("%s\n", err.message);
		return false;
	}
	traj_write(&out, t);
	same = out.len == n && memcmp(out.data, data, n) == 0;
	if (!same)
		print_error("%s: not the same after reading and writing\n", name);
	traj_free(t);
	return same;
}

static void round_trip(void **state)
{
	assert_true(same_after("whole", whole, strlen(whole)));
	assert_true(same_after("empty", empty, strlen(empty)));
}

static void old_order_is_kept(void **state)
{
	static const char text[] =
			"{\n  \"environment\": \"e\",\n  \"trajectory\": [\n    {\n"
			"      \"action\": \"a\",\n      \"observation\": \"o\",\n      \"response\": \"r\",\n"
			"      \"state\": \"s\",\n      \"thought\": \"t\",\n      \"execution_time\": 2.0\n"
			"    }\n  ],\n  \"history\": [],\n  \"info\": {}\n}";

	assert_true(same_after("old", text, strlen(text)));
}

static void fields_are_read(void **state)
{
	struct fh_error err;
	struct traj *t;
	double seconds;

	assert_int_equal(traj_parse("whole", whole, strlen(whole), &t, &err), 0);
	assert_int_equal(t->n_steps, 1);
	assert_string_equal(pyjson_string(t->steps[0].action), "ls\n");
	assert_true(pyjson_double(t->steps[0].execution_time, &seconds));
	assert_true(seconds == 1.5e-07);
	/* A recorded text with a NUL can't be given as a C string. */
	assert_null(pyjson_string(t->steps[0].response));
	assert_int_equal(t->n_history, 1);
	assert_true(t->history[0].is_demo->boolean);
	assert_string_equal(pyjson_string(t->info.exit_status), "submitted");
	assert_int_equal(t->info.score->n, 1);
	traj_free(t);
}

/* An invalid file, and the place that the error message names. */
struct bad {
	const char *text;
	const char *message;
};

static const struct bad bad_files[] = {
	{ "", "f:1:1: the text ends too early" },
	{ "  ", "f:1:3: the text ends too early" },
	{ "[]", "f:1:1: expected an object" },
	{ "{} x", "f:1:4: something follows the value" },
	{ "{}", "f:1:1: 'environment' is missing" },
	{ "{\"environment\": 3}", "f:1:17: 'environment' should be a string" },
	{ "{\"environment\": \"e\",\n \"trajectory\": 3}",
			"f:2:16: 'trajectory' should be an array" },
	{ "{\"environment\": \"e\", \"trajectory\": [7],\"history\":[],\"info\":{}}",
			"f:1:37: expected an object" },
	{ "{\"environment\": \"e\", \"trajectory\": [{}],\"history\":[],\"info\":{}}",
			"f:1:37: 'state' is missing" },
	{ "{\"a\": \"\\x\"}", "f:1:9: no such escape in a string" },
	{ "{\"a\": \"\\u12g4\"}", "f:1:10: \\u wants four hexadecimal digits" },
	{ "{\"a\": \"x", "f:1:7: a string that does not end" },
	{ "{\"a\": \"\xc3\xa9\", b}", "f:1:12: expected a string in double quotes" },
	{ "{\"a\": 01}", "f:1:7: expected a JSON value" },
	{ "{\"a\": 1.}", "f:1:7: expected a JSON value" },
	{ "{\"a\": \"\n\"}", "f:1:8: a control character in a string" },
	{ "{\n\"a\": \"\xff\"}", "f:2:7: not UTF-8" },
	{ "[1 2]", "f:1:4: expected ',' or ']'" },
	{ "{\"a\" 1}", "f:1:6: expected ':' after a member's name" },
};

static void bad_files_are_named_by_place(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_files); i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct traj *t = NULL;
		const char *text = bad_files[i].text;

		assert_int_equal(traj_parse("f", text, strlen(text), &t, &err), -EINVAL);
		assert_string_equal(err.message, bad_files[i].message);
		assert_null(t);
	}
}

/* A file that is cut has the steps that were whole, and the info if that was whole. */
static void cut_files_are_salvaged(void **state)
{
	size_t step_end = (size_t)(strstr(whole, "    }\n  ],\n  \"history") + 5 - whole);
	size_t info_end = strlen(whole) - 2;

	for (size_t n = 0; n <= strlen(whole); n++) {
		struct traj *t;

		traj_salvage(whole, n, &t);
		assert_int_equal(t->n_steps, n >= step_end);
		assert_int_equal(t->info.exit_status != NULL, n >= info_end);
		if (t->n_steps)
			assert_string_equal(pyjson_string(t->steps[0].action), "ls\n");
		traj_free(t);
	}
}

/* A broken step stands as an empty one between the others. */
static void broken_steps_keep_their_place(void **state)
{
	static const char good[] = "{\"state\":\"s\",\"response\":\"r\",\"thought\":\"t\","
				   "\"action\":\"a\",\"execution_time\":1,\"observation\":\"o\"}";
	static const char *const bad[] = { "{\"action\":\"\xff\"}", "{\"action\":\"a\"}", "{}",
		"{\"action\" 1}" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_free char *text = xasprintf("{\"trajectory\":[%s,%s,%s]", good, bad[i], good);
		struct traj *t;

		traj_salvage(text, strlen(text), &t);
		assert_int_equal(t->n_steps, 3);
		assert_non_null(t->steps[0].action);
		assert_null(t->steps[1].action);
		assert_string_equal(pyjson_string(t->steps[2].action), "a");
		traj_free(t);
	}
}

static void depth_is_capped(void **state)
{
	auto_buf struct buf deep = BUF_INIT(1 << 20);
	struct fh_error err;
	struct traj *t;

	for (int i = 0; i < 100000; i++)
		buf_add_char(&deep, '[');
	assert_int_equal(traj_parse("f", deep.data, deep.len, &t, &err), -EINVAL);
	assert_string_equal(err.message, "f:1:65: nested too deep");
}

static void count_is_capped(void **state)
{
	auto_buf struct buf many = BUF_INIT(8 << 20);
	struct fh_error err;
	struct traj *t;

	buf_add_char(&many, '[');
	for (int i = 0; i < 2 * PYJSON_VALUES_MAX; i++)
		buf_add_str(&many, "0,");
	assert_int_equal(traj_parse("f", many.data, many.len, &t, &err), -EINVAL);
	assert_true(str_ends(err.message, ": too many values"));
}

/* --- runs that MLGym recorded ----------------------------------------------------------------- */

static const char *corpus(void)
{
	static const char *const places[] = { "../shared/corpus", "../../shared/corpus" };
	const char *given = getenv("FUMEHOOD_CORPUS");

	if (given)
		return given;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (access(places[i], R_OK) == 0)
			return places[i];
	}
	return NULL;
}

static bool unpack(const char *archive, const char *folder)
{
	const char *argv[] = { "tar", "--zstd", "-xf", archive, "-C", folder, NULL };
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, "tar", NULL, NULL, exec_list(argv), environ) != 0)
		return false;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static int files_seen, files_same;

static int look_at(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	auto_buf struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	struct fh_error err;

	if (kind != FTW_F || !str_ends(path, ".traj"))
		return 0;
	files_seen++;
	assert_int_equal(fd_read_file(path, &text, &err), 0);
	files_same += same_after(path, text.data, text.len);
	return 0;
}

static void recorded_runs_round_trip(void **state)
{
	char folder[FOLDER_MAX];
	auto_free char *archive = NULL;

	if (!corpus()) {
		print_message("skipped: no recorded runs (FUMEHOOD_CORPUS names their folder)\n");
		skip();
	}
	archive = xasprintf("%s/trajectories.tar.zst", corpus());
	assert_int_equal(folder_make(folder), 0);
	if (unpack(archive, folder))
		nftw(folder, look_at, 16, FTW_PHYS);
	folder_remove(folder);
	assert_true(files_seen > 200);
	assert_int_equal(files_same, files_seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(old_order_is_kept),
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(bad_files_are_named_by_place),
		cmocka_unit_test(cut_files_are_salvaged),
		cmocka_unit_test(broken_steps_keep_their_place),
		cmocka_unit_test(depth_is_capped),
		cmocka_unit_test(count_is_capped),
		cmocka_unit_test(recorded_runs_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
