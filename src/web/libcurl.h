/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_LIBCURL_H
#define WEB_LIBCURL_H

/* The functions stand in a table: no macros may check their arguments by name. */
#define CURL_DISABLE_TYPECHECK

#include "base/error.h"

#include <curl/curl.h>

/*
 * libcurl, loaded when it is first needed: with all that it brings along it takes three times as long to load as
 * this program takes to start. Of its functions those that are used; `lib` is theirs after libcurl_load().
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

/* -ENOENT if it is not there, or not what this was compiled for. Once is enough; one thread at a time. */
int libcurl_load(struct fh_error *err);

#endif
