/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_LIBCURL_H
#define WEB_LIBCURL_H

/* The functions stand in a table: no macros may check their arguments by name. */
#define CURL_DISABLE_TYPECHECK

#include "base/error.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>

/*
 * libcurl, loaded when it is first needed: with all that it brings along it takes three times as long to load as
 * this program takes to start. Of its functions those that are used; `libcurl` has them after libcurl_load().
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

/* -ENOENT if it is not there, or not what this was compiled for. From any thread; what is loaded stays. */
int libcurl_load(struct fh_error *err);

void libcurl_wiping_free(void *p); /* as libcurl frees */

/* A peer that has closed its end must not end this process, whose signals are not ours to set. */
struct libcurl_quiet {
	sigset_t before;
	bool was_pending;
};

void libcurl_quiet_begin(struct libcurl_quiet *q);
void libcurl_quiet_end(struct libcurl_quiet *q);

#endif
