/* SPDX-License-Identifier: Apache-2.0 */
#include "native/devices.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define LOCKS_BYTES_MAX (1 << 20)

/*
 * Number of further attempts to lock GPUs that are in use, and nanoseconds before each. An agent of
 * a killed run may hold a lock for a moment longer.
 */
#define AGAIN 5
#define AGAIN_NS 20000000

/*
 * Returns the process that has locked a file, or 0 if /proc/locks does not show it. A line of
 * /proc/locks is "1: FLOCK  ADVISORY  WRITE 4711 00:05:235 0 EOF": process, device and inode.
 */
static int64_t devices_holder_of(const struct stat *st)
{
	auto_buf struct buf text = BUF_INIT(LOCKS_BYTES_MAX);
	auto_free char *file = xasprintf(" %02x:%02x:%llu ", major(st->st_dev), minor(st->st_dev),
			(unsigned long long)st->st_ino);
	char *at, *end;
	int64_t pid = 0;

	if (fd_read_file("/proc/locks", &text, NULL) < 0)
		return 0;
	end = strstr(buf_str(&text), file);
	if (!end)
		return 0;
	*end = '\0';
	at = strrchr(buf_str(&text), ' ');
	return at && str_to_i64(at + 1, &pid) ? pid : 0;
}

static int devices_say_taken(int number, const struct stat *st, struct fh_error *err)
{
	int64_t pid = devices_holder_of(st);

	if (pid <= 0)
		return error_say(err, EBUSY, "GPU %d is in use by another run", number);
	return error_say(err, EBUSY, "GPU %d is in use by process %" PRId64, number, pid);
}

/*
 * Checks whether a GPU's device file may be opened by others. Agents open it as another user, even
 * if root starts the run.
 */
static int devices_check_mode(int number, const char *path, mode_t mode, struct fh_error *err)
{
	if (~mode & (S_IROTH | S_IWOTH))
		return error_say(err, EACCES,
				"an agent could not open GPU %d: the mode of '%s' is %03o, not 666",
				number, path, mode & 0777);
	return 0;
}

size_t devices_look(int *out_numbers, size_t max, struct fh_error *err)
{
	size_t n = 0;

	err->code = 0;
	for (int i = 0; i <= GPU_NUMBER_MAX && n < max; i++) {
		char path[32];
		struct stat st;

		snprintf(path, sizeof(path), GPU_DEVICE, i);
		if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode))
			continue;
		out_numbers[n++] = i;
		if (err->code == 0)
			(void)devices_check_mode(i, path, st.st_mode, err);
	}
	return n;
}

/* Reports that a GPU does not exist, and which do. */
static int devices_say_missing(int number, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(FH_ERROR_MESSAGE_MAX);
	int numbers[GPU_NUMBER_MAX + 1];
	struct fh_error ignored;
	size_t n = devices_look(numbers, ARRAY_SIZE(numbers), &ignored);

	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%d", i ? ", " : "; there are: ", numbers[i]);
	return error_say(err, ENOENT, "there is no GPU %d: no " GPU_DEVICE "%s", number, number,
			n ? buf_str(&text) : ", as this machine has none");
}

/*
 * Locks a GPU's device file, which holds the GPU. Opening the file also shows whether a control
 * group refuses it, and wakes the GPU up.
 */
static int devices_lock(int number, struct device *out, struct fh_error *err)
{
	auto_close int fd = -1;
	char path[32];
	struct stat st;
	int r;

	snprintf(path, sizeof(path), GPU_DEVICE, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return devices_say_missing(number, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open GPU %d, '%s'", number, path);
	if (!S_ISCHR(st.st_mode))
		return error_say(err, ENOENT, "there is no GPU %d: '%s' is not a device", number,
				path);
	r = devices_check_mode(number, path, st.st_mode, err);
	if (r < 0)
		return r;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? devices_say_taken(number, &st, err)
					    : error_set(err, errno, "lock '%s'", path);
	*out = (struct device){ .number = number, .fd = take_fd(&fd) };
	return 0;
}

static bool devices_has(const struct devices *d, int number)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->all[i].number == number)
			return true;
	return false;
}

/*
 * Reports that there are too few GPUs, or too few free ones. `why` is the error of the last GPU
 * that could not be locked.
 */
static int devices_too_few(const struct devices *d, size_t wanted, size_t there,
		const struct fh_error *why, struct fh_error *err)
{
	if (!there)
		return error_say(err, ENOENT, "there is no GPU on this machine: no /dev/nvidia0");
	if (there < wanted)
		return error_say(err, ENOENT, "%zu GPUs are wanted, but this machine has %zu",
				wanted, there);
	if (there == 1)
		return error_say(err, EBUSY, "%s", why->message);
	return error_say(err, EBUSY, "not enough GPUs are free (needed: %zu, free: %zu of %zu): %s",
			wanted, d->n, there, why->message);
}

/*
 * Locks free GPUs until enough are held: those that the caller named, or any. If any GPU will
 * do, skips numbers that do not exist.
 */
static int devices_lock_some(
		struct devices *d, const struct gpus_wanted *wanted, struct fh_error *err)
{
	size_t n = wanted->numbers ? wanted->n_numbers : GPU_NUMBER_MAX + 1;
	size_t there = d->n;
	struct fh_error why = FH_ERROR_INIT;

	for (size_t i = 0; i < n && d->n < wanted->n; i++) {
		int number = wanted->numbers ? wanted->numbers[i] : (int)i, r;

		if (devices_has(d, number))
			continue;
		r = devices_lock(number, &d->all[d->n], err);
		if (r < 0 && r != -EBUSY && (r != -ENOENT || wanted->numbers))
			return r;
		if (r == -EBUSY)
			why = *err;
		d->n += r >= 0;
		there += r != -ENOENT;
	}
	if (d->n == wanted->n)
		return 0;
	return devices_too_few(d, wanted->n, there, &why, err);
}

int devices_open(const struct gpus_wanted *wanted, struct devices **out, struct fh_error *err)
{
	struct devices *d;
	int r;

	if (wanted->n > GPU_NUMBER_MAX + 1)
		return error_say(err, EINVAL, "%zu GPUs are wanted: no machine has so many",
				wanted->n);
	d = xcalloc(1, sizeof(*d) + wanted->n * sizeof(*d->all));
	r = devices_lock_some(d, wanted, err);
	for (int i = 0; i < AGAIN && r == -EBUSY; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
		r = devices_lock_some(d, wanted, err);
	}
	if (r < 0) {
		devices_close(d);
		return r;
	}
	*out = d;
	return 0;
}

struct gpus *devices_pool(const struct devices *d)
{
	int numbers[GPU_NUMBER_MAX + 1];

	for (size_t i = 0; i < d->n; i++)
		numbers[i] = d->all[i].number;
	return gpus_new(numbers, d->n);
}

void devices_forked(struct devices *d)
{
	for (size_t i = 0; d && i < d->n; i++)
		close_fd(&d->all[i].fd);
}

void devices_close(struct devices *d)
{
	devices_forked(d);
	free(d);
}
