/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_LIBCURL_H
#define WEB_LIBCURL_H

/* Turn off curl.h's macros that check arguments: they don't work with functions in a struct. */
#define CURL_DISABLE_TYPECHECK

#include "base/error.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>

/*
 * libcurl, loaded at its first use: loading it takes three times as long as starting Fumehood.
 * libcurl_load() fills the struct `libcurl` with the functions that are used.
 */
#define LIBCURL_FUNCTIONS(X)                                                                       \
	X(easy_cleanup)                                                                            \
	X(easy_getinfo)                                                                            \
	X(easy_header)                                                                             \
	X(easy_init)                                                                               \
	X(easy_setopt)                                                                             \
	X(easy_strerror)                                                                           \
	X(free)                                                                                    \
	X(global_init_mem)                                                                         \
	X(multi_add_handle)                                                                        \
	X(multi_assign)                                                                            \
	X(multi_cleanup)                                                                           \
	X(multi_info_read)                                                                         \
	X(multi_init)                                                                              \
	X(multi_remove_handle)                                                                     \
	X(multi_setopt)                                                                            \
	X(multi_socket_action)                                                                     \
	X(slist_append)                                                                            \
	X(slist_free_all)                                                                          \
	X(url)                                                                                     \
	X(url_cleanup)                                                                             \
	X(url_get)                                                                                 \
	X(url_set)

struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
	LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

extern struct libcurl libcurl;

/* Loads libcurl once; later calls do nothing. Any thread may call it. -ENOENT: libcurl is missing,
 * or lacks a function. */
int libcurl_load(struct fh_error *err);

/* Overwrites memory and frees it. libcurl frees all of its memory by this function. */
void libcurl_wiping_free(void *p);

/* Until the variable's scope ends, a write to a closed connection raises no SIGPIPE in this thread:
 *   auto_quiet struct libcurl_quiet q = libcurl_quiet_begin(); */
struct libcurl_quiet {
	sigset_t before;
	bool was_pending;
};

struct libcurl_quiet libcurl_quiet_begin(void);
void libcurl_quiet_end(struct libcurl_quiet *q);

#define auto_quiet __attribute__((cleanup(libcurl_quiet_end)))

#endif
