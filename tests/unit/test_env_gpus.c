/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tests leases of GPUs, with null devices in a private /dev in place of GPUs.
 * tests/e2e/test_gpus.py checks the devices in a sandbox. */

static bool have_devices;

static int make_devices(void **state)
{
	static const struct {
		const char *path;
		unsigned minor;
	} list[] = { { "null", 3 }, { "zero", 5 }, { "full", 7 }, { "random", 8 }, { "urandom", 9 },
		{ "tty", 3 }, { "nvidia0", 3 }, { "nvidia1", 3 }, { "nvidia2", 3 } };

	have_devices = unshare(CLONE_NEWNS) == 0 &&
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
			mount("none", "/dev", "tmpfs", 0, "mode=755") == 0;
	for (size_t i = 0; i < ARRAY_SIZE(list) && have_devices; i++) {
		auto_free char *path = path_join("/dev", list[i].path);

		have_devices = mknod(path, S_IFCHR, makedev(1, list[i].minor)) == 0 &&
				chmod(path, 0666) == 0;
	}
	if (!have_devices)
		print_message("skipped: devices are root's to make: %s\n", strerror(errno));
	return folder_make(state_dir);
}

static int open_with(size_t n, const int *numbers, size_t n_numbers, struct fh_gym **out)
{
	auto_free char *tasks = path_join(places_get()->share_dir, "tests/tasks");
	struct fh_gym_options options = FH_GYM_OPTIONS(.tasks_dir = tasks, .state_dir = state_dir,
			.n_gpus = n, .gpu_numbers = numbers, .n_gpu_numbers = n_numbers);

	return fh_gym_open(&options, out, &error);
}

/* A lease gets the first free GPUs, of a list or of all. No other gym can lease them meanwhile. */
static void test_a_lease_is_one_gym_s(void **state)
{
	static const int all[] = { 2, 1, 0, 2 };
	struct fh_gym *first, *second;

	if (!have_devices)
		skip();
	assert_done(open_with(2, all, ARRAY_SIZE(all), &first));
	assert_done(open_with(1, NULL, 0, &second));
	assert_int_equal(open_with(1, NULL, 0, &gym), -EBUSY);
	assert_has(error.message,
			"not enough GPUs are free (needed: 1, free: 0 of 3): GPU 2 is in use by process ");
	assert_int_equal(open_with(4, NULL, 0, &gym), -ENOENT);
	fh_gym_close(first);
	assert_int_equal(open_with(1, (int[]){ 0 }, 1, &gym), -EBUSY);
	assert_done(open_with(2, NULL, 0, &first));
	fh_gym_close(second);
	fh_gym_close(first);
}

static void test_environments_share_those_of_their_gym(void **state)
{
	struct fh_env_options two = FH_ENV_OPTIONS(.task = "rows", .n_gpus = 2);
	struct fh_env *a, *b;

	if (!have_devices)
		skip();
	assert_done(open_with(3, NULL, 0, &gym));
	assert_done(fh_env_open(gym, &two, &a, &error));
	assert_int_equal(fh_env_open(gym, &two, &b, &error), -EBUSY);
	assert_has(error.message, "2 GPUs are wanted, but only 1 of the gym's are free");
	assert_done(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows", .n_gpus = 1), &b, &error));
	fh_env_close(a);
	assert_done(fh_env_open(gym, &two, &a, &error));
	fh_env_close(a);
	fh_env_close(b);
	two.n_gpus = 4;
	assert_int_equal(fh_env_open(gym, &two, &a, &error), -EINVAL);
	fh_gym_close(gym);
}

/* A fork has copies of the lease's descriptors and may live longer. Even so, the parent's close
 * must end the lease. */
static void test_a_fork_keeps_no_lease(void **state)
{
	pid_t child;
	int r = -1;

	if (!have_devices)
		skip();
	assert_done(open_with(3, NULL, 0, &gym));
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	fh_gym_close(gym);
	/* Retry until the child has run its fork handlers, which close its copies of the
	 * descriptors. */
	for (int i = 0; r < 0 && i < 500; i++) {
		usleep(10000);
		r = open_with(3, NULL, 0, &gym);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_done(r);
	fh_gym_close(gym);
}

static int remove_state(void **state)
{
	return folder_remove(state_dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lease_is_one_gym_s),
		cmocka_unit_test(test_environments_share_those_of_their_gym),
		cmocka_unit_test(test_a_fork_keeps_no_lease),
	};

	return cmocka_run_group_tests(tests, make_devices, remove_state);
}
