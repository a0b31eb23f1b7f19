/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "env/env.h"
#include "env/reset.h"
#include "env/state.h"

#include <fumehood/aside.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* An agent's memory and files are copied into and out of a sandbox. Meanwhile other episodes go
 * on. */

#define N_FILES SETUP_FILES_MAX
#define SLOWEST_MS 1000 /* ms, most for another episode's step on a busy machine */
#define HANGS_MS 4000   /* ms at least, until a hung porter is killed */

static const char yaml[] =
		"name: Notes\n"
		"description: Note it.\n"
		"metric: {name: accuracy, direction: maximize}\n"
		"memory_path: memory.json\n"
		"max_steps: 1000000\n"
		"baseline_scores: [{accuracy: 0.5}]\n"
		"grader: {kind: csv, submission: s.csv, answers: a.csv, id: id, target: y, "
		"metric: accuracy}\n";

static char *in_task(const char *name)
{
	return xasprintf("%s/tasks/notes/%s", state_dir, name);
}

static void write_in_task(const char *name, const char *text)
{
	auto_free char *path = in_task(name);

	assert_done(fd_write_file(path, text, strlen(text), 0644, &error));
}

static int notes_setup(void **state)
{
	auto_free char *tasks = NULL, *folder = NULL;
	struct fh_gym_options options = FH_GYM_OPTIONS(.state_dir = state_dir);

	assert_int_equal(folder_make(state_dir), 0);
	tasks = path_join(state_dir, "tasks");
	folder = in_task("");
	assert_done(path_mkdirs(folder, 0755, &error));
	write_in_task("task.yaml", yaml);
	write_in_task("a.csv", "id,y\n1,1\n");
	options.tasks_dir = tasks;
	assert_done(fh_gym_open(&options, &gym, &error));
	return 0;
}

static struct fh_env *open_notes(void)
{
	const struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "notes", .memory = true, .polled = true);
	struct fh_env *env;

	assert_done(fh_env_open(gym, &options, &env, &error));
	return env;
}

static struct fh_env *begin_notes(void)
{
	struct fh_env *env;

	process_await_none("porter");
	env = open_notes();
	assert_done(fh_env_reset(env, NULL, &step, &error));
	return env;
}

static struct fh_env *begin_neighbour(void)
{
	const struct fh_env_options options = FH_ENV_OPTIONS(.task = "notes", .polled = true);
	struct fh_env *env;

	assert_done(fh_env_open(gym, &options, &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	return env;
}

/* Gives the environment the most files that a reset may put, of 64 kB each. Putting them takes a
 * while. */
static void set_files(struct fh_env *env)
{
	static char names[N_FILES][8], text[65536];
	struct env_setup_file files[N_FILES];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < N_FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		files[i] = (struct env_setup_file){ names[i], text, sizeof(text), i % 2 };
	}
	assert_done(env_set_setup(
			env, &(struct env_setup){ .files = files, .n_files = N_FILES }, &error));
}

static void assert_kept(const char *text)
{
	auto_free char *path = in_task("memory.json");
	auto_buf struct buf kept = BUF_INIT(4096);

	assert_done(fd_read_plain(path, &kept, &error));
	assert_string_equal(buf_str(&kept), text);
}

/* --- the usual way ---------------------------------------------------------------------------- */

static void wait_for(struct fh_env *env)
{
	struct fh_env *done = NULL;

	assert_int_equal(fh_gym_wait(gym, 60000, &done, 1, &error), 1);
	assert_ptr_equal(done, env);
}

/* The agent's memory is kept however an episode ends: by a step, a reset, an interruption or a
 * close. */
static void test_each_end_keeps_it(void **state)
{
	struct fh_env *env = begin_notes();

	act(env, "echo '{\"texts\":[\"a\"]}' >~/memory.json");
	act(env, "exit_forfeit");
	assert_lacks(step.observation, "not kept");
	assert_has(step.observation, "Exited (");
	assert_kept("{\"texts\":[\"a\"]}\n");

	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "cat ~/memory.json");
	assert_string_equal(step.observation, "{\"texts\":[\"a\"]}\n");
	act(env, "echo '{\"texts\":[\"b\"]}' >~/memory.json");
	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	wait_for(env);
	assert_done(fh_env_end(env, &step, &error));
	assert_kept("{\"texts\":[\"b\"]}\n");

	act(env, "echo '{\"texts\":[\"c\"]}' >~/memory.json");
	assert_true(env_leave_begin(env));
	wait_for(env);
	assert_done(fh_env_end(env, &step, &error));
	assert_false(env_leave_begin(env));
	fh_env_close(env);
	assert_kept("{\"texts\":[\"c\"]}\n");

	env = begin_notes();
	act(env, "cat ~/memory.json; echo '{\"texts\":[\"d\"]}' >~/memory.json");
	assert_string_equal(step.observation, "{\"texts\":[\"c\"]}\n");
	fh_env_close(env);
	assert_kept("{\"texts\":[\"d\"]}\n");
}

static void test_all_files_are_put(void **state)
{
	struct fh_env *env = open_notes();

	write_in_task("memory.json", "{}");
	set_files(env);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "cd ~/commands; ls | wc -l; cat * | wc -c; ls -l f62 f63 | cut -c1-10; cat ../memory.json");
	assert_string_equal(step.observation, "64\n4194304\n-rw-r--r--\n-rwxr-xr-x\n{}");
	fh_env_close(env);
}

/* --- a porter that hangs ---------------------------------------------------------------------- */

/* Stops the porter of the only sandbox with ptrace, as if it waited in the kernel for a file. PID 1
 * notices nothing. */
static pid_t stop_porter(void)
{
	pid_t pid = process_await("porter");
	int status;

	assert_int_not_equal(pid, 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* Expects that the porter was killed, because its sandbox is closed. */
static void assert_ended(pid_t porter)
{
	int status;

	assert_int_equal(waitpid(porter, &status, __WALL), porter);
	assert_true(WIFSIGNALED(status));
}

/* Plays steps in another environment until the operation of `env` ends, at its porter's timeout.
 * No step may take long. */
static void assert_neighbour_steps(struct fh_env *env, struct fh_env *neighbour)
{
	int64_t began_ns = clock_now_ns(), slowest_ns = 0;

	while (!is_over(env)) {
		int64_t before_ns = clock_now_ns(), took_ns;

		act(neighbour, "echo on");
		assert_string_equal(step.observation, "on\n");
		took_ns = clock_now_ns() - before_ns;
		slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
	}
	assert_in_range(slowest_ns / NS_PER_MS, 0, SLOWEST_MS);
	assert_in_range((clock_now_ns() - began_ns) / NS_PER_MS, HANGS_MS, 60000);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void test_an_end_that_hangs(void **state)
{
	struct fh_env *env = begin_notes(), *neighbour;
	pid_t porter;

	act(env, "echo '{\"texts\":[\"a\"]}' >~/memory.json");
	porter = stop_porter();
	neighbour = begin_neighbour();
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = "exit_forfeit"), &error));
	fh_env_interrupt(env); /* must do nothing: no command is running */
	assert_neighbour_steps(env, neighbour);
	assert_done(fh_env_end(env, &step, &error));
	assert_int_equal(count(step.observation, "(The memory was not kept: the sandbox "), 1);
	assert_has(step.observation, "Exited (");
	assert_true(step.terminated);

	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "ls ~/memory.json");
	assert_has(step.observation, "No such file");
	assert_ended(porter);
	fh_env_close(env);
	fh_env_close(neighbour);
}

static void test_a_reset_after_one_that_hangs(void **state)
{
	struct fh_env *env = begin_notes(), *neighbour;
	pid_t porter;

	porter = stop_porter();
	neighbour = begin_neighbour();
	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	assert_neighbour_steps(env, neighbour);
	assert_done(fh_env_end(env, &step, &error));
	assert_lacks(step.observation, "not kept");
	act(env, "echo it goes on");
	assert_string_equal(step.observation, "it goes on\n");
	assert_ended(porter);
	fh_env_close(env);
	fh_env_close(neighbour);
}

/* Begins a reset, and advances it until its files are being put. fh_gym_wait() might put all. */
static void begin_files(struct fh_env *env)
{
	int64_t end_ns = clock_now_ns() + 60 * NS_PER_S;

	set_files(env);
	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	while (env->turn.work == WORK_START && clock_now_ns() < end_ns)
		reset_advance(env);
	assert_int_equal(env->turn.work, WORK_FILES);
}

static void test_files_that_hang(void **state)
{
	struct fh_env *env = open_notes(), *neighbour;
	pid_t porter;

	begin_files(env);
	porter = stop_porter();
	neighbour = begin_neighbour();
	assert_neighbour_steps(env, neighbour);
	assert_int_equal(fh_env_end(env, &step, &error), -EPIPE);
	assert_has(error.message, "put 'f");
	assert_done(fh_env_reset(env, &FH_RESET(.seed = 1), &step, &error));
	assert_ended(porter);
	fh_env_close(env);
	fh_env_close(neighbour);
}

static void test_a_file_that_hangs(void **state)
{
	struct fh_env *env = begin_notes(), *neighbour;
	pid_t porter = stop_porter();

	neighbour = begin_neighbour();
	assert_done(fh_env_get_file_start(env, "a.csv", 0, &error));
	fh_env_interrupt(env); /* must do nothing: no command is running */
	assert_neighbour_steps(env, neighbour);
	assert_int_equal(fh_env_end(env, &step, &error), -EPIPE);
	act(env, "true");
	assert_int_equal(step.outcome, FH_OUTCOME_SANDBOX_GONE);
	fh_env_close(env);
	assert_ended(porter);
	fh_env_close(neighbour);
}

/* --- operations that take long ---------------------------------------------------------------- */

static int lock_notes(void)
{
	auto_free char *folder = in_task("");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

static void test_a_folder_that_stays_locked(void **state)
{
	struct fh_env *env = begin_notes(), *neighbour = begin_neighbour();
	int lock;

	act(env, "echo '{\"texts\":[\"late\"]}' >~/memory.json");
	lock = lock_notes();
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = "exit_forfeit"), &error));
	assert_neighbour_steps(env, neighbour);
	assert_done(fh_env_end(env, &step, &error));
	assert_has(step.observation,
			"(The memory was not kept: another process holds the lock of '");
	close(lock);
	fh_env_close(env);
	fh_env_close(neighbour);
}

/* A large memory is parsed in a thread, so that other episodes need not wait. */
static void test_a_large_memory(void **state)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);
	struct fh_env *env;

	buf_add_str(&text, "{\"texts\":[\"");
	for (int i = 0; i < 300000; i++)
		buf_add_str(&text, "x");
	buf_add_str(&text, "\"]}\n");
	write_in_task("memory.json", buf_str(&text));
	env = begin_notes();
	act(env, "wc -c <~/memory.json; sed -i 's/\"]/\",\"y\"]/' ~/memory.json");
	assert_string_equal(step.observation, "300015\n");
	assert_done(fh_env_reset(env, &FH_RESET(.seed = 1), &step, &error));
	act(env, "tail -c 10 ~/memory.json");
	assert_string_equal(step.observation, "xx\",\"y\"]}\n");
	fh_env_close(env);

	write_in_task("memory.json", "[]");
	text.data[0] = '[';
	write_in_task("memory.json", buf_str(&text));
	env = open_notes();
	assert_int_equal(fh_env_reset(env, NULL, &step, &error), -EINVAL);
	assert_has(error.message, "memory");
	fh_env_close(env);
	write_in_task("memory.json", "{}");
}

/* --- closing during an operation -------------------------------------------------------------- */

static size_t n_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void assert_no_porter(void)
{
	static struct processes all;
	int64_t end_ns = clock_now_ns() + PATIENCE_S * NS_PER_S;

	do {
		process_descendants(getpid(), &all);
		if (!process_named(&all, "porter"))
			return;
		wait_a_little();
	} while (clock_now_ns() < end_ns);
	fail_msg("a sandbox is left");
}

#define ROUNDS 20
#define SPARE_FDS 10 /* the owner may keep more or fewer control groups ready */

/* Closes environments while files are put, while a step ends, and while a reset begins. */
static void close_in_the_middle(void)
{
	struct fh_env *env = open_notes();

	begin_files(env);
	fh_env_close(env);

	env = begin_notes();
	act(env, "echo '{\"texts\":[\"a\"]}' >~/memory.json");
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = "exit_forfeit"), &error));
	fh_env_close(env);
	assert_kept("{\"texts\":[\"a\"]}\n");

	env = begin_notes();
	act(env, "echo '{\"texts\":[\"b\"]}' >~/memory.json");
	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	fh_env_close(env);
	assert_kept("{\"texts\":[\"b\"]}\n");
}

static void test_closed_in_the_middle(void **state)
{
	size_t before;

	close_in_the_middle();
	before = n_descriptors();
	for (int i = 0; i < ROUNDS; i++)
		close_in_the_middle();
	assert_in_range(n_descriptors(), 0, before + SPARE_FDS);
	assert_no_porter();
}

static void test_closed_while_it_hangs(void **state)
{
	struct fh_env *env = begin_notes();
	pid_t porter = stop_porter();

	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	fh_env_close(env);
	assert_ended(porter);
	assert_no_porter();
}

#define notes_test(f) cmocka_unit_test_setup_teardown(f, notes_setup, gym_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		notes_test(test_each_end_keeps_it),
		notes_test(test_all_files_are_put),
		notes_test(test_an_end_that_hangs),
		notes_test(test_a_reset_after_one_that_hangs),
		notes_test(test_files_that_hang),
		notes_test(test_a_file_that_hangs),
		notes_test(test_a_folder_that_stays_locked),
		notes_test(test_a_large_memory),
		notes_test(test_closed_in_the_middle),
		notes_test(test_closed_while_it_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
