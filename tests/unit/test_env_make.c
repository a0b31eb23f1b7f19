/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Data sets that a program in a sandbox generates, once and whole, from the machine's secret. */

static const char task_yaml[] = "name: Made\n"
				"description: Write the word that you don't know to out.txt.\n"
				"metric: {name: known, direction: maximize}\n"
				"dataset_configs: [words]\n"
				"baseline: cp data/seen.txt out.txt\n"
				"grader: {kind: script, submission: out.txt, program: judge.py}\n"
				"hidden: ['words:more/answer.txt']\n"
				"limits: {memory: 256M, pids: 64, disk: 64M}\n";

static const char dataset_yaml[] = "name: Words\n"
				   "description: Two files.\n"
				   "make: {program: make.py, args: [answer.txt], timeout: 90s}\n"
				   "files:\n"
				   "  - {path: seen.txt}\n"
				   "  - {path: more/answer.txt, hidden: true}\n";

static const char judge_py[] =
		"import json, os\n"
		"known = open('out.txt').read() == open('/grader/answer.txt').read()\n"
		"os.write(3, json.dumps({'known': int(known)}).encode())\n";

/* Program that generates a data set. A file tells what it saw of the sandbox. */
static const char make_py[] =
		"import hashlib, os, sys\n"
		"key = bytes.fromhex(os.environ['FUMEHOOD_DATA_KEY'])\n"
		"assert len(key) == 32\n"
		"networks = [line.split(':')[0].strip() for line in open('/proc/net/dev')]\n"
		"files = os.listdir('.')\n"
		"with open('seen.txt', 'w') as seen:\n"
		"    print(os.getuid(), files, networks[2:], file=seen)\n"
		"os.mkdir('more')\n"
		"with open('more/' + sys.argv[1], 'w') as answer:\n"
		"    print(hashlib.sha256(key).hexdigest(), file=answer)\n";

static char tasks_dir[80];

static void put(const char *name, const char *text)
{
	auto_free char *path = path_join(tasks_dir, name);
	auto_free char *dir = path_dirname(path);

	assert_done(path_mkdirs(dir, 0755, &error));
	assert_done(fd_write_file(path, text, strlen(text), 0644, &error));
}

/* Stands for a new machine: an unused state folder, and with it a new secret. */
static int setup(void **state)
{
	struct fh_gym_options options =
			FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir);

	snprintf(state_dir, sizeof(state_dir), "/tmp/fumehood-test-XXXXXX");
	assert_non_null(mkdtemp(state_dir));
	snprintf(tasks_dir, sizeof(tasks_dir), "%s/tasks", state_dir);
	put("made/task.yaml", task_yaml);
	put("made/datasets/words.yaml", dataset_yaml);
	put("made/judge.py", judge_py);
	put("made/make.py", make_py);
	assert_done(fh_gym_open(&options, &gym, &error));
	return 0;
}

static void next_machine(void)
{
	assert_int_equal(gym_teardown(NULL), 0);
	assert_int_equal(setup(NULL), 0);
}

/* Finds the paths that match in the data set's folder. Returns their number and the first path. */
static size_t find(const char *pattern, char out[256])
{
	char whole[128];
	size_t n;
	glob_t found;

	snprintf(whole, sizeof(whole), "%s/data/words@*/%s", state_dir, pattern);
	if (glob(whole, GLOB_PERIOD, NULL, &found) != 0)
		return 0;
	n = found.gl_pathc;
	snprintf(out, 256, "%s", found.gl_pathv[0]);
	globfree(&found);
	return n;
}

static mode_t mode_of(const char *pattern)
{
	char path[256];
	struct stat st;

	assert_int_equal(find(pattern, path), 1);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Reads the data set's hidden answer, and the hash of its task. */
static void read_answer(char answer[80], char hash[80])
{
	struct fh_env *env = open_env("made");
	auto_buf struct buf text = BUF_INIT(79);
	struct fh_env_info info;
	char path[256];

	fh_env_info(env, &info);
	snprintf(hash, 80, "%s", info.task_hash);
	assert_true(info.n_baseline == 1 && info.baseline[0].value == 0);
	fh_env_close(env);
	assert_int_equal(find("[0-9a-f]*/more/answer.txt", path), 1);
	assert_done(fd_read_file(path, &text, &error));
	snprintf(answer, 80, "%s", buf_str(&text));
}

static void test_made(void **state)
{
	struct fh_env *env = open_episode("made");
	char answer[80], hash[80], action[256];

	act(env, "cat data/seen.txt; ls -R data; env | grep -c FUMEHOOD_DATA_KEY");
	assert_string_equal(step.observation, "1000 [] ['lo']\ndata:\nseen.txt\n0\n");
	read_answer(answer, hash);
	snprintf(action, sizeof(action), "echo '%.64s' >out.txt; validate", answer);
	act(env, action);
	assert_true(step.score && step.score[0].value == 1);
	fh_env_close(env);
	assert_int_equal(mode_of("[0-9a-f]*"), 0700);
	/* Files must be readable by all, because sandboxes read them as another user. */
	assert_int_equal(mode_of("[0-9a-f]*/seen.txt"), 0644);
}

/* The generated answers depend on the machine's secret. The task's hash depends on the generated
 * files. */
static void test_of_what(void **state)
{
	char answers[3][80], hashes[3][80], before[256], path[256];

	read_answer(answers[0], hashes[0]);
	next_machine();
	read_answer(answers[1], hashes[1]);
	assert_string_not_equal(answers[0], answers[1]);
	assert_string_not_equal(hashes[0], hashes[1]);

	/* Change a generated file. Another gym of this machine must use it, instead of generating
	 * the data again. */
	assert_int_equal(find("*/seen.txt", before), 1);
	assert_done(fd_write_file(before, "kept\n", 5, 0644, &error));
	fh_gym_close(gym);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
	read_answer(answers[2], hashes[2]);
	assert_string_equal(answers[1], answers[2]);
	assert_string_not_equal(hashes[1], hashes[2]);

	/* A changed program generates the data again. The old files stay for gyms that use them. */
	put("made/make.py",
			"import os\nos.mkdir('more')\n"
			"open('seen.txt', 'w').write('a')\nopen('more/answer.txt', 'w')\n");
	fh_gym_close(gym);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
	fh_env_close(open_env("made"));
	assert_int_equal(find("[0-9a-f]*/seen.txt", path), 2);
	assert_true(path_exists(before));
}

/* A program can import its data set's modules. Changing a module generates the data again. */
static void test_modules(void **state)
{
	static const char yaml[] =
			"name: Words\n"
			"description: Two files.\n"
			"make: {program: make.py, modules: [more/words.py]}\n"
			"files: [{path: seen.txt}, {path: more/answer.txt, hidden: true}]\n";
	char answer[80], hash[80], path[256];
	struct fh_env *env = NULL;

	put("made/datasets/words.yaml", yaml);
	put("made/make.py",
			"import os, words\nos.mkdir('more')\n"
			"open('seen.txt', 'w').write(words.WORD)\n"
			"open('more/answer.txt', 'w').write(2 * words.WORD)\n");
	put("made/more/words.py", "WORD = 'one'\n");
	read_answer(answer, hash);
	assert_string_equal(answer, "oneone");

	put("made/more/words.py", "WORD = 'two'\n");
	fh_gym_close(gym);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
	fh_env_close(open_env("made"));
	assert_int_equal(find("[0-9a-f]*/seen.txt", path), 2);

	put("made/datasets/words.yaml",
			"name: Words\ndescription: x\nfiles: [{path: seen.txt}]\n"
			"make: {program: make.py, modules: [more/words.py, words.py]}\n");
	put("made/words.py", "");
	assert_int_equal(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "made"), &env, &error), -EINVAL);
	assert_has(error.message, "two files of a program are named 'words.py'");
}

static void test_failures(void **state)
{
	static const struct {
		const char *program, *error;
		const char *limit; /* time limit; NULL: a long one */
	} cases[] = {
		{ "import sys\nprint('no luck')\nsys.exit(3)\n",
				"make data set 'words': make.py: ended with status 3: no luck" },
		{ "import os\nos.kill(os.getpid(), 9)\n", "make.py: was ended by signal 9" },
		{ "while True: pass\n", "make.py: took longer than 0.5 s and was ended", "500ms" },
		{ "while True: print('x' * 1000)\n", "make.py: took longer than 0.5 s", "500ms" },
		{ "open('seen.txt', 'w')\n", "take over 'more/answer.txt'" },
		{ "import os\nos.symlink('/etc/passwd', 'seen.txt')\n", "take over 'seen.txt'" },
		{ "import os\nos.mkdir('seen.txt')\n", "take over 'seen.txt'" },
		{ "import os\nos.mkfifo('seen.txt')\n", "take over 'seen.txt'" },
		{ "import os\nos.mkdir('more')\n"
		  "for path in ('seen.txt', 'more/answer.txt'):\n"
		  "    open(path, 'w').truncate(1500 << 20)\n",
				"more than 2147483648 bytes together, with 'more/answer.txt'" },
	};
	const char *limit = strstr(dataset_yaml, "90s");
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "made");
	struct fh_env *env = NULL;
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf yaml = BUF_INIT(1000);

		buf_printf(&yaml, "%.*s%s%s", (int)(limit - dataset_yaml), dataset_yaml,
				cases[i].limit ? cases[i].limit : "90s", limit + strlen("90s"));
		put("made/datasets/words.yaml", buf_str(&yaml));
		put("made/make.py", cases[i].program);
		assert_true(fh_env_open(gym, &options, &env, &error) < 0);
		assert_has(error.message, cases[i].error);
		assert_int_equal(find("[!.]*", path), 0);
	}
	/* A failed program leaves nothing that hinders a correct one. */
	put("made/make.py", make_py);
	put("made/datasets/words.yaml", dataset_yaml);
	fh_env_close(open_env("made"));
}

/* A generated file with a long run of zeros is stored with holes, which take no disk space. */
static void test_holes(void **state)
{
	auto_buf struct buf yaml = BUF_INIT(1000), program = BUF_INIT(2000);
	struct fh_env *env;
	struct stat st;
	char path[256];

	buf_printf(&yaml, "%s  - {path: long}\n", dataset_yaml);
	buf_printf(&program, "%sopen('long', 'w').truncate(1500 << 20)\n", make_py);
	put("made/datasets/words.yaml", buf_str(&yaml));
	put("made/make.py", buf_str(&program));
	env = open_episode("made");
	act(env, "stat -c %s data/long");
	assert_string_equal(step.observation, "1572864000\n");
	fh_env_close(env);
	assert_int_equal(find("[0-9a-f]*/long", path), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_blocks < 100);
}

/* Parts that a killed process left behind are removed, and complete data is kept. */
static void test_leftovers(void **state)
{
	char made[256], part[300], inner[330];
	char answer[80], hash[80], again[80];

	read_answer(answer, hash);
	assert_int_equal(find("[0-9a-f]*", made), 1);
	snprintf(part, sizeof(part), "%s.part", made);
	assert_int_equal(rename(made, part), 0);
	snprintf(inner, sizeof(inner), "%s/junk", part);
	assert_done(fd_write_file(inner, "x", 1, 0600, &error));
	fh_gym_close(gym);
	assert_done(fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir),
			&gym, &error));
	read_answer(again, hash);
	assert_string_equal(answer, again);
	assert_false(path_exists(part));
	assert_int_equal(find("*/junk", made), 0);
}

static void *open_own(void *out)
{
	struct fh_gym_options options =
			FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir);
	struct fh_env_options env_options = FH_ENV_OPTIONS(.task = "made");
	struct fh_gym *own = NULL;
	struct fh_env *env = NULL;
	struct fh_env_info info;
	struct fh_error err;
	char *hash = out;

	if (fh_gym_open(&options, &own, &err) < 0 ||
			fh_env_open(own, &env_options, &env, &err) < 0) {
		snprintf(hash, 80, "%s", err.message);
	} else {
		fh_env_info(env, &info);
		snprintf(hash, 80, "%s", info.task_hash);
	}
	fh_env_close(env);
	fh_gym_close(own);
	return NULL;
}

/* Several threads open the task at once. The program writes other words each time, so equal words
 * show that it ran once. */
static void test_side_by_side(void **state)
{
	pthread_t threads[6];
	char hashes[6][80], path[256];

	put("made/make.py",
			"import os, time\nos.mkdir('more')\ntime.sleep(0.3)\n"
			"open('seen.txt', 'w').write(os.urandom(8).hex())\n"
			"open('more/answer.txt', 'w').write('x')\n");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, open_own, hashes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		assert_int_equal(strspn(hashes[i], "0123456789abcdef"), 64);
		assert_string_equal(hashes[i], hashes[0]);
	}
	assert_int_equal(find("*/seen.txt", path), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_of_what, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_modules, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_failures, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_holes, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_leftovers, setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_side_by_side, setup, gym_teardown),
	};

	unsetenv("FUMEHOOD_JUDGE_KEY");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
