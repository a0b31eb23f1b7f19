/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_GATEWAY_H
#define INSIDE_GATEWAY_H

#include <stdint.h>

/*
 * The contract between the gateway (tools/aci/gateway.c) and the environment (env/gateway.c). The
 * gateway is an HTTP server inside a sandbox, for an agent that calls a language model. It prints
 * calls, and reads answers from its standard input. Each is one of the structs below and its bytes.
 *
 * The environment does not trust what the gateway prints.
 */
#define GATEWAY_NAME "gateway"
#define GATEWAY_CALLS_MAX 16 /* most connections, and so most calls at a time */
#define GATEWAY_BODY_MAX (16 << 20)
#define GATEWAY_LINE_MAX 512 /* most bytes of "METHOD PATH", and of a key */
#define GATEWAY_ANSWER_MAX (48 << 20)

/*
 * A call. The bytes are "METHOD PATH\n", the key and "\n", and the request's body: JSON, or nothing
 * without a body. No bytes: the client has gone. The first message has the id 0, and the port in
 * decimal as its bytes.
 */
struct gateway_call_head {
	uint32_t id, n;
};
#define GATEWAY_CALL_MAX (GATEWAY_BODY_MAX + 2 * GATEWAY_LINE_MAX + 2)

/* An answer. The bytes are a JSON object. */
struct gateway_answer_head {
	uint32_t id, status, n;
};

#endif
