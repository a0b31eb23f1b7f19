/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_LWS_H
#define WEB_LWS_H

#include "base/error.h"

#include <libwebsockets.h>
#include <stdint.h>

/*
 * libwebsockets, loaded when a server starts: loading it and its libraries takes longer than
 * starting Fumehood. lws_load() fills the struct `lws_api` with the functions that are used.
 */
#define LWS_FUNCTIONS(X)                                                                           \
	X(SHA1)                                                                                    \
	X(adopt_descriptor_vhost)                                                                  \
	X(b64_encode_string)                                                                       \
	X(callback_on_writable)                                                                    \
	X(context_destroy)                                                                         \
	X(context_user)                                                                            \
	X(create_context)                                                                          \
	X(get_context)                                                                             \
	X(get_opaque_user_data)                                                                    \
	X(get_socket_fd)                                                                           \
	X(get_vhost_by_name)                                                                       \
	X(get_vhost_listen_port)                                                                   \
	X(rx_flow_control)                                                                         \
	X(send_pipe_choked)                                                                        \
	X(service)                                                                                 \
	X(set_log_level)                                                                           \
	X(set_opaque_user_data)                                                                    \
	X(set_timeout)                                                                             \
	X(sul_schedule)                                                                            \
	X(write)

struct lws_api {
#define LWS_MEMBER(name) __typeof__(&lws_##name) name;
	LWS_FUNCTIONS(LWS_MEMBER)
#undef LWS_MEMBER
};

extern struct lws_api lws_api;

/* Loads libwebsockets. -ENOENT: it is missing, or lacks a function. */
int lws_load(struct fh_error *err);

/*
 * Options of a context that listens on this address. Without them libwebsockets takes an IPv4
 * address for none, and listens on all addresses of the machine. It fails if the port is in use.
 */
uint64_t lws_listen_options(const char *address);

#endif
