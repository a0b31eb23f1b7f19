/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int n_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* --- whole reads and writes ------------------------------------------------------------------- */

/* Forks a process that writes a text to fd in pieces, and ends. */
static pid_t dribble(int fd, const char *text, size_t n)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (size_t i = 0; i < n; i += 7) {
		if (fd_write_full(fd, text + i, n - i < 7 ? n - i : 7) < 0)
			_exit(1);
		usleep(100);
	}
	_exit(0);
}

static void test_reading_full(void **state)
{
	static char sent[500], got[1000];
	int ends[2];
	pid_t pid;

	(void)state;
	memset(sent, 'x', sizeof(sent));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = dribble(ends[1], sent, sizeof(sent));
	close(ends[1]);
	assert_int_equal(fd_read_full(ends[0], got, 100), 100);
	assert_int_equal(fd_read_full(ends[0], got, sizeof(got)), 400);
	assert_int_equal(fd_read_full(ends[0], got, 1), 0);
	assert_memory_equal(got, sent, 400);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(fd_read_full(-1, got, 1), -EBADF);
	assert_int_equal(fd_write_full(-1, got, 1), -EBADF);
}

/* --- messages --------------------------------------------------------------------------------- */

static void make_pair(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void test_messages(void **state)
{
	int before = n_open();
	int fds[4];
	char text[16];
	size_t n_fds = 99;
	int ends[2];

	(void)state;
	make_pair(ends);
	assert_int_equal(fd_send_message(ends[0], (char[]){ "hello" }, 5, (int[]){ 0, ends[0] }, 2,
					 0),
			0);
	assert_int_equal(fd_recv_message(ends[1], text, sizeof(text), fds, 4, &n_fds, 0), 5);
	assert_memory_equal(text, "hello", 5);
	assert_int_equal(n_fds, 2);
	assert_int_equal(fcntl(fds[1], F_GETFD), FD_CLOEXEC);
	close(fds[0]);
	close(fds[1]);

	assert_int_equal(fd_send_message(ends[0], (char[]){ "x" }, 1, NULL, 0, 0), 0);
	assert_int_equal(fd_recv_message(ends[1], text, sizeof(text), NULL, 0, &n_fds, 0), 1);
	assert_int_equal(n_fds, 0);
	assert_int_equal(
			fd_recv_message(ends[1], text, sizeof(text), NULL, 0, &n_fds, MSG_DONTWAIT),
			-EAGAIN);
	close(ends[0]);
	assert_int_equal(fd_recv_message(ends[1], text, sizeof(text), NULL, 0, &n_fds, 0), 0);
	assert_int_equal(fd_send_message(ends[1], (char[]){ "x" }, 1, NULL, 0, 0), -EPIPE);
	close(ends[1]);
	assert_int_equal(n_open(), before);
}

static void test_unwanted_descriptors_are_closed(void **state)
{
	static int many[FD_MESSAGE_FDS_MAX + 1];
	int before = n_open();
	int ends[2], fd;
	char text[4];
	size_t n_fds;

	(void)state;
	make_pair(ends);
	assert_int_equal(fd_send_message(ends[0], (char[]){ "x" }, 1, many, FD_MESSAGE_FDS_MAX, 0),
			0);
	assert_int_equal(fd_recv_message(ends[1], text, sizeof(text), &fd, 1, &n_fds, 0), 1);
	assert_int_equal(n_fds, 1);
	close(fd);
	/* Descriptors that come with a too long message must be closed. */
	assert_int_equal(fd_send_message(ends[0], (char[]){ "too long" }, 8, many, 3, 0), 0);
	assert_int_equal(
			fd_recv_message(ends[1], text, sizeof(text), &fd, 1, &n_fds, 0), -EMSGSIZE);
	assert_int_equal(fd_send_message(ends[0], (char[]){ "x" }, 1, many, FD_MESSAGE_FDS_MAX + 1,
					 0),
			-E2BIG);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(n_open(), before);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_files(void **state)
{
	char dir[] = "/tmp/test_base_fd.XXXXXX";
	auto_buf struct buf text = BUF_INIT(10);
	struct fh_error err = FH_ERROR_INIT;
	struct stat st;
	char path[100], link[100];
	DIR *d;
	int n = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(fd_write_file(path, "0123456789", 10, 0640, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(fd_read_file(path, &text, &err), 0);
	assert_string_equal(buf_str(&text), "0123456789");

	buf_clear(&text);
	assert_int_equal(fd_write_file(path, "01234567890", 11, 0640, &err), 0);
	assert_int_equal(fd_read_file(path, &text, &err), -EFBIG);
	buf_clear(&text);
	assert_int_equal(fd_read_file("/dev/zero", &text, &err), -EINVAL);
	assert_int_equal(fd_read_file(dir, &text, &err), -EISDIR);
	assert_int_equal(chmod(path, 0604), 0); /* writing to an existing file must keep its mode */
	assert_int_equal(fd_write_file(path, "x", 1, 0640, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0604);

	buf_clear(&text);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(fd_read_plain(path, &text, &err), 0);
	assert_int_equal(fd_read_file(link, &text, &err), 0);
	assert_string_equal(buf_str(&text), "xx");
	assert_int_equal(fd_read_plain(link, &text, &err), -ELOOP);
	assert_int_equal(fd_write_file(link, "y", 1, 0640, &err), 0); /* in its place */
	assert_int_equal(fd_read_plain(link, &text, &err), 0);
	assert_string_equal(buf_str(&text), "xxy");
	unlink(link);

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* no process will ever write to it */
	assert_int_equal(fd_open_plain(path, &err), -EINVAL);
	assert_int_equal(fd_read_file(path, &text, &err), -EINVAL);
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_int_equal(fd_write_file("/nowhere/x", "", 0, 0600, &err), -ENOENT);
	assert_int_equal(fd_write_file(dir, "", 0, 0600, &err), -EISDIR);

	/* Expect only ".", ".." and one file: no temporary file is left, even after an error. */
	d = opendir(dir);
	while (readdir(d))
		n++;
	closedir(d);
	assert_int_equal(n, 3);
	unlink(path);
	rmdir(dir);
}

/* --- copies ----------------------------------------------------------------------------------- */

#define HOLE (1 << 20)

static int memory_file(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Makes a file of `size` bytes: holes, and a letter at each offset of `places`. A negative offset
 * ends the list. */
static int sparse_file(off_t size, const off_t *places)
{
	int fd = memory_file();

	assert_int_equal(ftruncate(fd, size), 0);
	for (; *places >= 0; places++)
		assert_int_equal(pwrite(fd, "x", 1, *places), 1);
	return fd;
}

static void check_same(int a, int b)
{
	static char texts[2][5 * HOLE];
	struct stat st;

	assert_int_equal(fstat(a, &st), 0);
	assert_true(st.st_size <= (off_t)sizeof(texts[0]));
	assert_int_equal(pread(a, texts[0], sizeof(texts[0]), 0), st.st_size);
	assert_int_equal(pread(b, texts[1], sizeof(texts[1]), 0), st.st_size);
	assert_memory_equal(texts[0], texts[1], (size_t)st.st_size);
}

static void test_sparse_copies(void **state)
{
	static const struct {
		off_t size, places[4];
	} cases[] = {
		{ 0, { -1 } },
		{ 1, { 0, -1 } },
		{ 5 * HOLE, { -1 } },
		{ 4 * HOLE, { 0, HOLE, 3 * HOLE + 5000, -1 } },
		{ 2 * HOLE + 1, { HOLE - 1, 2 * HOLE, -1 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		auto_close int from = sparse_file(cases[i].size, cases[i].places);
		auto_close int to = memory_file(), less = memory_file();
		struct stat st;

		assert_int_equal(fd_copy_sparse(from, to, cases[i].size), 0);
		assert_int_equal(fstat(to, &st), 0);
		assert_true(st.st_blocks * 512 < HOLE);
		check_same(from, to);
		if (cases[i].size)
			assert_int_equal(fd_copy_sparse(from, less, cases[i].size - 1), -EFBIG);
	}
}

/* Files of /proc tell a size of 0, but have content. Copying must not trust the size. */
static void test_copies_of_the_kernel_s_files(void **state)
{
	auto_close int from = open("/proc/version", O_RDONLY | O_CLOEXEC);
	auto_close int to = memory_file(), less = memory_file();
	struct stat st;

	assert_int_equal(fd_copy_sparse(from, to, 4096), 0);
	assert_int_equal(fstat(to, &st), 0);
	assert_true(st.st_size > 10);
	assert_int_equal(fd_copy_sparse(from, less, st.st_size - 1), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_full),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_unwanted_descriptors_are_closed),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_sparse_copies),
		cmocka_unit_test(test_copies_of_the_kernel_s_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
