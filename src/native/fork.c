/* SPDX-License-Identifier: Apache-2.0 */
#include "native/fork.h"

#include "base/scope.h"
#include "native/devices.h"
#include "native/errands.h"
#include "native/mail.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/*
 * Lists of all owners and sandboxes of this process. A child of fork() uses them to close the
 * descriptors that it must not hold. The mutex `lock` is held during each fork(), so that the child
 * finds the lists complete.
 */
static struct native_owner *owners;

static void fork_before(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void fork_in_child(void)
{
	for (struct native_owner *o = owners; o; o = o->next) {
		close_fd(&o->nursery);
		close_fd(&o->nursery_process);
		while (o->n_retired)
			close_fd(&o->retired[--o->n_retired]);
		o->forked = true;
		/*
		 * Make the mutexes again in this fork: another thread may have held them at the
		 * fork.
		 */
		pthread_mutex_init(&o->lock, NULL);
		pthread_mutex_init(&o->changing, NULL);
		errands_forget(o);
		/* free only the path: the parent process removes the folder */
		free(take_ptr(o->disk_dir));
		close_fd(&o->disk_claim);
		devices_forked(o->devices);
		gpus_forked(o->base.gpus);
		if (o->cgroups)
			cgroups_forked(o->cgroups);
		for (struct native_sandbox *sb = o->sandboxes; sb; sb = sb->next) {
			close_fd(&sb->control);
			close_fd(&sb->porter);
			mail_free(take_ptr(sb->mail));
			close_fd(&sb->files);
			sb->gone = true;
			/* 0: closing the sandbox in this fork must not end the parent's */
			sb->number = 0;
		}
		o->sandboxes = NULL;
	}
	owners = NULL;
	pthread_mutex_unlock(&lock);
}

static void fork_watch(void)
{
	pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

void fork_watch_owner(struct native_owner *owner)
{
	pthread_once(&once, fork_watch);
	pthread_mutex_lock(&lock);
	owner->next = owners;
	owners = owner;
	pthread_mutex_unlock(&lock);
}

void fork_unwatch_owner(struct native_owner *owner)
{
	pthread_mutex_lock(&lock);
	for (struct native_owner **at = &owners; *at; at = &(*at)->next) {
		if (*at == owner) {
			*at = owner->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

void fork_watch_sandbox(struct native_sandbox *sb)
{
	struct native_owner *o = sb->owner;

	pthread_mutex_lock(&lock);
	sb->next = o->sandboxes;
	sb->previous = &o->sandboxes;
	if (sb->next)
		sb->next->previous = &sb->next;
	o->sandboxes = sb;
	pthread_mutex_unlock(&lock);
}

void fork_unwatch_sandbox(struct native_sandbox *sb)
{
	pthread_mutex_lock(&lock);
	if (sb->previous && *sb->previous == sb) {
		*sb->previous = sb->next;
		if (sb->next)
			sb->next->previous = sb->previous;
	}
	pthread_mutex_unlock(&lock);
}
