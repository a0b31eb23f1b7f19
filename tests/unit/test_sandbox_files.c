/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "base/mem.h"
#include "inside/places.h"
#include "proto/guest.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Copies files out of a sandbox and into it, while an agent moves and links all that it can. */

#define WORK GUEST_WORKSPACE

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

static void run(const char *script)
{
	const struct ran *ran = run_script(sb, script);

	if (ran->status != 0)
		fail_msg("'%s': %d, '%s'", script, ran->status, ran->output);
}

/* Reads a file of the sandbox with get_file(). Returns its text on the heap, or NULL and the
 * errno. */
static char *get(const char *folder, const char *path, int64_t most, int *out_errno)
{
	struct fh_error err = FH_ERROR_INIT;
	auto_close int fd = -1;
	char *text;
	ssize_t n;
	int r = get_file(sb, folder, path, most, &fd, &err);

	*out_errno = -r;
	if (r < 0) {
		assert_int_equal(err.code, r);
		assert_int_not_equal(strlen(err.message), 0);
		assert_int_equal(fd, -1);
		snprintf(error.message, sizeof(error.message), "%s", err.message);
		return NULL;
	}
	text = malloc((size_t)most + 2);
	n = fd_read_full(fd, text, (size_t)most + 1);
	assert_true(n >= 0 && n <= most);
	text[n] = '\0';
	assert_int_equal(write(fd, "x", 1), -1); /* sealed */
	return text;
}

static void test_get(void **state)
{
	static const char setup[] =
			"mkdir -p dir/sub empty; echo text >file; echo below >dir/sub/file\n"
			"echo secret >file0; chmod 0 file0; : >nothing; truncate -s 1T sparse\n"
			"ln -s file link; ln -s /etc/passwd out; ln -s dir dirlink; ln -s loop loop\n"
			"ln -s /proc/self/root/etc root; ln file hard; mkfifo fifo\n"
			"ln -s nowhere broken; ln -s $PWD/file absolute; mkdir locked\n"
			"echo in >locked/file; chmod 0 locked; echo a >$'new\\nline'\n"
			"python3 -ISc 'import socket; socket.socket(1).bind(\"socket\")'\n"
			"n=$(printf 'x%.0s' {1..255}); echo long >$n";
	static char long_name[257];
	const struct {
		const char *folder, *path;
		int error;
		const char *text, *says;
	} cases[] = {
		{ WORK, "file", 0, "text\n", NULL },
		{ WORK, "dir/sub/file", 0, "below\n", NULL },
		{ WORK, "./dir//sub/./file", 0, "below\n", NULL },
		{ WORK, "dir/../file", 0, "text\n", NULL },
		{ WORK "/dir/", "sub/file", 0, "below\n", NULL },
		{ "/", "home/agent/workspace/file", 0, "text\n", NULL },
		{ WORK, "nothing", 0, "", NULL },
		{ WORK, "hard", 0, "text\n", NULL },
		{ WORK, "file0", 0, "secret\n", NULL }, /* has mode 0, but is read as root */
		{ WORK, "locked/file", 0, "in\n", NULL },
		{ WORK, "new\nline", 0, "a\n", NULL },
		{ WORK, long_name + 1, 0, "long\n", NULL },
		{ WORK, long_name, ENAMETOOLONG, NULL, "File name too long" },
		{ WORK, "missing", ENOENT, NULL, "'missing' does not exist" },
		{ WORK, "missing/file", ENOENT, NULL, "does not exist" },
		{ WORK, "file/file", ENOENT, NULL, "does not exist" },
		{ WORK "/missing", "file", ENOENT, NULL, "does not exist" },
		{ WORK, "broken", ELOOP, NULL, "symbolic link" },
		{ WORK, "link", ELOOP, NULL, "symbolic link" },
		{ WORK, "absolute", ELOOP, NULL, "symbolic link" },
		{ WORK, "out", ELOOP, NULL, "symbolic link" },
		{ WORK, "loop", ELOOP, NULL, "symbolic link" },
		{ WORK, "dirlink/sub/file", ELOOP, NULL, "symbolic link" },
		{ WORK, "root/passwd", ELOOP, NULL, "symbolic link" },
		{ WORK "/dirlink", "sub/file", ELOOP, NULL, "symbolic link" },
		{ "/proc/self/root", "etc/passwd", ELOOP, NULL, "symbolic link" },
		{ "/proc/self/cwd", "etc/passwd", ELOOP, NULL, "symbolic link" },
		{ WORK, "..", ELOOP, NULL, "leads out of the workspace" },
		{ WORK, "../../../etc/passwd", ELOOP, NULL, "leads out of the workspace" },
		{ WORK, "dir/../../x", ELOOP, NULL, "leads out of the workspace" },
		{ WORK, "/etc/passwd", ELOOP, NULL, "leads out of the workspace" },
		{ WORK, "dir", EINVAL, NULL, "'dir' is a folder" },
		{ WORK, ".", EINVAL, NULL, "folder" },
		{ WORK, "", ENOENT, NULL, "does not exist" },
		{ WORK, "fifo", EINVAL, NULL, "named pipe" },
		{ WORK, "socket", EINVAL, NULL, "is a socket" },
		{ "/dev", "null", EINVAL, NULL, "device" },
		{ "/dev", "tty", EINVAL, NULL, "device" },
		{ WORK, "sparse", EFBIG, NULL, "1099511627776 bytes, more than the 100000" },
		{ "/proc", "version", 0, NULL, NULL },
	};

	memset(long_name, 'x', 256);
	run(setup);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r;
		auto_free char *text = get(cases[i].folder, cases[i].path, 100000, &r);

		if (r != cases[i].error)
			fail_msg("%s: %d (%s) instead of %d", cases[i].path, r, error.message,
					cases[i].error);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
		if (cases[i].says)
			assert_has(error.message, cases[i].says);
	}
}

static void test_get_at_most(void **state)
{
	auto_free char *whole = NULL;
	auto_free char *cut = NULL;
	int r;

	run("head -c 1000 /dev/zero | tr '\\0' x >file");
	whole = get(WORK, "file", 1000, &r);
	assert_int_equal(r, 0);
	assert_int_equal(strlen(whole), 1000);
	cut = get(WORK, "file", 999, &r);
	assert_int_equal(r, EFBIG);
	assert_null(cut);
}

static void test_paths_that_are_too_long(void **state)
{
	auto_free char *path = malloc(GUEST_PATH_MAX + 2);
	auto_free char *text = NULL;
	int r;

	memset(path, '/', GUEST_PATH_MAX + 1);
	path[GUEST_PATH_MAX + 1] = '\0';
	assert_null(get(WORK, path, 10, &r));
	assert_int_equal(r, ENAMETOOLONG);
	assert_int_equal(put_file(sb, WORK, path, "x", 1, 0644), -ENAMETOOLONG);
	path[GUEST_PATH_MAX] = '\0';
	text = get(WORK, path, 10, &r);
	assert_null(text);
	assert_int_not_equal(r, 0);
	assert_int_equal(run_script(sb, "true")->status, 0); /* it lives */
}

/* An agent may replace the workspace folder itself. Files are then neither read nor written through
 * it. */
static void test_workspace_replaced(void **state)
{
	static const char *const ways[] = { "ln -s /etc workspace", "touch workspace", "true",
		"mkfifo workspace" };
	static const int errors[] = { ELOOP, ENOENT, ENOENT, ENOENT };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		auto_free char *script = xasprintf("cd; rm -rf workspace; %s", ways[i]);
		int r;

		run(script);
		assert_null(get(WORK, "passwd", 100000, &r));
		assert_int_equal(r, errors[i]);
		assert_int_equal(put_file(sb, WORK, "passwd", "x", 1, 0644), -errors[i]);
	}
}

/* If a file is replaced while it is read, the copy is one of the files, and complete. */
static void test_get_while_replaced(void **state)
{
	uint32_t id;
	struct program_request request = { .argv = NULL };
	int n_texts = 0, n_links = 0;

	request.argv = (const char *const[]){ "python3", "-ISc",
		"import os\n"
		"open('a', 'w').write('a' * 5000)\n"
		"os.symlink('/etc/passwd', 'l')\n"
		"os.mkdir('d'); os.mkfifo('f')\n"
		"while 1:\n"
		"    os.link('a', 'n'); os.rename('n', 'file')\n"
		"    os.rename('l', 'file'); os.symlink('/etc/passwd', 'l')\n"
		"    os.unlink('file'); os.rename('d', 'file')\n"
		"    os.rename('file', 'd'); os.rename('f', 'file'); os.rename('file', 'f')",
		NULL };
	assert_done(sandbox_run(sb, &request, &id, &error));
	/* Read until both a file and a link were met. The scheduler decides how soon that is. */
	for (int i = 0; i < 3000 || ((!n_texts || !n_links) && i < 300000); i++) {
		int r;
		auto_free char *text = get(WORK, "file", 100000, &r);

		if (text && (strlen(text) != 5000 || strspn(text, "a") != 5000))
			fail_msg("'%.100s'", text);
		if (!text && r != ENOENT && r != ELOOP && r != EINVAL)
			fail_msg("%s", error.message);
		n_texts += text != NULL;
		n_links += r == ELOOP;
	}
	assert_done(sandbox_signal(sb, id, SIGKILL, &error));
	assert_int_equal(wait_exit(sb, id), 137); /* 137: killed, so the script never failed */
	print_message("%d times a file, %d times a link\n", n_texts, n_links);
	assert_true(n_texts > 0 && n_links > 0);
}

/* A slow owner may find each answer there already, so that the porter's socket is never seen empty.
 * The porter then sends no more than it was asked for. */
static void test_answers_that_came_already(void **state)
{
	run("echo text >file");
	for (int i = 0; i < 400; i++) {
		struct sandbox_answer answer = { .fd = -1 };
		struct sandbox_event event;
		struct waits w = WAITS_INIT;
		uint32_t id;

		assert_done(sandbox_get_begin(sb, WORK, "file", 100, &id, &error));
		sandbox_waits(sb, &w);
		assert_true(waits_poll(&w));
		sandbox_next_event(sb, &event);
		assert_int_equal(event.kind, SANDBOX_DONE);
		assert_int_equal(event.id, id);
		assert_done(sandbox_take(sb, &answer, &error));
		close(answer.fd);
	}
}

/* If a file grows and shrinks while it is read, the copy may be cut. It never exceeds the allowed
 * size. */
static void test_get_while_changed(void **state)
{
	uint32_t id;
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "python3", "-ISc",
		"import os\n"
		"f = os.open('file', os.O_CREAT | os.O_RDWR)\n"
		"while 1:\n"
		"    os.truncate(f, 0); os.truncate(f, 3000000); os.truncate(f, 1000)\n",
		NULL };
	run("touch file");
	assert_done(sandbox_run(sb, &request, &id, &error));
	for (int i = 0; i < 300; i++) {
		auto_free char *text = NULL;
		int r;

		text = get(WORK, "file", 100000, &r);
		if (!text && r != EFBIG)
			fail_msg("%s", error.message);
	}
	assert_done(sandbox_signal(sb, id, SIGKILL, &error));
	assert_int_equal(wait_exit(sb, id), 137);
}

static void test_put(void **state)
{
	static const char data[] = "some\0bytes";
	static const struct {
		const char *path, *look;
		mode_t mode;
	} cases[] = {
		{ "new", "644 1000 1000 10", 0644 },
		{ "a/b/c/new", "755 1000 1000 10", 0755 },
		{ "a/b/other", "600 1000 1000 10", 0600 },
		{ "old", "644 1000 1000 10", 0644 },
		{ "readonly", "400 1000 1000 10", 0400 },
		{ "locked/new", "644 1000 1000 10", 0644 },
		{ "setuid", "755 1000 1000 10", 06755 },
		{ "./a/./new2", "644 1000 1000 10", 0644 },
	};

	run("echo longer than the new one >old; ln old kept; echo x >readonly; chmod 0 readonly; mkdir locked; "
	    "chmod 0 locked");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *script =
				xasprintf("chmod 755 locked; stat -c '%%a %%u %%g %%s' %s; "
					  "chmod 0 locked",
						cases[i].path);
		auto_free char *text = NULL;
		int r;

		assert_done(put_file(sb, WORK, cases[i].path, data, 10, cases[i].mode));
		assert_memory_equal(run_script(sb, script)->output, cases[i].look,
				strlen(cases[i].look));
		text = get(WORK, cases[i].path, 100, &r);
		assert_int_equal(r, 0);
		assert_memory_equal(text, data, 10);
	}
	assert_string_equal(
			run_script(sb, "stat -c '%a %U' a a/b")->output, "755 agent\n755 agent\n");
	/* Writing a file replaces it: a hard link to the old file still has the old text. */
	assert_string_equal(run_script(sb, "cat kept")->output, "longer than the new one\n");
	assert_done(put_file(sb, WORK, "empty", "", 0, 0644));
	assert_string_equal(run_script(sb, "stat -c %s empty")->output, "0\n");
	assert_done(put_file(sb, "/tmp", "x", data, 10, 0644));
}

static void test_put_refused(void **state)
{
	static const struct {
		const char *path;
		int error;
	} cases[] = {
		{ "link", ELOOP },
		{ "out", ELOOP },
		{ "broken", ELOOP },
		{ "dirlink/x", ELOOP },
		{ "dirlink/made/x", ELOOP },
		{ "outdir/x", ELOOP },
		{ "../x", EXDEV },
		{ "dir/../../x", EXDEV },
		{ "new/../x", EXDEV },
		{ "new/..", EXDEV },
		{ "new//x", EINVAL },
		{ "new/", ENOENT },
		{ "/tmp/x", EINVAL },
		{ "dir//x", EINVAL },
		{ "", ENOENT },
		{ "dir", EISDIR },
		{ "dir/", ENOENT },
		{ ".", EISDIR },
		{ "fifo", ENXIO },
		{ "socket", ENXIO },
		{ "file/x", ENOTDIR },
	};

	run("mkdir dir /tmp/outside; echo kept >file; ln -s file link; ln -s /tmp/outside/x out\n"
	    "ln -s dir dirlink; ln -s /tmp/outside outdir; mkfifo fifo; ln -s nowhere broken\n"
	    "python3 -ISc 'import socket; socket.socket(1).bind(\"socket\")'");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = put_file(sb, WORK, cases[i].path, "x", 1, 0644);

		if (r != -cases[i].error)
			fail_msg("'%s': %d (%s) instead of %d", cases[i].path, r, error.message,
					cases[i].error);
	}
	assert_int_equal(put_file(sb, WORK, "dir/../x", "x", 1, 0644), -EXDEV);
	assert_string_equal(error.message, "'dir/../x' leads out of its folder");
	run("ln -s nowhere dir/link");
	assert_int_equal(put_file(sb, WORK, "dir/link", "x", 1, 0644), -ELOOP);
	assert_string_equal(error.message, "'dir/link' is, or lies behind, a symbolic link");
	run("rm dir/link");
	assert_string_equal(run_script(sb, "cat file; ls /tmp/outside dir ..; ls")->output,
			"kept\n..:\nworkspace\n\n/tmp/outside:\n\ndir:\nbroken\ndir\ndirlink\nfifo\n"
			"file\nlink\nout\noutdir\nsocket\n");
	assert_int_equal(put_file(sb, "/etc", "x", "x", 1, 0644), -EROFS);
	assert_int_equal(put_file(sb, "/usr/share", "a/x", "x", 1, 0644), -EROFS);
}

static void test_put_when_full(void **state)
{
	struct sandbox *before = sb;
	auto_free char *data = calloc(1, 2000000);

	sb = start_sandbox(&(struct sandbox_options){
			.layer = "empty", .limits = { .disk_bytes = 1 << 20 } });
	assert_int_equal(put_file(sb, WORK, "big", data, 2000000, 0644), -ENOSPC);
	run("rm big");
	assert_done(put_file(sb, WORK, "small", data, 500000, 0644));
	assert_string_equal(run_script(sb, "stat -c %s small")->output, "500000\n");
	sandbox_close(sb);
	sb = before;
}

/* Packs the workspace into a pipe. Files behind links are left out, as is the named entry. */
static void test_pack(void **state)
{
	auto_buf struct buf packed = BUF_INIT(65536);
	auto_close int from = -1, to = -1;
	char chunk[512];
	int pair[2];
	ssize_t n;

	run("mkdir data sub && echo left out >data/x && echo packed >sub/y && ln -s /etc/passwd l");
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	from = pair[0];
	to = pair[1];
	assert_done(sandbox_pack(sb, WORK, "data", to, &error));
	close_fd(&to);
	while ((n = read(from, chunk, sizeof(chunk))) > 0)
		buf_add(&packed, chunk, (size_t)n);
	assert_non_null(memmem(packed.data, packed.len, "sub/ypacked\n", 12));
	assert_non_null(memmem(packed.data, packed.len, "l/etc/passwd", 12));
	assert_null(memmem(packed.data, packed.len, "left out", 8));
	assert_null(memmem(packed.data, packed.len, "root:", 5));
}

/* Events that arrive while get_file() waits for its answer are kept. */
static void test_events_meanwhile(void **state)
{
	uint32_t ids[20];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct program_request request = { .argv = NULL };

		request.argv = (const char *const[]){ "true", NULL };
		assert_done(sandbox_run(sb, &request, &ids[i], &error));
		for (int j = 0; j < 10; j++)
			assert_null(get(WORK, "missing", 10, &r));
		assert_int_equal(wait_exit(sb, ids[i]), 0);
	}
}

static void test_after_its_end(void **state)
{
	struct sandbox_event event;
	uint32_t id;
	struct program_request request = { .argv = NULL };
	int fds[SANDBOX_FDS], fd = -1;

	request.user = USER_ROOT;
	request.argv = (const char *const[]){ "true", NULL };
	assert_done(sandbox_run(sb, &request, &id, &error));
	assert_int_equal(wait_exit(sb, id), 0);
	sandbox_fds(sb, fds);
	shutdown(fds[0], SHUT_WR); /* for PID 1, as if the owner had ended */
	sandbox_wait_event(sb, 60000, &event);
	assert_int_equal(event.kind, SANDBOX_GONE);
	assert_int_equal(get_file(sb, WORK, "x", 10, &fd, &error), -EPIPE);
	assert_int_equal(put_file(sb, WORK, "x", "x", 1, 0644), -EPIPE);
	assert_int_equal(sandbox_run(sb, &request, &id, &error), -EPIPE);
	assert_int_equal(sandbox_pack(sb, WORK, "data", 2, &error), -EPIPE);
	sandbox_next_event(sb, &event);
	assert_int_equal(event.kind, SANDBOX_GONE);
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, open_sandbox, close_sandbox)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SANDBOX(test_get),
		IN_SANDBOX(test_get_at_most),
		IN_SANDBOX(test_paths_that_are_too_long),
		IN_SANDBOX(test_workspace_replaced),
		IN_SANDBOX(test_get_while_replaced),
		IN_SANDBOX(test_answers_that_came_already),
		IN_SANDBOX(test_get_while_changed),
		IN_SANDBOX(test_put),
		IN_SANDBOX(test_put_refused),
		IN_SANDBOX(test_put_when_full),
		IN_SANDBOX(test_pack),
		IN_SANDBOX(test_events_meanwhile),
		IN_SANDBOX(test_after_its_end),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
