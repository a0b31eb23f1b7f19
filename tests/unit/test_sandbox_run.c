/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/mem.h"
#include "base/places.h"
#include "proto/guest.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Runs programs in a sandbox: their descriptors and user, how their end is reported, and limits on
 * requests. */

static struct sandbox *sb;

static int open_sandbox(void **state)
{
	sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	return 0;
}

static int close_sandbox(void **state)
{
	sandbox_close(sb);
	return 0;
}

static const struct ran *run_list(const char *const *argv)
{
	struct program_request request = { .argv = NULL };

	request.argv = argv;
	return program_request(sb, &request);
}

#define RUN(...) run_list((const char *const[]){ __VA_ARGS__, NULL })

static void test_how_it_ends(void **state)
{
	assert_int_equal(RUN("true")->status, 0);
	assert_int_equal(RUN("/bin/false")->status, 1);
	assert_int_equal(RUN("bash", "-c", "exit 42")->status, 42);
	assert_int_equal(RUN("bash", "-c", "kill -9 $$")->status, 137);
	assert_int_equal(RUN("bash", "-c", "kill -TERM $$")->status, 143);
	assert_int_equal(RUN("no-such-program")->status, 127);
	assert_has(run_script(sb, "no-such-program")->output, "not found");
	assert_int_equal(RUN("/no/such/program")->status, 127);
	assert_has(RUN("/etc/passwd")->output, "can't run '/etc/passwd': Permission denied");
	assert_int_equal(RUN("/etc/passwd")->status, 126);
	assert_int_equal(RUN("/")->status, 126);
	assert_int_equal(RUN("")->status, 127);
}

static void test_arguments(void **state)
{
	assert_string_equal(RUN("printf", "<%s>", "a", "", "b c", "d\ne", "\xff'\"", "*")->output,
			"<a><><b c><d\ne><\xff'\"><*>");
}

static void test_usual_environment(void **state)
{
	const char *output = RUN("env")->output;

	assert_has(output, "HOME=/home/agent\n");
	assert_has(output, "PATH=/fumehood/bin:/usr/local/sbin:");
	assert_has(output, "USER=agent\n");
	assert_lacks(output, "FUMEHOOD");
	assert_string_equal(RUN("pwd")->output, "/home/agent/workspace\n");
	assert_string_equal(RUN("id", "-u")->output, "1000\n");
	assert_string_equal(RUN("bash", "-c", "umask; test $PPID = 1 && echo child of 1")->output,
			"0022\nchild of 1\n");
}

static void test_given_environment(void **state)
{
	static const char *const env[] = { "A=1", "B=two words", "PATH=/nowhere:/usr/bin", NULL };
	static const char *const none[] = { NULL };
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "env", NULL };
	request.env = env;
	assert_string_equal(program_request(sb, &request)->output,
			"A=1\nB=two words\nPATH=/nowhere:/usr/bin\n");
	request.env = none;
	request.argv = (const char *const[]){ "/usr/bin/env", NULL };
	assert_string_equal(program_request(sb, &request)->output, "");
}

static void test_working_directory(void **state)
{
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "/bin/pwd", NULL };
	request.cwd = "/usr/lib";
	assert_string_equal(program_request(sb, &request)->output, "/usr/lib\n");
	request.cwd = "/no/such/folder";
	assert_int_equal(program_request(sb, &request)->status, 125);
	assert_has(program_request(sb, &request)->output, "enter '/no/such/folder': No such file");
	request.cwd = NULL;
	RUN("rm", "-r", "/home/agent/workspace");
	assert_string_equal(program_request(sb, &request)->output, "/\n");
	RUN("mkdir", "/home/agent/workspace");
	assert_string_equal(program_request(sb, &request)->output, "/home/agent/workspace\n");
}

/* uid 0 in a sandbox has no capability: it can't change files of others, or mount. */
static void test_root_user(void **state)
{
	struct program_request request = { .argv = NULL };

	request.user = USER_ROOT;
	request.argv = (const char *const[]){ "bash", "-c",
		"id -u; grep CapEff /proc/self/status | cut -f 2; cat /home/agent/secret 2>&1; "
		"touch /etc/x /usr/x 2>&1; chown 1000 /tmp 2>&1; mount -t tmpfs x /mnt 2>&1 | head -1",
		NULL };
	RUN("bash", "-c", "echo x >~/secret; chmod 600 ~/secret");
	assert_string_equal(program_request(sb, &request)->output,
			"0\n0000000000000000\ncat: /home/agent/secret: Permission denied\n"
			"touch: cannot touch '/etc/x': Read-only file system\n"
			"touch: cannot touch '/usr/x': Read-only file system\n"
			"chown: changing ownership of '/tmp': Operation not permitted\n"
			"mount: /mnt: permission denied.\n");
}

static void test_descriptors(void **state)
{
	auto_close int file = memfd_create("file", MFD_CLOEXEC);
	struct program_request request = { .argv = NULL };
	char text[64] = "";
	uint32_t id;

	request.argv = (const char *const[]){ "bash", "-c",
		"read x <&5; echo got $x >&3; ls /proc/self/fd | tr '\\n' ' ' >&4", NULL };
	request.streams = (const int[]){ file, file, file, file, file, file };
	request.n_streams = 6;
	assert_done(fd_write_full(file, "hello\n", 6));
	lseek(file, 0, SEEK_SET);
	assert_done(sandbox_run(sb, &request, &id, &error));
	assert_int_equal(wait_exit(sb, id), 0);
	assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "hello\ngot hello\n0 1 2 3 4 5 6 "); /* 6 is ls' own */
}

static void test_no_descriptors(void **state)
{
	struct program_request request = { .argv = NULL };
	uint32_t id;

	request.argv = (const char *const[]){ "python3", "-ISc",
		"import os; os.write(os.open('fds', os.O_CREAT | os.O_WRONLY), "
		"' '.join(os.listdir('/proc/self/fd')).encode())",
		NULL };
	assert_done(sandbox_run(sb, &request, &id, &error));
	assert_int_equal(wait_exit(sb, id), 0);
	assert_int_equal(strlen(RUN("cat", "fds")->output), 3); /* "0 3": `fds` and the listing */
}

/* The owner may run a program by its own path, which need not exist in the sandbox. */
static void test_program_of_the_owner(void **state)
{
	struct program_request request = { .program = places_get()->aci };
	struct sandbox *bare;

	request.argv = (const char *const[]){ "validate", "--help", NULL };
	assert_has(program_request(sb, &request)->output, "validate: score");
	bare = start_sandbox(&(struct sandbox_options){ .role = SANDBOX_PROGRAM });
	assert_has(program_request(bare, &request)->output, "validate: score");
	assert_int_equal(run_script(bare, "true")->status, 127); /* no programs of the host */
	sandbox_close(bare);
	request.program = "/etc/passwd";
	assert_int_equal(program_request(sb, &request)->status, 126);
}

static void test_signals(void **state)
{
	static const struct {
		int number, status;
		const char *script;
	} cases[] = {
		{ SIGTERM, 143, "echo up; sleep 1000" },
		{ SIGKILL, 137, "trap '' TERM; echo up; sleep 1000" },
		{ SIGUSR1, 5, "trap 'exit 5' USR1; echo up; while :; do sleep 0.01; done" },
		{ SIGTERM, 0, "setsid bash -c 'sleep 1000' & trap 'exit 0' TERM; echo up; wait" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct program_request request = { .argv = NULL };
		char up[8];
		uint32_t id;
		int pair[2];

		assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
		request.argv = (const char *const[]){ "bash", "-c", cases[i].script, NULL };
		request.streams = (const int[]){ pair[1], pair[1], pair[1] };
		request.n_streams = 3;
		assert_done(sandbox_run(sb, &request, &id, &error));
		assert_int_equal(read(pair[0], up, sizeof(up)), 3);
		assert_done(sandbox_signal(sb, id + 1000, SIGKILL, &error)); /* nobody's */
		assert_done(sandbox_signal(sb, id, cases[i].number, &error));
		assert_int_equal(wait_exit(sb, id), cases[i].status);
		assert_done(sandbox_signal(sb, id, SIGKILL, &error)); /* it is over */
		close(pair[0]);
		close(pair[1]);
	}
}

/* Each program's end is reported with the program's id, in any order. */
static void test_many_at_once(void **state)
{
	enum { N = 32 };
	uint32_t ids[N], id;
	bool ended[N] = { false };
	struct sandbox_event event;

	RUN("mkfifo", "/tmp/go0", "/tmp/go1");
	for (int i = 0; i < N; i++) {
		auto_free char *script = xasprintf("read x <>/tmp/go%d; exit %d", i % 2, i);
		struct program_request request = { .argv = NULL };

		request.argv = (const char *const[]){ "bash", "-c", script, NULL };
		assert_done(sandbox_run(sb, &request, &ids[i], &error));
	}
	/* If the most programs run already, the next request ends with status 125. */
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "true", NULL };
	assert_done(sandbox_run(sb, &request, &id, &error));
	assert_int_equal(wait_exit(sb, id), 125);
	for (int i = 0; i < N; i++)
		assert_done(sandbox_signal(sb, ids[i], SIGKILL, &error));
	for (int left = N; left > 0; left--) {
		sandbox_wait_event(sb, 60000, &event);
		assert_int_equal(event.kind, SANDBOX_EXITED);
		assert_int_equal(event.status, SIGKILL);
		for (int i = 0; i < N; i++) {
			if (event.id != ids[i])
				continue;
			assert_false(ended[i]);
			ended[i] = true;
		}
	}
	assert_int_equal(RUN("true")->status, 0);
}

/* Requests over a limit are refused by the owner, and the sandbox goes on. */
static void test_too_much(void **state)
{
	static const char *args[GUEST_ARGS_MAX + 2], *env[GUEST_ENV_MAX + 2];
	auto_free char *text = malloc(GUEST_MESSAGE_MAX + 1);
	struct program_request request = { .argv = NULL };
	int fds[GUEST_FDS_MAX + 1] = { 0 };
	uint32_t id;

	memset(text, 'x', GUEST_MESSAGE_MAX);
	text[GUEST_MESSAGE_MAX] = '\0';
	for (size_t i = 0; i <= GUEST_ARGS_MAX; i++)
		args[i] = "true";
	for (size_t i = 0; i <= GUEST_ENV_MAX; i++)
		env[i] = "A=1";
	request.argv = args;
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -E2BIG);
	args[GUEST_ARGS_MAX] = NULL;
	assert_int_equal(run_list(args)->status, 0);
	request.argv = (const char *const[]){ "true", NULL };
	request.env = env;
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -E2BIG);
	env[GUEST_ENV_MAX] = NULL;
	assert_int_equal(program_request(sb, &request)->status, 0);
	request.env = NULL;
	request.n_streams = GUEST_FDS_MAX + 1;
	request.streams = fds;
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -E2BIG);
	fds[1] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	request.n_streams = 3;
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -EISDIR);
	close(fds[1]);
	request.n_streams = 0;
	request.argv = (const char *const[]){ "true", text, NULL };
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -E2BIG);
	request.argv = (const char *const[]){ NULL };
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -EINVAL);
	request.argv = (const char *const[]){ "true", NULL };
	text[GUEST_PATH_MAX + 1] = '\0';
	request.cwd = text;
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -ENAMETOOLONG);
	assert_int_equal(RUN("true")->status, 0);
}

/* PID 1 reaps processes whose parent has ended. */
static void test_orphans(void **state)
{
	assert_int_equal(run_script(sb, "for i in {1..50}; do (sleep 0.01 &) ; done")->status, 0);
	assert_string_equal(
			run_script(sb,
					"for ((i = 0; i < 1000; i++)); do\n"
					"\tset -- /proc/[0-9]*; (($# == 3)) && break; sleep 0.01\n"
					"done; echo $#")
					->output,
			"3\n"); /* PID 1, the porter, and the counting shell */
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, open_sandbox, close_sandbox)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SANDBOX(test_how_it_ends),
		IN_SANDBOX(test_arguments),
		IN_SANDBOX(test_usual_environment),
		IN_SANDBOX(test_given_environment),
		IN_SANDBOX(test_working_directory),
		IN_SANDBOX(test_root_user),
		IN_SANDBOX(test_descriptors),
		IN_SANDBOX(test_no_descriptors),
		IN_SANDBOX(test_program_of_the_owner),
		IN_SANDBOX(test_signals),
		IN_SANDBOX(test_many_at_once),
		IN_SANDBOX(test_too_much),
		IN_SANDBOX(test_orphans),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
