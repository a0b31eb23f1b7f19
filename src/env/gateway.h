/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_GATEWAY_H
#define ENV_GATEWAY_H

#include "base/buf.h"
#include "env/command.h"
#include "inside/gateway.h"
#include "sandbox/sandbox.h"
#include "shell/session.h"

/*
 * The environment's side of a gateway (inside/gateway.h). A gateway is a program in the sandbox. By
 * it an agent calls a language model, although the sandbox has no network. The porter carries the
 * program's output and input. So this process holds no descriptor that the sandbox could lock.
 * Nothing here blocks.
 */
struct gateway {
	struct sandbox *sb; /* NULL: no gateway runs */
	uint32_t program;   /* id of the program */
	int port;           /* port in the sandbox; 0: not known yet */
	struct buf calls;   /* bytes from the program that were not handled yet */
	size_t n_given;     /* length of the call in `calls` that gateway_next() returned last */
	struct buf answers; /* bytes for the program that were not sent yet */
	bool is_hungry;     /* the program's pipe has room */
	/* the program has sent something malformed, and was killed */
	bool is_broken;
};

/* Begins a gateway without a program, for tests. gateway_start() does the same first. */
void gateway_init(struct gateway *g, struct sandbox *sb);
int gateway_start(struct gateway *g, struct sandbox *sb, struct fh_error *err);
/*
 * Waits, without blocking, for the gateway's first message. 1: it listens. 0: call again later.
 * -EPIPE: the sandbox is gone. -EPROTO: it did not start by deadline_ns.
 */
int gateway_await(struct gateway *g, int64_t deadline_ns, struct fh_error *err);
/* Ends the program. Calls that are under way get no answer. Does nothing if none runs. */
void gateway_stop(struct gateway *g);
/* Waits no more for the program of a sandbox that was closed. */
void gateway_forget(struct gateway *g);

/* Takes output of the gateway's program. A sandbox_take_output whose `arg` is the gateway. */
void gateway_take_output(void *gateway, int slot, const char *data, size_t n);

/*
 * Gives the next call whose bytes have come; false: there is none. The strings live until the next
 * call of a function here.
 */
bool gateway_next(struct gateway *g, struct env_call *out);

/* Answers a call. Drops the answer if the gateway has ended, or has more unsent bytes than it may
 * have. */
void gateway_answer(struct gateway *g, const struct env_answer *answer);

/* Sends answers as far as there is room. `hungry`: the sandbox has reported SANDBOX_HUNGRY. */
void gateway_feed(struct gateway *g, bool hungry);

/*
 * Appends a script for the agent's shell. The script exports variables, and
 * writes the task's text into a file. Then it runs the agent's command. The lines that
 * gateway_add_address() appends come before it.
 */
void gateway_add_script(const struct env_agent *agent, struct buf *out);
void gateway_add_address(const struct gateway *g, struct buf *out);

#endif
