/* SPDX-License-Identifier: Apache-2.0 */
#include "web/libcurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

struct libcurl libcurl;

/* --- memory ----------------------------------------------------------------------------------- */

void libcurl_wiping_free(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

static void *libcurl_wiping_realloc(void *p, size_t n)
{
	size_t old = p ? malloc_usable_size(p) : 0;
	void *moved = malloc(n);

	if (moved && p)
		memcpy(moved, p, old < n ? old : n);
	if (moved)
		libcurl_wiping_free(p);
	return moved;
}

/* --- loading ---------------------------------------------------------------------------------- */

static struct fh_error libcurl_load_error; /* result of loading libcurl; code 0: it is loaded */

static void libcurl_load_once(void)
{
	struct fh_error *err = &libcurl_load_error;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* libcurl is never unloaded */
	CURLcode result = CURLE_OK;

	if (!library)
		error_say(err, ENOENT,
				"%s can't be loaded, which language models and the web need: %s",
				LIBRARY, dlerror());
#define LIBCURL_FIND(name)                                                                         \
	if (library && !(*(void **)&libcurl.name = dlsym(library, "curl_" #name)))                 \
		error_say(err, ENOENT, "%s has no curl_%s()", LIBRARY, #name);
	LIBCURL_FUNCTIONS(LIBCURL_FIND)
#undef LIBCURL_FIND
	if (!err->code)
		result = libcurl.global_init_mem(CURL_GLOBAL_DEFAULT, malloc, libcurl_wiping_free,
				libcurl_wiping_realloc, strdup, calloc);
	if (result != CURLE_OK)
		error_say(err, EIO, "libcurl: %s", libcurl.easy_strerror(result));
}

int libcurl_load(struct fh_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, libcurl_load_once);
	if (libcurl_load_error.code < 0 && err)
		*err = libcurl_load_error;
	return libcurl_load_error.code;
}

/* --- signals ---------------------------------------------------------------------------------- */

struct libcurl_quiet libcurl_quiet_begin(void)
{
	struct libcurl_quiet q;
	sigset_t pipe, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	q.was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &q.before);
	return q;
}

void libcurl_quiet_end(struct libcurl_quiet *q)
{
	static const struct timespec now = { 0 };
	sigset_t pipe, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	if (!q->was_pending && sigismember(&pending, SIGPIPE) == 1)
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
}
