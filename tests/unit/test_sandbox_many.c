/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"
#include "sandbox_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

/* Starts many sandboxes of one owner: from many threads, at once, and one after the other. The last
 * ones must leave no more processes, descriptors and mounts behind than the first. */

static void *start_some(void *failed)
{
	for (int i = 0; i < 12; i++) {
		struct sandbox_options options = { .layer = "empty", .shell = true };
		struct fh_error err = FH_ERROR_INIT;
		struct session *s;
		struct sandbox *sb;
		char layer[64];

		snprintf(layer, sizeof(layer), "of-%lx-%d", (unsigned long)pthread_self(), i);
		if (i == 3 && owner_add_layer(owner, layer, NULL, 0, &err) < 0)
			*(bool *)failed = true;
		if (sandbox_start(owner, &options, &sb, &err) < 0) {
			*(bool *)failed = true;
			continue;
		}
		s = session_new(sb, 4096);
		if (session_command(s, "(echo ran); (exit 3)", PATIENCE_MS, true, &err) < 0 ||
				session_result(s)->exit_code != 3 ||
				strcmp(buf_str(session_result(s)->output), "ran\n") != 0)
			*(bool *)failed = true;
		session_free(s);
		sandbox_close(sb);
	}
	return NULL;
}

static void test_many_threads(void **state)
{
	pthread_t threads[8];
	bool failed[8] = { false };

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_some, &failed[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_false(failed[i]);
	}
}

static void test_many_alive(void **state)
{
	enum { N = 60 };
	struct sandbox *all[N];

	for (int i = 0; i < N; i++)
		all[i] = begin_sandbox(
				&(struct sandbox_options){ .layer = "empty", .shell = true });
	for (int i = 0; i < N; i++) {
		struct session *s = session_new(all[i], 4096);

		assert_done(session_command(s, "echo $$ >n; cat n | wc -l", 0, true, &error));
		assert_string_equal(buf_str(session_result(s)->output), "1\n");
		session_free(s);
	}
	for (int i = 0; i < N; i++)
		sandbox_close(all[(i * 7) % N]);
}

static size_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static size_t count_lines(const char *path)
{
	auto_buf struct buf text = BUF_INIT(1 << 22);
	size_t n = 0;

	assert_done(fd_read_file(path, &text, &error));
	for (size_t i = 0; i < text.len; i++)
		n += text.data[i] == '\n';
	return n;
}

#define NURSERY_AND_SPARES 4

struct left {
	size_t descriptors, processes, mounts, nursery_mounts, nursery_descriptors;
};

static void look_what_is_left(struct left *out)
{
	static struct processes all;
	int64_t deadline = clock_now_ns() + PATIENCE_S * NS_PER_S;
	char path[64];

	/* Wait until processes of closed sandboxes have ended and their control groups are free. */
	do {
		wait_a_little();
		process_descendants(getpid(), &all);
	} while (all.n > NURSERY_AND_SPARES && clock_now_ns() < deadline);
	out->processes = all.n;
	out->descriptors = count_entries("/proc/self/fd");
	out->mounts = count_lines("/proc/self/mounts");
	if (getuid() != 0)
		return; /* only root may look at another process */
	snprintf(path, sizeof(path), "/proc/%d/mounts", process_named(&all, "fh-nursery"));
	out->nursery_mounts = count_lines(path);
	snprintf(path, sizeof(path), "/proc/%d/fd", process_named(&all, "fh-nursery"));
	out->nursery_descriptors = count_entries(path);
}

static void cycle(int i)
{
	const struct sandbox_bind bind = { scratch, "/data" };
	struct sandbox_options options = { .layer = "empty",
		.shell = i % 3 == 0,
		.binds = &bind,
		.n_binds = i % 2,
		.limits = { .disk_on = i % 10 == 5 ? DISK_DISK : DISK_MEMORY } };
	struct sandbox *sb = start_sandbox(&options);

	if (i % 4 == 0)
		run_script(sb, "sleep 1000 & echo x >file");
	sandbox_close(sb);
}

/* Most descriptors to gain: a busy machine needs a few more control groups, which each keep some
 * open. A group is free once its processes have ended. */
#define MORE_DESCRIPTORS 20
/* Rounds to play. A leak grows in each round, but a busy machine's need for control groups does
 * not. */
#define ROUNDS 5

static void test_nothing_is_left(void **state)
{
	struct left before = { 0 }, after = { 0 };

	for (int i = 0; i < 100; i++)
		cycle(i);
	look_what_is_left(&after);
	for (int round = 0; round < ROUNDS; round++) {
		before = after;
		for (int i = 0; i < 200; i++)
			cycle(i);
		look_what_is_left(&after);
		if (after.descriptors <= before.descriptors + MORE_DESCRIPTORS)
			break;
	}
	assert_true(after.descriptors <= before.descriptors + MORE_DESCRIPTORS);
	assert_int_equal(after.mounts, before.mounts);
	assert_int_equal(after.nursery_mounts, before.nursery_mounts);
	assert_int_equal(after.nursery_descriptors, before.nursery_descriptors);
	assert_true(after.processes <= NURSERY_AND_SPARES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_many_alive),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
