/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fork_mark.h"

#include <fumehood/agent.h>
#include <fumehood/aside.h>

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks of the process that opened a gym, and host programs that handle their children in their own
 * ways. A child reports by its exit status: 0, or the line of the check that failed. */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, error.message);                 \
			_exit(1 + __LINE__ % 255);                                                 \
		}                                                                                  \
	} while (0)

/* Waits for a child. A child that hangs for a minute is killed, which fails the test. */
static void assert_child_is_fine(pid_t pid)
{
	auto_close int process = child_open(pid);
	int status = 0;

	if (!child_await(process, 60000))
		child_kill(process);
	child_await(process, -1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- forks ------------------------------------------------------------------------------------ */

#define REFUSED(call)                                                                              \
	do {                                                                                       \
		error = (struct fh_error)FH_ERROR_INIT;                                            \
		CHECK((call) == -EPERM);                                                           \
		CHECK(error.code == -EPERM && error.kind == FH_ERROR_STATE);                       \
	} while (0)

static void check_all_refused(struct fh_env *env)
{
	const struct fh_action action = FH_ACTION(.text = "echo no");
	struct fh_env *other = NULL;
	struct fh_agent *agent;
	struct fh_chat *chat;
	const void *data;
	size_t n;

	REFUSED(fh_gym_hide(gym, "/tmp", &error));
	REFUSED(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows"), &other, &error));
	REFUSED(fh_env_reset(env, NULL, &step, &error));
	REFUSED(fh_env_step(env, &action, &step, &error));
	REFUSED(fh_env_validate(env, &step, &error));
	REFUSED(fh_env_submit(env, &step, &error));
	REFUSED(fh_env_reset_start(env, NULL, &error));
	REFUSED(fh_env_step_start(env, &action, &error));
	REFUSED(fh_env_validate_start(env, &error));
	REFUSED(fh_env_submit_start(env, &error));
	REFUSED(fh_env_end(env, &step, &error));
	REFUSED(fh_gym_wait(gym, -1, &other, 1, &error));
	REFUSED(fh_env_aside(env, &action, &step, &error));
	REFUSED(fh_env_put_file(env, &FH_FILE(.path = "x"), &error));
	REFUSED(fh_env_get_file(env, "x", 0, &data, &n, &error));
	CHECK(fh_agent_open(&FH_AGENT_OPTIONS(.config = "default"), &agent, &error) == 0);
	REFUSED(fh_agent_set_up(agent, env, &error));
	REFUSED(fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env), &chat, &error));
	fh_agent_close(agent);
	CHECK(fh_gym_fd(gym) == -EPERM);
	fh_env_interrupt(env);
}

static void play_in_own_gym(void)
{
	struct fh_gym *parents = gym;
	struct fh_env *env = NULL;

	CHECK(fh_gym_open(&FH_GYM_OPTIONS(.state_dir = state_dir), &gym, &error) == 0);
	CHECK(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "titanicSurvival:micro"), &env, &error) ==
			0);
	CHECK(fh_env_reset(env, NULL, &step, &error) == 0);
	CHECK(fh_env_step(env, &FH_ACTION(.text = "echo child"), &step, &error) == 0);
	CHECK(strcmp(step.observation, "child\n") == 0);
	CHECK(fh_env_submit(env, &step, &error) == 0);
	CHECK(fh_env_open(parents, &FH_ENV_OPTIONS(.task = "rows"), &env, &error) == -EPERM);
	fh_env_close(env);
	fh_gym_close(gym);
	gym = parents;
}

static void run_child(struct fh_env *env, struct fh_env *busy)
{
	check_all_refused(env);
	check_all_refused(busy);
	play_in_own_gym();
	check_all_refused(env);
	fh_env_close(env);
	fh_env_close(busy);
	fh_gym_close(gym);
}

/* A clone that no handler of pthread_atfork(3) sees. */
static pid_t clone_quietly(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void check_forks(pid_t (*fork_one)(void))
{
	struct fh_env *env = open_episode("rows"), *busy = open_episode("words");
	pid_t children[3];

	act(env, "n=1; echo kept >file");
	assert_done(fh_env_step_start(busy,
			&FH_ACTION(.text = "until [ -e go ]; do sleep 0.01; done; echo went"),
			&error));
	for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
		children[i] = fork_one();
		if (children[i] == 0) {
			run_child(env, busy);
			_exit(0);
		}
		assert_true(children[i] > 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		assert_child_is_fine(children[i]);
	/* Nothing in the parent has changed. */
	assert_false(is_over(busy));
	act(env, "echo $n; cat file");
	assert_string_equal(step.observation, "1\nkept\n");
	fh_env_interrupt(busy);
	while (!is_over(busy))
		;
	assert_done(fh_env_end(busy, &step, &error));
	assert_string_equal(fh_outcome_name(step.outcome), "interrupted");
	act(busy, "echo on");
	assert_string_equal(step.observation, "on\n");
	fh_env_close(busy);
	fh_env_close(env);
}

static void test_forks(void **state)
{
	check_forks(fork);
}

static void test_clones_without_handlers(void **state)
{
	check_forks(clone_quietly);
}

static void test_marks(void **state)
{
	uint64_t mark = fork_mark();
	pid_t pid;

	assert_true(mark > 0);
	assert_true(fork_mark() == mark);
	assert_true(fork_is_marked(mark));
	pid = fork();
	if (pid == 0) {
		uint64_t own;

		CHECK(!fork_is_marked(mark));
		own = fork_mark();
		CHECK(own != mark && fork_is_marked(own));
		pid = fork();
		if (pid == 0) {
			CHECK(!fork_is_marked(own) && !fork_is_marked(mark));
			CHECK(fork_mark() != own && fork_mark() != mark);
			_exit(0);
		}
		assert_child_is_fine(pid);
		CHECK(fork_is_marked(own));
		_exit(0);
	}
	assert_child_is_fine(pid);
	assert_true(fork_is_marked(mark));
}

/* --- hosts and their children ----------------------------------------------------------------- */

/* The children of this process, of which one is the nursery. */
static void kill_nursery(void)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	CHECK(file);
	while (fscanf(file, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	fclose(file);
}

/* Plays with scoring and a killed nursery, in a gym of this process. */
static void play_through(void)
{
	struct fh_env *env = NULL;

	open_gym();
	for (int i = 0; i < 3; i++) {
		CHECK(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "words"), &env, &error) == 0);
		CHECK(fh_env_reset(env, NULL, &step, &error) == 0);
		CHECK(fh_env_step(env, &FH_ACTION(.text = "cp list.txt words.txt; submit"), &step,
				      &error) == 0);
		CHECK(step.score);
		fh_env_close(env);
		kill_nursery();
	}
	fh_gym_close(gym);
}

static void check_host(void (*prepare)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		prepare();
		play_through();
		_exit(0);
	}
	assert_child_is_fine(pid);
}

static void ignore_children(void)
{
	CHECK(sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL) == 0);
}

static void test_host_ignores_children(void **state)
{
	check_host(ignore_children);
}

static void *reap_all(void *unused)
{
	for (;;)
		if (waitpid(-1, NULL, __WALL) < 0)
			sched_yield();
	return NULL;
}

static void start_reaper(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, reap_all, NULL) == 0);
}

static void test_host_reaps_all(void **state)
{
	check_host(start_reaper);
}

static int make_state(void **state)
{
	return folder_make(state_dir);
}

static int remove_state(void **state)
{
	return folder_remove(state_dir);
}

static int open_parents_gym(void **state)
{
	open_gym();
	return 0;
}

static int close_parents_gym(void **state)
{
	fh_gym_close(gym);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_host_ignores_children),
		cmocka_unit_test(test_host_reaps_all),
		cmocka_unit_test_setup_teardown(test_forks, open_parents_gym, close_parents_gym),
		cmocka_unit_test_setup_teardown(
				test_clones_without_handlers, open_parents_gym, close_parents_gym),
	};

	return cmocka_run_group_tests(tests, make_state, remove_state);
}
