/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpus.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
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

struct gpu {
	int number;
	int device; /* open device file, whose lock holds the GPU */
	bool taken;
};

struct gpus {
	pthread_mutex_t lock; /* guards the field `taken` of all GPUs */
	size_t n;
	struct gpu all[];
};

/* --- the pool --------------------------------------------------------------------------------- */

/*
 * Returns the process that has locked a file, or 0 if /proc/locks does not show it. A line of
 * /proc/locks is "1: FLOCK  ADVISORY  WRITE 4711 00:05:235 0 EOF": process, device and inode.
 */
static int64_t gpus_holder_of(const struct stat *st)
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

static int gpus_say_taken(int number, const struct stat *st, struct fh_error *err)
{
	int64_t pid = gpus_holder_of(st);

	if (pid <= 0)
		return error_say(err, EBUSY, "GPU %d is in use by another run", number);
	return error_say(err, EBUSY, "GPU %d is in use by process %" PRId64, number, pid);
}

/*
 * Checks whether a GPU's device file may be opened by others. Agents open it as another user, even
 * if root starts the run.
 */
static int gpus_check_mode(int number, const char *path, mode_t mode, struct fh_error *err)
{
	if (~mode & (S_IROTH | S_IWOTH))
		return error_say(err, EACCES,
				"an agent could not open GPU %d: the mode of '%s' is %03o, not 666",
				number, path, mode & 0777);
	return 0;
}

size_t gpus_look(int *out_numbers, size_t max, struct fh_error *err)
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
			(void)gpus_check_mode(i, path, st.st_mode, err);
	}
	return n;
}

/* Reports that a GPU does not exist, and which do. */
static int gpus_say_missing(int number, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(FH_ERROR_MESSAGE_MAX);
	int numbers[GPU_NUMBER_MAX + 1];
	struct fh_error ignored;
	size_t n = gpus_look(numbers, ARRAY_SIZE(numbers), &ignored);

	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%d", i ? ", " : "; there are: ", numbers[i]);
	return error_say(err, ENOENT, "there is no GPU %d: no " GPU_DEVICE "%s", number, number,
			n ? buf_str(&text) : ", as this machine has none");
}

/*
 * Locks a GPU's device file, which holds the GPU. Opening the file also shows whether a control
 * group refuses it, and wakes the GPU up.
 */
static int gpus_lock(int number, struct gpu *out, struct fh_error *err)
{
	auto_close int fd = -1;
	char path[32];
	struct stat st;
	int r;

	snprintf(path, sizeof(path), GPU_DEVICE, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return gpus_say_missing(number, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open GPU %d, '%s'", number, path);
	if (!S_ISCHR(st.st_mode))
		return error_say(err, ENOENT, "there is no GPU %d: '%s' is not a device", number,
				path);
	r = gpus_check_mode(number, path, st.st_mode, err);
	if (r < 0)
		return r;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? gpus_say_taken(number, &st, err)
					    : error_set(err, errno, "lock '%s'", path);
	*out = (struct gpu){ .number = number, .device = take_fd(&fd) };
	return 0;
}

static bool gpus_has(const struct gpus *g, int number)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->all[i].number == number)
			return true;
	return false;
}

/*
 * Reports that there are too few GPUs, or too few free ones. `why` is the error of the last GPU
 * that could not be locked.
 */
static int gpus_too_few(const struct gpus *g, size_t wanted, size_t there,
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
			wanted, g->n, there, why->message);
}

/*
 * Locks free GPUs until enough are held: those that the caller named, or any. If any GPU will
 * do, skips numbers that do not exist.
 */
static int gpus_lock_some(struct gpus *g, const struct gpus_wanted *wanted, struct fh_error *err)
{
	size_t n = wanted->numbers ? wanted->n_numbers : GPU_NUMBER_MAX + 1;
	size_t there = g->n;
	struct fh_error why = FH_ERROR_INIT;

	for (size_t i = 0; i < n && g->n < wanted->n; i++) {
		int number = wanted->numbers ? wanted->numbers[i] : (int)i, r;

		if (gpus_has(g, number))
			continue;
		r = gpus_lock(number, &g->all[g->n], err);
		if (r < 0 && r != -EBUSY && (r != -ENOENT || wanted->numbers))
			return r;
		if (r == -EBUSY)
			why = *err;
		g->n += r >= 0;
		there += r != -ENOENT;
	}
	if (g->n == wanted->n)
		return 0;
	return gpus_too_few(g, wanted->n, there, &why, err);
}

int gpus_open(const struct gpus_wanted *wanted, struct gpus **out, struct fh_error *err)
{
	struct gpus *g;
	int r;

	if (wanted->n > GPU_NUMBER_MAX + 1)
		return error_say(err, EINVAL, "%zu GPUs are wanted: no machine has so many",
				wanted->n);
	g = xcalloc(1, sizeof(*g) + wanted->n * sizeof(*g->all));
	pthread_mutex_init(&g->lock, NULL);
	r = gpus_lock_some(g, wanted, err);
	for (int i = 0; i < AGAIN && r == -EBUSY; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = AGAIN_NS }, NULL);
		r = gpus_lock_some(g, wanted, err);
	}
	if (r < 0) {
		gpus_close(g);
		return r;
	}
	*out = g;
	return 0;
}

static void gpus_unlock(struct gpus *g)
{
	for (size_t i = 0; i < g->n; i++)
		close_fd(&g->all[i].device);
}

void gpus_forked(struct gpus *g)
{
	if (!g)
		return;
	/* Make the mutex again in this fork: another thread may have held it at the fork. */
	pthread_mutex_init(&g->lock, NULL);
	gpus_unlock(g);
}

void gpus_close(struct gpus *g)
{
	if (!g)
		return;
	gpus_unlock(g);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

/* --- leases of episodes ----------------------------------------------------------------------- */

/* Moves free GPUs of the pool to a lease, unless there are too few. Returns the number of GPUs that
 * were free. */
static size_t gpus_fill(struct gpus *g, size_t wanted, struct gpu_lease *lease)
{
	size_t n_free = 0;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->n; i++)
		n_free += !g->all[i].taken;
	for (size_t i = 0; i < g->n && n_free >= wanted && lease->n < wanted; i++) {
		if (g->all[i].taken)
			continue;
		g->all[i].taken = true;
		lease->numbers[lease->n++] = g->all[i].number;
	}
	pthread_mutex_unlock(&g->lock);
	return n_free;
}

int gpu_lease_new(struct gpus *g, size_t n, struct gpu_lease **out, struct fh_error *err)
{
	struct gpu_lease *lease;
	size_t n_free;

	if (n > (g ? g->n : 0))
		return error_say(err, EINVAL, "%zu GPUs are wanted, but the gym has %zu", n,
				g ? g->n : 0);
	if (!n) {
		*out = NULL;
		return 0;
	}
	lease = xcalloc(1, sizeof(*lease) + n * sizeof(*lease->numbers));
	lease->pool = g;
	n_free = gpus_fill(g, n, lease);
	if (lease->n < n) {
		free(lease);
		return error_say(err, EBUSY,
				"%zu GPUs are wanted, but only %zu of the gym's are free", n,
				n_free);
	}
	*out = lease;
	return 0;
}

void gpu_lease_free(struct gpu_lease *lease)
{
	if (!lease)
		return;
	pthread_mutex_lock(&lease->pool->lock);
	for (size_t i = 0; i < lease->pool->n; i++)
		for (size_t k = 0; k < lease->n; k++)
			if (lease->pool->all[i].number == lease->numbers[k])
				lease->pool->all[i].taken = false;
	pthread_mutex_unlock(&lease->pool->lock);
	free(lease);
}
