/* SPDX-License-Identifier: Apache-2.0 */
#include "native/roll.h"

#include "base/scope.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * An owner's roll (struct roll) is memory in which its nurseries see which sandboxes are closed. To
 * close a sandbox, the owner writes one number: it waits for nothing and wakes no process. See
 * guest/ends.c.
 */
int roll_open(struct native_owner *o, struct fh_error *err)
{
	void *roll = MAP_FAILED;

	o->roll_fd = memfd_create("roll", MFD_CLOEXEC);
	if (o->roll_fd >= 0 && ftruncate(o->roll_fd, sizeof(*o->roll)) == 0)
		roll = mmap(NULL, sizeof(*o->roll), PROT_READ | PROT_WRITE, MAP_SHARED, o->roll_fd,
				0);
	if (roll == MAP_FAILED)
		return error_set(err, errno, "make the roll of sandboxes");
	o->roll = roll;
	return 0;
}

void roll_release(struct native_owner *o)
{
	if (o->roll)
		munmap(o->roll, sizeof(*o->roll));
	close_fd(&o->roll_fd);
}

uint32_t roll_number(struct native_owner *o)
{
	return atomic_fetch_add(&o->numbers, 1) + 1;
}

void roll_close(struct native_owner *o, uint32_t number)
{
	if (number)
		__atomic_store_n(&o->roll->entries[number % ROLL_ENTRIES].closed, number,
				__ATOMIC_RELAXED);
}
