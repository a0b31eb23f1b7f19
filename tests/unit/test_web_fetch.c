/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "web/fetch.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Looks up names at a silent name server. A fetch ends at its timeout, but the lookup's thread
 * lives on. The number of such threads is limited. */

#define SERVER "127.0.0.99"

static int server_fd = -1;
static char folder[FOLDER_MAX];
static struct fh_error error = FH_ERROR_INIT;

/* --- a name server that is silent ------------------------------------------------------------- */

static bool raise_loopback(void)
{
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	return ioctl(fd, SIOCSIFFLAGS, &lo) == 0;
}

static bool listen_silently(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };

	inet_pton(AF_INET, SERVER, &address.sin_addr);
	server_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return bind(server_fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

/* Sets up a silent name server in namespaces of its own. An ordinary user needs the right to make
 * user namespaces. */
static int be_without_names(void **state)
{
	/* A lookup takes 10 s, but no test waits for it. */
	static const char text[] = "nameserver " SERVER "\noptions timeout:10 attempts:1\n";
	int own = CLONE_NEWNS | CLONE_NEWNET | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
	char file[FOLDER_MAX + 16];

	if (folder_make(folder) < 0)
		return -1;
	snprintf(file, sizeof(file), "%s/resolv.conf", folder);
	if (fd_write_file(file, text, sizeof(text) - 1, 0644, NULL) < 0)
		return -1;
	if (unshare(own) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			mount(file, "/etc/resolv.conf", NULL, MS_BIND, NULL) < 0 ||
			!raise_loopback() || !listen_silently()) {
		print_message("no name server of the test's own: %s\n", strerror(errno));
		close_fd(&server_fd);
	}
	return 0;
}

static int tidy_up(void **state)
{
	close_fd(&server_fd);
	umount("/etc/resolv.conf");
	return folder_remove(folder);
}

/* --- running fetches -------------------------------------------------------------------------- */

static int begin(uint64_t who, int64_t timeout_ms, struct fetch **out)
{
	return fetch_begin(
			&(struct fetch_request){
					.who = who,
					.hosts = "*.example.org",
					.url = "http://x.example.org/y",
					.bytes_max = 1024,
					.timeout_ms = timeout_ms,
			},
			out, &error);
}

static void begin_then_give_up(uint64_t who)
{
	struct fetch *f;

	assert_done(begin(who, 60000, &f));
	assert_false(fetch_advance(f));
	fetch_free(f);
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	assert_non_null(tasks);
	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n;
}

/* Waits until all lookup threads have ended. Then as many fetches as at first can begin. */
static void await_the_end(void)
{
	int64_t end_ns = clock_now_ns() + 120 * NS_PER_S;

	while (count_threads() > 1) {
		assert_true(clock_now_ns() < end_ns);
		usleep(10000);
	}
	assert_true(fetch_has_room());
	for (uint64_t who = 1; who <= FETCHES_MAX / FETCHES_OF_ONE_MAX; who++) {
		struct fetch *f;

		assert_done(begin(who, 60000, &f)); /* begins, but sends nothing yet */
		fetch_free(f);
	}
}

/* A fork has none of its parent's lookup threads, so it can begin fetches. */
static void assert_fork_has_room(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(!fetch_has_room());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_is_given_up_counts_until_it_is_over(void **state)
{
	int64_t began_ns = clock_now_ns();
	struct fetch *f = NULL;
	uint64_t who;

	if (server_fd < 0)
		skip();
	for (who = 1; who <= FETCHES_MAX / FETCHES_OF_ONE_MAX; who++) {
		for (int i = 0; i < FETCHES_OF_ONE_MAX; i++) {
			assert_true(fetch_has_room());
			begin_then_give_up(who);
		}
		assert_int_equal(begin(who, 60000, &f), -EBUSY);
		assert_has(error.message, "4 earlier requests of this episode still wait");
	}
	assert_false(fetch_has_room());
	assert_int_equal(begin(who, 60000, &f), -EBUSY);
	assert_has(error.message, "16 requests are running");
	assert_int_equal(count_threads(), 1 + FETCHES_MAX);
	assert_true(clock_now_ns() - began_ns < 9 * NS_PER_S);
	usleep(100000); /* let the threads release a sanitizer's locks */
	assert_fork_has_room();
	await_the_end();
}

static void what_ran_out_of_time_counts_until_it_is_over(void **state)
{
	const struct buf *body;

	if (server_fd < 0)
		skip();
	for (int i = 0; i < FETCHES_OF_ONE_MAX; i++) {
		int64_t began_ns = clock_now_ns();
		struct fetch *f;

		assert_done(begin(1, 100, &f));
		while (!fetch_advance(f))
			usleep(1000);
		assert_int_equal(fetch_result(f, &body, &error), -ETIMEDOUT);
		assert_string_equal(error.message, "no name server answered in time");
		fetch_free(f);
		assert_in_range(clock_now_ns() - began_ns, 90 * NS_PER_MS, 9 * NS_PER_S);
	}
	assert_int_equal(begin(1, 100, &(struct fetch *){ NULL }), -EBUSY);
	assert_int_equal(count_threads(), 1 + FETCHES_OF_ONE_MAX);
	await_the_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_given_up_counts_until_it_is_over),
		cmocka_unit_test(what_ran_out_of_time_counts_until_it_is_over),
	};

	return cmocka_run_group_tests(tests, be_without_names, tidy_up);
}
