/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

/* Grades all sorts of submissions with each kind of grader. Checks the agent's messages and the
 * recorded errors. */

struct grade_case {
	const char *action; /* command that makes the submission */
	const char *told;   /* part of the observation */
	const char *error;  /* part of grade_error; NULL: the submission is scored */
	const char *integrity;
};

static void check(const char *task, const struct grade_case *cases, size_t n)
{
	struct fh_env *env;

	assert_done(fh_env_open(
			gym, &FH_ENV_OPTIONS(.task = task, .max_steps = 100), &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	for (size_t i = 0; i < n; i++) {
		const struct grade_case *c = &cases[i];
		char action[2000];

		print_message("%s\n", c->action);
		snprintf(action, sizeof(action), "%s\nvalidate", c->action);
		act(env, action);
		assert_null(step.exit_status);
		assert_has(step.observation, c->told);
		if (c->error) {
			assert_null(step.score);
			assert_non_null(step.grade_error);
			assert_has(step.grade_error, c->error);
			assert_true(step.reward == 0);
		} else {
			assert_null(step.grade_error);
			assert_non_null(step.score);
		}
		if (c->integrity)
			assert_has(step.integrity, c->integrity);
		else
			assert_null(step.integrity);
	}
	fh_env_close(env);
}

static void skip_without_groups(const char *test, const char *so)
{
	struct fh_env *env = open_episode("words");
	bool groups = step.memory_peak_bytes >= 0;

	fh_env_close(env);
	if (!groups) {
		print_message("skip %s: no control groups here, so %s\n", test, so);
		skip();
	}
}

#define FAILED "Not scored: the grader itself failed."

static void test_script(void **state)
{
	static const struct grade_case cases[] = {
		{ "touch left; echo one two three environment >words.txt", "{'words': 4, ", NULL },
		{ "echo one >words.txt", "Not scored: 2 words are missing", "2 words are missing" },
		{ "echo one two three crash >words.txt", FAILED, "exited with status 3" },
		{ "echo one two three kill >words.txt", FAILED, "ended by signal 9" },
		{ "echo one two three nan >words.txt", FAILED, "can't be read" },
		{ "echo one two three nothing >words.txt", FAILED, "no metric 'words'" },
		{ "echo one two three rubbish >words.txt", FAILED, "not a JSON object" },
		{ "echo one two three text >words.txt", FAILED, "finite number" },
		{ "echo one two three flood >words.txt", FAILED, "over 65536 bytes" },
		{ "printf 'one\\377' >words.txt", FAILED, "UnicodeDecodeError" },
		{ "echo one two three integrity >words.txt", "wrote to the judge", "wrote",
				"worked on its grader" },
		{ "rm words.txt; ln -s list.txt words.txt",
				"symbolic link; only a regular file is scored", "symbolic link",
				"not a regular file" },
		{ "rm words.txt; mkfifo words.txt", "named pipe", "named pipe",
				"not a regular file" },
		{ "rm words.txt; mkdir words.txt", "folder", "folder", "not a regular file" },
		{ "rm -r words.txt", "There is no file /home/agent/workspace/words.txt",
				"There is no file" },
		{ "cd ..; mv workspace w; ln -s w workspace; cp w/list.txt w/words.txt; cd w",
				"Not scored: ", "symbolic link", "not a regular file" },
		{ "cd ..; rm workspace; mv w workspace; cd workspace", "{'words': 3, ", NULL },
	};

	static const struct grade_case slow[] = {
		{ "echo one two three sleep >words.txt", "longer than 2 s", "longer than 2 s" },
	};

	check("words", cases, ARRAY_SIZE(cases));
	check("words:hurried", slow, ARRAY_SIZE(slow));
}

static void test_csv(void **state)
{
	static const struct grade_case cases[] = {
		{ "cp zeros.csv submission.csv", "{'accuracy': 0.5}", NULL },
		{ "echo id,sign >submission.csv", "Not scored: submission.csv", "submission.csv" },
		{ "head -c 100000 /dev/urandom >submission.csv", "Not scored: submission.csv",
				"submission.csv" },
		{ "truncate -s 70M submission.csv", "Not scored: ", "more than the 67108864" },
		{ "rm submission.csv; cp zeros.csv submission.csv; chmod 0 submission.csv",
				"{'accuracy': 0.5}", NULL },
	};

	check("rows", cases, ARRAY_SIZE(cases));
}

#define STRATEGY(text) "cat >strategy.py <<'EOF'\n" text "\nEOF"

static void test_duel(void **state)
{
	static const struct grade_case cases[] = {
		{ "true", "Evaluation Score: {'Score': 0.", NULL },
		{ STRATEGY("def guess(h):\n    return 2"),
				"Not scored: game 1, round 1: guess returned 2, expected 0 or 1",
				"expected 0 or 1" },
		{ STRATEGY("def guess(h):\n    print('what', h)\n    return 1 // 0"),
				"raised ZeroDivisionError", "The last that it printed:\n" },
		{ STRATEGY("def other(h):\n    return 0"), "has no function guess", "guess" },
		{ STRATEGY("import os\nos._exit(7)"), "The player exited with status 7.",
				"ended instead of answering" },
		{ STRATEGY("import os\nos.kill(os.getpid(), 11)"), "ended by signal 11",
				"ended instead of answering" },
		{ STRATEGY("import os, time\nif os.fork(): os._exit(0)\ntime.sleep(100)"),
				"ended instead of answering", "ended" },
		{ STRATEGY("import os\nos.write(4, b'[0]\\n[0]\\n')\ndef guess(h):\n    return 0"),
				"Not scored: ", "more than one answer", "worked on its grader" },
		{ STRATEGY("import sys\nfor i in range(100000): print('x' * 100)\n"
			   "sys.stdout.flush()\nprint('the very end', flush=True)\n1 // 0"),
				"x\n| the very end\n", "the very end" },
		{ STRATEGY("import os\nassert 'FUMEHOOD_JUDGE_KEY' not in os.environ\n"
			   "assert os.listdir('/grader') == ['player.py'], os.listdir('/grader')\n"
			   "assert not [p for p in os.listdir('/proc') if p[0] not in "
			   "'0123456789' and not p.endswith('self')]\n"
			   "def guess(h):\n    return 1"),
				"Evaluation Score: ", NULL },
	};
	static const struct grade_case slow[] = {
		{ STRATEGY("def guess(h):\n    while True: pass"), "longer than 3 s",
				"longer than 3 s" },
	};

	check("guess", cases, ARRAY_SIZE(cases));
	check("guess:hurried", slow, ARRAY_SIZE(slow));
}

/* In a duel of two players, the second starts when the first has ended. It finds no file or process
 * of the first. */
static void test_two_players(void **state)
{
	static const struct grade_case cases[] = {
		{ STRATEGY("import os, time\n"
			   "if os.fork() == 0:\n"
			   "    os.setsid()\n"
			   "    time.sleep(60)\n"
			   "places = '/tmp/mark', '/dev/shm/mark', 'mark'\n"
			   "found = list(filter(os.path.exists, places))\n"
			   "for place in places: open(place, 'w')\n"
			   "def guess(h):\n    return found or 1"),
				"Evaluation Score: {'Score': ", NULL },
		/* Both players of a duel get the same large file at once. */
		{ "(head -c 9000000 /dev/zero | tr '\\0' '#'; echo; cat strategy.py) >x; mv x strategy.py",
				"Evaluation Score: {'Score': ", NULL },
		{ STRATEGY("calls = []\ndef guess(h):\n    calls.append(h)\n"
			   "    return len(calls) // 2 * 7"),
				"Not scored: game 2, round 1: guess returned 7", "returned 7" },
		{ STRATEGY("import os\ncalls = []\ndef guess(h):\n    calls.append(h)\n"
			   "    if len(calls) == 2: os._exit(7)\n    return 0"),
				"The player exited with status 7.", "ended instead of answering" },
	};
	static const struct grade_case early[] = {
		{ "true", "round 1: guess: no answer within 5 s", "no answer" },
	};
	struct fh_env *env;

	check("guess:twice", cases, ARRAY_SIZE(cases));
	check("guess:early", early, ARRAY_SIZE(early));
	env = open_episode("guess:twice");
	act(env, STRATEGY("print('what it was asked', flush=True)\n1 // 0"));
	act(env, "validate");
	assert_non_null(strstr(step.observation, "raised ZeroDivisionError"));
	assert_null(strstr(step.observation, "what it was asked"));
	fh_env_close(env);
}

static void test_memory_of_player(void **state)
{
	static const struct grade_case cases[] = {
		{ STRATEGY("x = bytearray(10 ** 9)\ndef guess(h):\n    return 0"),
				"The player was ended for using more than 0.25 GiB of memory.",
				"ended instead of answering" },
		/* The next player reuses the control group. The report must not tell of the last
		 * player's memory limit. */
		{ STRATEGY("import os\nos._exit(1)"), "The player exited with status 1.",
				"ended instead of answering" },
	};
	skip_without_groups("test_memory_of_player", "no memory limit");
	check("guess", cases, ARRAY_SIZE(cases));
}

/* The metric of CPU time counts all processes that a player starts. */
static void test_cpu_metric(void **state)
{
	static const char *const spent[] = {
		STRATEGY("import time\nwhile time.process_time() < 0.5: pass\n"
			 "def guess(h):\n    return 0"),
		STRATEGY("import os, time\n"
			 "if os.fork() == 0:\n"
			 "    os.setsid()\n"
			 "    while time.process_time() < 0.5: pass\n"
			 "    os._exit(0)\n"
			 "os.wait()\n"
			 "def guess(h):\n    return 0"),
	};
	struct fh_env *env;

	skip_without_groups("test_cpu_metric", "no CPU time is counted");
	env = open_episode("guess:timed");
	act(env, "validate");
	assert_int_equal(step.n_score, 2);
	assert_string_equal(step.score[1].name, "Seconds");
	assert_in_range((int)(step.score[1].value * 1000), 5, 480);
	for (size_t i = 0; i < ARRAY_SIZE(spent); i++) {
		char action[2000];

		snprintf(action, sizeof(action), "%s\nvalidate", spent[i]);
		act(env, action);
		assert_in_range((int)(step.score[1].value * 1000), 500, 2000);
	}
	fh_env_close(env);
}

#define STOPPED_MS 200

static struct processes cradles;

/* Finds the cradles, processes that wait for the next sandbox: the nursery's children with its own
 * name. */
static void find_cradles(void)
{
	struct processes all;
	pid_t nursery;

	process_descendants(getpid(), &all);
	nursery = process_named(&all, "fh-nursery");
	cradles.n = 0;
	for (size_t i = 0; i < all.n; i++) {
		char name[64];

		if (process_parent(all.list[i], name, sizeof(name)) == nursery &&
				str_eq(name, "fh-nursery"))
			cradles.list[cradles.n++] = all.list[i];
	}
}

static void signal_cradles(int number)
{
	for (size_t i = 0; i < cradles.n; i++)
		kill(cradles.list[i], number);
}

static void kill_cradles(int number)
{
	signal_cradles(SIGKILL);
}

/* If a process that was kept ready for a grader is killed, the submission is still scored. */
static void test_born_again(void **state)
{
	struct sigaction action = { .sa_handler = kill_cradles, .sa_flags = SA_RESTART };
	struct itimerval later = { .it_value.tv_usec = STOPPED_MS * 1000 };
	struct fh_env *env;
	int64_t begun_ns;

	skip_without_groups("test_born_again", "no process waits for a grader");
	env = open_episode("words");
	act(env, "echo one two three >words.txt");
	/* Wait until the nursery has made processes for the next sandboxes, which it does when
	 * idle. */
	nanosleep(&(struct timespec){ .tv_nsec = STOPPED_MS * NS_PER_MS }, NULL);
	find_cradles();
	assert_true(cradles.n > 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	signal_cradles(SIGSTOP);
	begun_ns = clock_now_ns();
	assert_int_equal(setitimer(ITIMER_REAL, &later, NULL), 0);
	act(env, "validate");
	assert_true(clock_now_ns() - begun_ns >= STOPPED_MS * NS_PER_MS);
	assert_has(step.observation, "Evaluation Score: {'words': 3");
	fh_env_close(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_duel),
		cmocka_unit_test(test_two_players),
		cmocka_unit_test(test_memory_of_player),
		cmocka_unit_test(test_cpu_metric),
		cmocka_unit_test(test_born_again),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
