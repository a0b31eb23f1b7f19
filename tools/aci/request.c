/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/scope.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * `validate` and `submit` only send a request, which the porter passes on. The environment scores
 * the episode outside of this sandbox, after the command has ended. In a command that plays as the
 * agent, `validate` is a call instead, and prints the score.
 *
 * A byte fills the pipe. When the pipe takes another byte, the porter has read the first byte. The
 * owner of the sandbox knows of the request then.
 */
#define SCORING_TIMEOUT_S 86400 /* graders have timeouts of their own */

static bool request_tell(const char *path)
{
	auto_close int pipe = open(path, O_WRONLY | O_CLOEXEC);
	struct pollfd p = { .fd = pipe, .events = POLLOUT };

	if (pipe < 0 || write(pipe, "", 1) != 1)
		return false;
	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return p.revents & POLLOUT;
}

static int request_make(const char *path)
{
	if (request_tell(path))
		return 0;
	fprintf(stderr, "the request could not be passed on: %s\n", strerror(errno));
	return 1;
}

void aci_tell_state(void)
{
	(void)request_tell(GUEST_STATE_PIPE);
}

/* Announces a call by a byte. Does not wait until the porter reads the byte, because the caller
 * waits for the answer anyway. */
bool aci_tell_call(void)
{
	auto_close int pipe = open(GUEST_CALL_PIPE, O_WRONLY | O_CLOEXEC);

	return pipe >= 0 && write(pipe, "", 1) == 1;
}

static int request_run_validate(int argc, char **argv)
{
	auto_buf struct buf answer = BUF_INIT(0);
	const char *scores = getenv(GUEST_SCORES_VARIABLE);

	if (scores && *scores) { /* the environment scores at once, and answers */
		if (!aci_call("validate", "", SCORING_TIMEOUT_S, &answer))
			return 1;
		fputs(buf_str(&answer), stdout);
		return 0;
	}
	return request_make(GUEST_VALIDATE_PIPE);
}

static int request_run_submit(int argc, char **argv)
{
	return request_make(GUEST_SUBMIT_PIPE);
}

const struct aci_command aci_validate = { "validate",
	"validate: score what is there now; the episode goes on", request_run_validate };
const struct aci_command aci_submit = { "submit",
	"submit: score what is there now, and end the episode", request_run_submit };
