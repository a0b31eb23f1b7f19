/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export.h"
#include "trajectory/glance.h"
#include "trajectory/recorder.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Records of episodes: events, the files made from them, and what a full disk does. */

/* Replaces the C library's fdatasync(): does the same, and counts calls by thread. */
static atomic_int syncs, syncs_elsewhere, signals_let_in;
static pthread_t main_thread;

int fdatasync(int __fildes)
{
	sigset_t blocked;
	int r = (int)syscall(SYS_fdatasync, __fildes);

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	if (pthread_equal(pthread_self(), main_thread)) {
		syncs++;
	} else {
		signals_let_in += !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM);
		syncs_elsewhere++;
	}
	return r;
}

static const struct fh_metric baseline[] = { { "Score", 1.0226699113845825 } };
static const struct fh_metric score[] = { { "Score", 1.5 }, { "Extra", 24000 } };

static const struct fh_env_info env = {
	.task = "games",
	.variant = "micro",
	.metric = "Score",
	.maximize = true,
	.submission = "/home/agent/workspace/strategy.py",
	.max_steps = 2,
	.baseline = baseline,
	.n_baseline = 1,
};

static char folder[FOLDER_MAX];

static int make_folder(void **state)
{
	return folder_make(folder);
}

static int remove_folder(void **state)
{
	return folder_remove(folder);
}

static char *contents(const char *name)
{
	auto_free char *path = path_join(folder, name);
	struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	struct fh_error err;

	if (fd_read_file(path, &text, &err) < 0)
		fail_msg("%s", err.message);
	return buf_take(&text);
}

static void write_events(const char *text)
{
	auto_free char *path = path_join(folder, EXPORT_EVENTS);
	struct fh_error err;

	if (fd_write_file(path, text, strlen(text), 0600, &err) < 0)
		fail_msg("%s", err.message);
}

static struct recorder *open_recorder(void)
{
	struct recorder_options options = { .dir = folder, .env = &env, .model = "demo", .run = 3 };
	struct recorder *r = NULL;
	struct fh_error err;

	options.reward = "delta";
	if (recorder_open(&options, &r, &err) < 0)
		fail_msg("%s", err.message);
	return r;
}

/* A step's result as an environment gives it. Numbers that a machine may lack are left out. */
static struct fh_step a_step(int number, const char *observation)
{
	return (struct fh_step){
		.observation = observation,
		.step = number,
		.exit_code = 0,
		.duration_s = 0.25,
		.cpu_s = -1,
		.memory_peak_bytes = -1,
		.written_bytes = 12,
		.open_file = number ? "/home/agent/workspace/caf\xc3\xa9.py" : "n/a",
		.working_dir = "/home/agent/workspace",
		.baseline = baseline,
		.n_baseline = 1,
	};
}

static void play(struct recorder *r, bool killed)
{
	struct fh_step step = a_step(0, "Welcome.");
	struct fh_error err;

	assert_int_equal(recorder_reset(r, 7, &step, &err), 0);
	step = a_step(1, "one\n\xf0\x9f\x98\x80");
	assert_int_equal(recorder_step(r, &(struct recorder_turn){ .action = "ls" }, &step, &err),
			0);
	step = a_step(2, "Exited");
	step.score = step.best = score;
	step.n_score = step.n_best = 2;
	step.truncated = true;
	step.integrity = "a frame was forged";
	step.exit_status = "autosubmission (max_steps)";
	if (killed)
		return;
	assert_int_equal(recorder_step(r,
					 &(struct recorder_turn){ .action = "validate",
							 .response = "I check.",
							 .thought = "Hm." },
					 &step, &err),
			0);
	assert_int_equal(recorder_end(r, &(struct recorder_end){ 0 }, &err), 0);
}

static const char expected_traj[] =
		"{\n"
		"  \"environment\": \"mlgym_main\",\n"
		"  \"trajectory\": [\n"
		"    {\n"
		"      \"state\": \"{\\\"open_file\\\": \\\"n/a\\\", \\\"working_dir\\\": "
		"\\\"/home/agent/workspace\\\"}\",\n"
		"      \"response\": \"ls\",\n"
		"      \"thought\": \"\",\n"
		"      \"action\": \"ls\",\n"
		"      \"execution_time\": 0.25,\n"
		"      \"observation\": \"one\\n\\ud83d\\ude00\"\n"
		"    },\n"
		"    {\n"
		"      \"state\": \"{\\\"open_file\\\": \\\"/home/agent/workspace/caf\\\\u00e9.py\\\", "
		"\\\"working_dir\\\": \\\"/home/agent/workspace\\\"}\",\n"
		"      \"response\": \"I check.\",\n"
		"      \"thought\": \"Hm.\",\n"
		"      \"action\": \"validate\",\n"
		"      \"execution_time\": 0.25,\n"
		"      \"observation\": \"Exited\"\n"
		"    },\n"
		"    {\n"
		"      \"state\": \"{\\\"open_file\\\": \\\"/home/agent/workspace/caf\\\\u00e9.py\\\", "
		"\\\"working_dir\\\": \\\"/home/agent/workspace\\\"}\",\n"
		"      \"response\": \"Exit due to the limit of steps\",\n"
		"      \"thought\": \"Exit due to the limit of steps\",\n"
		"      \"action\": \"exit_max_steps\",\n"
		"      \"execution_time\": 0.0,\n"
		"      \"observation\": \"Exited (max_steps)\"\n"
		"    }\n"
		"  ],\n";

static const char expected_info[] = "  \"info\": {\n"
				    "    \"model_stats\": {\n"
				    "      \"total_cost\": 0.0,\n"
				    "      \"task_cost\": 0.0,\n"
				    "      \"tokens_sent\": 0,\n"
				    "      \"tokens_received\": 0,\n"
				    "      \"api_calls\": 0\n"
				    "    },\n"
				    "    \"exit_status\": \"autosubmission (max_steps)\",\n"
				    "    \"submission\": \"/home/agent/workspace/strategy.py\",\n"
				    "    \"score\": [\n"
				    "      {\n"
				    "        \"Score\": 1.5,\n"
				    "        \"Extra\": 24000.0\n"
				    "      }\n"
				    "    ],\n"
				    "    \"summarizer\": {}\n"
				    "  }\n"
				    "}";

static const char expected_results[] = "{\n"
				       "  \"agent\": [\n"
				       "    {\n"
				       "      \"Score\": 1.5,\n"
				       "      \"Extra\": 24000.0\n"
				       "    }\n"
				       "  ],\n"
				       "  \"baseline\": {\n"
				       "    \"Score\": 1.0226699113845825\n"
				       "  }\n"
				       "}";

static void an_episode_becomes_files(void **state)
{
	struct recorder *r = open_recorder();
	auto_free char *traj = NULL, *results = NULL;

	play(r, false);
	assert_true(str_ends(recorder_traj(r), "/games-micro.traj"));
	recorder_close(r);
	traj = contents("games-micro.traj");
	results = contents("results.json");
	assert_true(str_starts(traj, expected_traj));
	assert_true(str_ends(traj, expected_info));
	assert_non_null(strstr(traj,
			"\"role\": \"user\",\n      \"content\": \"Welcome.\",\n"
			"      \"agent\": \"primary_3\""));
	assert_string_equal(results, expected_results);
}

/* The log ends in the middle of an event, as if the process was killed while it wrote. */
static void a_killed_run_can_be_exported(void **state)
{
	struct recorder *r = open_recorder();
	auto_free char *events = NULL, *cut = NULL;
	struct exported e;
	struct fh_error err;

	play(r, true);
	recorder_close(r);
	events = contents(EXPORT_EVENTS);
	cut = xasprintf("%s{\"event\":\"step\",\"act", events);
	write_events(cut);
	if (export_read(folder, &e, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(e.traj->n_steps, 1);
	assert_string_equal(pyjson_string(e.traj->info.exit_status), "");
	assert_null(pyjson_string(e.traj->info.submission));
	export_release(&e);
}

static void every_event_is_one_line(void **state)
{
	static const char *const kinds[] = { "open", "reset", "step", "step", "score", "integrity",
		"end" };
	struct recorder *r = open_recorder();
	auto_arena struct arena arena = ARENA_INIT;
	auto_free char *events = NULL;
	const char *at;

	play(r, false);
	recorder_close(r);
	events = contents(EXPORT_EVENTS);
	at = events;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strcspn(at, "\n");
		struct pyjson_source source = { .name = "e", .data = at, .n = n };
		const struct pyjson *event;

		assert_int_equal(pyjson_read(&arena, &source, &event, NULL), 0);
		assert_string_equal(pyjson_string(pyjson_get(event, "event")), kinds[i]);
		at += n + 1;
	}
	assert_int_equal(*at, '\0');
}

static void messages_are_the_history(void **state)
{
	struct recorder *r = open_recorder();
	struct recorder_message said = { .role = "system", .content = "Be good.", .is_demo = true };
	struct exported e;
	struct fh_error err;

	assert_int_equal(recorder_message(r, &said, &err), 0);
	play(r, false);
	recorder_close(r);
	assert_int_equal(export_read(folder, &e, &err), 0);
	assert_int_equal(e.traj->n_history, 1);
	assert_string_equal(pyjson_string(e.traj->history[0].content), "Be good.");
	assert_true(e.traj->history[0].is_demo->boolean);
	export_release(&e);
}

struct bad_log {
	const char *text;
	const char *message; /* the error message after the path */
};

#define RESET "{\"event\":\"reset\",\"seed\":18446744073709551615}\n"
#define STEP(action, more) "{\"event\":\"step\",\"action\":\"" action "\"" more "}\n"
#define ENDS ",\"terminated\":true,\"info\":{\"exit_status\":\"autosubmission (exit_api)\"}"
#define SCORE(n) "{\"event\":\"score\",\"score\":{\"Score\":" #n "}}\n"
#define RESUMED(n) "{\"event\":\"resumed\",\"steps\":" #n ",\"messages\":0}\n"
#define END(more) "{\"event\":\"end\"" more "}\n"
#define OPEN "{\"event\":\"open\",\"format\":1,\"task\":\"t\"}\n"

static const struct bad_log bad_logs[] = {
	{ "", ":1:1: there is no whole event in it" },
	{ "{\"event\":\"open\"", ":1:1: there is no whole event in it" },
	{ "7\n", ":1:1: expected an object with 'event'" },
	{ "{\"event\":\"step\"}\n", ":1:1: the first event should be 'open'" },
	{ "{\"event\":\"open\",\"format\":2}\n",
			":1:1: made by another version: its format is not 1" },
	{ "{\"event\":\"open\",\"format\":1}\n", ":1:1: 'task' should be a string" },
	{ OPEN "{\"event\":\"step\"}\n", ":2:1: 'action' should be a string" },
	{ OPEN STEP("a", ""), ":2:1: a step before the reset" },
	{ OPEN RESET STEP("a", "") RESET, ":4:1: a reset after a step" },
	{ OPEN RESET "{\"event\":\"resumed\",\"messages\":0}\n",
			":3:1: 'steps' should be a number" },
	{ OPEN RESET "{\"event\":\"resumed\",\"steps\":0}\n",
			":3:1: 'messages' should be a number" },
	{ OPEN "{\"event\":\"message\"}\n", ":2:1: 'role' should be a string" },
	{ OPEN "\n", ":2:1: the text ends too early" },
	{ OPEN OPEN "{\"event\": nope}\n", ":3:11: expected a JSON value" },
};

static void bad_logs_are_named_by_place(void **state)
{
	auto_free char *path = path_join(folder, EXPORT_EVENTS);

	for (size_t i = 0; i < ARRAY_SIZE(bad_logs); i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct exported e;

		write_events(bad_logs[i].text);
		assert_int_equal(export_read(folder, &e, &err), -EINVAL);
		assert_true(str_starts(err.message, path));
		assert_string_equal(err.message + strlen(path), bad_logs[i].message);
	}
}

struct end {
	const char *text;
	size_t n_played, n_steps;
	unsigned last_score; /* the last score's value, equal to the number of scores; 0: none */
	bool over;
	const char *exit_status;
};

/* A last step that ended the episode counts only if the log says that the run is over. Otherwise
 * resuming plays it again. */
static const struct end ends[] = {
	{ OPEN RESET STEP("a", "") SCORE(1), 1, 1, 1, false, "" },
	{ OPEN RESET STEP("a", ENDS) SCORE(1) END(",\"over\":true"), 1, 1, 1, true,
			"autosubmission (exit_api)" },
	{ OPEN RESET STEP("a", ENDS), 0, 1, 0, false, "autosubmission (exit_api)" },
	{ OPEN RESET STEP("a", "") SCORE(1) STEP("exit_api", ENDS) SCORE(2)
					END(",\"over\":false,\"error\":\"why\""),
			1, 2, 2, false, "autosubmission (exit_api)" },
	{ OPEN RESET STEP("a", "") SCORE(1) STEP("exit_api", ENDS) SCORE(2) END("") RESUMED(1), 1,
			1, 1, false, "" },
	{ OPEN RESET STEP("a", ENDS) SCORE(1) END("") RESUMED(0) STEP("b", "")
					END(",\"exit_status\":\"early_exit\",\"over\":false"),
			1, 1, 0, false, "early_exit" },
};

static void what_ended_a_run_is_told_from_what_was_played(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct end *want = &ends[i];
		auto_arena struct arena arena = ARENA_INIT;
		struct glance glance;
		struct exported e;
		uint64_t seed = 0;

		write_events(want->text);
		assert_int_equal(export_read(folder, &e, NULL), 0);
		assert_int_equal(e.n_played, want->n_played);
		assert_int_equal(e.traj->n_steps, want->n_steps);
		assert_int_equal(e.traj->info.score->n, want->last_score);
		assert_string_equal(pyjson_string(e.traj->info.exit_status), want->exit_status);
		assert_int_equal(e.over, want->over);
		glance = glance_at(&arena, folder);
		assert_int_equal(glance.over, want->over);
		assert_true(glance_seed(&glance, &seed) && seed == UINT64_MAX);
		export_release(&e);
	}
}

/* Simulates a full disk by limiting the size of files. */
static void a_failed_write_leaves_whole_events(void **state)
{
	struct recorder *r = open_recorder();
	struct fh_step step = a_step(1, "some output that is longer than what is left");
	struct rlimit before, tight;
	struct fh_error err;
	struct stat st;
	auto_free char *path = path_join(folder, EXPORT_EVENTS);
	auto_free char *events = NULL;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = (rlim_t)st.st_size + 100;
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(recorder_step(r, &(struct recorder_turn){ .action = "a" }, &step, &err),
			-EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(err.message, path));
	/* After a failed write, each later write fails too. */
	assert_int_equal(recorder_step(r, &(struct recorder_turn){ .action = "b" }, &step, &err),
			-EFBIG);
	recorder_close(r);
	events = contents(EXPORT_EVENTS);
	assert_int_equal(strlen(events), st.st_size);
	assert_true(str_ends(events, "}\n"));
}

static void events_reach_the_disk(void **state)
{
	struct recorder *r = open_recorder();
	struct fh_step step = a_step(0, "");
	struct fh_error err;
	int before = syncs;

	/* Events reach the disk soon, by a thread that blocks signals. The writer does not wait for
	 * it. */
	syncs_elsewhere = 0;
	assert_int_equal(recorder_reset(r, 0, &step, &err), 0);
	assert_int_equal(syncs, before);
	while (!syncs_elsewhere)
		usleep(1000);
	assert_int_equal(signals_let_in, 0);
	/* If an event has a score, the writer waits until it is on the disk. */
	step = a_step(1, "scored");
	step.score = score;
	step.n_score = 1;
	assert_int_equal(
			recorder_step(r, &(struct recorder_turn){ .action = "a" }, &step, &err), 0);
	assert_int_equal(syncs, before + 1);
	assert_int_equal(recorder_end(r, &(struct recorder_end){ 0 }, &err), 0);
	assert_int_equal(syncs, before + 2);
	recorder_close(r);
}

static void run_folders_are_named_and_numbered(void **state)
{
	struct run_name name = RUN_NAME_INIT;
	auto_free char *first = NULL, *second = NULL, *out = path_join(folder, "deep/er");
	struct fh_error err;
	int number;

	name.model = "litellm:a/b";
	name.task = "titanic:micro";
	name.suffix = "x y";
	assert_int_equal(run_dir_make(out, &name, &first, &number, &err), 0);
	assert_int_equal(number, 0);
	assert_string_equal(path_basename(first),
			"litellm-a-b__titanic-micro__default__t-0.00__p-0.95__c-3.00"
			"__install-0__x-y_run_0");
	assert_int_equal(run_dir_make(out, &name, &second, &number, &err), 0);
	assert_int_equal(number, 1);
	assert_true(str_ends(second, "_run_1"));
	name.model = "a-name-of-250-characters-and-more-a-name-of-250-characters-and-more-a-name-of-"
		     "250-characters-and-more-a-name-of-250-characters-and-more-a-name-of-250-char"
		     "acters-and-more-a-name-of-250-characters-and-more-";
	free(first);
	first = NULL;
	assert_int_equal(run_dir_make(out, &name, &first, &number, &err), -ENAMETOOLONG);
}

static void odd_names_stay_in_their_folder(void **state)
{
	static const char *const parts[][2] = { { "..", "-." }, { "a/../b", "a-..-b" },
		{ ".hidden", "-hidden" }, { "a\nb\tc", "a-b-c" } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		auto_free char *part = run_dir_part(parts[i][0]);

		assert_string_equal(part, parts[i][1]);
	}
}

#define test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(an_episode_becomes_files),
		test(a_killed_run_can_be_exported),
		test(every_event_is_one_line),
		test(messages_are_the_history),
		test(bad_logs_are_named_by_place),
		test(what_ended_a_run_is_told_from_what_was_played),
		test(a_failed_write_leaves_whole_events),
		test(events_reach_the_disk),
		test(run_folders_are_named_and_numbered),
		test(odd_names_stay_in_their_folder),
	};

	main_thread = pthread_self();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
