/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Variables with these attributes are released at the end of their scope. take_fd() and take_ptr()
 * move a value out, so that it is not released.
 */

static inline void scope_free(void *p)
{
	free(*(void **)p);
}

static inline void scope_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void scope_close_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void scope_unlock(pthread_mutex_t *const *mutex)
{
	pthread_mutex_unlock(*mutex);
}

static inline pthread_mutex_t *scope_lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

#define auto_free __attribute__((cleanup(scope_free)))
#define auto_close __attribute__((cleanup(scope_close)))
#define auto_dir __attribute__((cleanup(scope_close_dir)))
/* Unlocks a mutex at the end of the scope: auto_unlock pthread_mutex_t *held = scope_lock(&m); */
#define auto_unlock __attribute__((cleanup(scope_unlock)))

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_ptr_from = &(p);                                               \
		__typeof__(p) take_ptr_value = *take_ptr_from;                                     \
		*take_ptr_from = NULL;                                                             \
		take_ptr_value;                                                                    \
	})

/* Closes *fd if it is open and sets it to -1, so that a second call is harmless. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
