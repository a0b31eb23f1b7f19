/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/scope.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * `validate` and `submit` only ask: the porter passes the request on, and the episode is scored outside of
 * this sandbox once the command that asked has ended. A byte goes into a pipe that is full with it, and
 * takes another once the porter has read it: the owner has been told by then.
 */
static bool request_ask(int pipe)
{
	struct pollfd p = { .fd = pipe, .events = POLLOUT };

	if (write(pipe, "", 1) != 1)
		return false;
	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return p.revents & POLLOUT;
}

static bool request_tell(const char *path)
{
	auto_close int pipe = open(path, O_WRONLY | O_CLOEXEC);

	return pipe >= 0 && request_ask(pipe);
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

/* Who waits for an answer need not wait until it was told. */
bool aci_tell_call(void)
{
	auto_close int pipe = open(GUEST_CALL_PIPE, O_WRONLY | O_CLOEXEC);

	return pipe >= 0 && write(pipe, "", 1) == 1;
}

static int run_validate(int argc, char **argv)
{
	return request_make(GUEST_VALIDATE_PIPE);
}

static int run_submit(int argc, char **argv)
{
	return request_make(GUEST_SUBMIT_PIPE);
}

const struct aci_command aci_validate = { "validate",
	"validate: score what is there now; the episode goes on", run_validate };
const struct aci_command aci_submit = { "submit",
	"submit: score what is there now, and end the episode", run_submit };
