/* SPDX-License-Identifier: Apache-2.0 */
#include "base/job.h"

#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct job {
	job_work *work;
	void *arg;
	pid_t process; /* process that runs the job's thread; a forked child has no such thread */
	pthread_t thread;
	int fd;         /* eventfd that becomes readable when the job ends */
	bool is_shared; /* `fd` belongs to the caller and stays open */
	atomic_bool over;
	int r;
	struct fh_error error;
};

static void *job_run(void *arg)
{
	struct job *job = arg;

	job->r = job->work(job->arg, &job->error);
	atomic_store(&job->over, true);
	(void)!write(job->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	return NULL;
}

static int job_start(struct job *job, const char *what, struct fh_error *err)
{
	sigset_t every, before;
	int r;

	if (!job->is_shared)
		job->fd = eventfd(0, EFD_CLOEXEC);
	if (job->fd < 0)
		return error_set(err, errno, "create an eventfd");
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	r = pthread_create(&job->thread, NULL, job_run, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? error_set(err, r, "start a thread to %s", what) : 0;
}

static void job_free(struct job *job)
{
	if (!job->is_shared)
		close_fd(&job->fd);
	free(job);
}

int job_begin(job_work *work, void *arg, const char *what, struct job **out, struct fh_error *err)
{
	return job_begin_shared(-1, work, arg, what, out, err);
}

int job_begin_shared(int fd, job_work *work, void *arg, const char *what, struct job **out,
		struct fh_error *err)
{
	struct job *job = xcalloc(1, sizeof(*job));
	int r;

	job->fd = fd;
	job->is_shared = fd >= 0;
	job->work = work;
	job->arg = arg;
	job->process = getpid();
	r = job_start(job, what, err);
	if (r < 0) {
		job_free(job);
		return r;
	}
	*out = job;
	return 0;
}

int job_fd(const struct job *job)
{
	return job->fd;
}

bool job_is_over(const struct job *job)
{
	return atomic_load(&job->over);
}

int job_end(struct job *job, struct fh_error *err)
{
	int r;

	if (job->process == getpid())
		pthread_join(job->thread, NULL);
	r = job->r;
	if (r < 0 && err)
		*err = job->error;
	job_free(job);
	return r;
}
