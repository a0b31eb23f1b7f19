/* SPDX-License-Identifier: Apache-2.0 */
#include "native/nursery.h"

#include "base/child.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/refusal.h"
#include "base/scope.h"
#include "native/idmap.h"
#include "native/nursery_talk.h"
#include "native/spares.h"
#include "native/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The owner's side of the nursery: a bash that loads our plugin. Sandboxes are clones of this
 * process. So it must hold no data of the owner (a key, a proxy, a path). It has a fixed
 * environment, and loads the plugin from a memory file.
 *
 * Starting, asking or ending the nursery takes a while. The thread that does so holds the owner's
 * `changing`, for which a loop over many episodes never waits. The thread takes `lock` only to
 * publish the result.
 */

#define NURSERY_FD 3
#define PLUGIN_FD 4
#define COMMAND "enable -f /proc/self/fd/4 fumehood && fumehood 3"
/* most milliseconds to wait for the end of a nursery, which comes after the end of its sandboxes */
#define NURSERY_END_MS 2000

const char *const listed_paths[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/opt",
	NULL,
};

/* Names of the commands for agents in the sandbox. All are one static program: tools/aci/main.c. */
static const char *const tool_names[] = { "validate", "submit", "open", "goto", "scroll_down",
	"scroll_up", "create", "edit", "insert", "search_dir", "search_file", "find_file",
	"memory_write", "memory_read", "describe", "plot", "literature_search", "parse_pdf_url",
	NULL };

/* --- starting and ending the nursery --------------------------------------------------------- */

/* Descriptors that a new nursery, the process that makes sandboxes, gets from its owner. */
struct nursery_ends {
	int socket, plugin, complaints;
};

/*
 * A running nursery that other threads don't see: it is not yet stored in the owner, or was taken
 * out.
 */
struct nursery_standing {
	int socket;
	int process; /* pidfd */
	uint8_t can;
};

#define NURSERY_STANDING_INIT                                                                      \
	{                                                                                          \
		.socket = -1, .process = -1                                                        \
	}

static int nursery_spawn(pid_t *out_pid, const struct nursery_ends *ends, struct fh_error *err)
{
	static const char *const argv[] = { "bash", "--norc", "--noprofile", "-c", COMMAND, NULL };
	static const char *const env[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		/* Set LC_CTYPE, not LANG: with LANG, bash maps twelve more locale files. Each shell
		 * is a clone of this bash, and would have these mappings too. */
		"LC_CTYPE=C.UTF-8", NULL
	};
	const int fds[] = { -1, -1,
		ends->complaints, [NURSERY_FD] = ends->socket, [PLUGIN_FD] = ends->plugin };
	int r = spawn_program(out_pid, places_get()->bash, argv, env, fds, ARRAY_SIZE(fds));

	return r < 0 ? error_set(err, -r, "start '%s'", places_get()->bash) : 0;
}

/*
 * Handles a nursery that ended before it was ready. If bash printed a message, it could not load
 * the plugin, and the error has this message.
 */
static int nursery_explain(int complaints, struct fh_error *err)
{
	char text[400];
	ssize_t n = pread(complaints, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return err ? err->code : -EIO;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return error_say(
			err, ENOEXEC, "bash can't load '%s': %s", places_get()->guest_plugin, text);
}

static int nursery_send_hello(const struct native_owner *o, int socket, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	const int *home = NULL;
	size_t n_home = o->cgroups ? cgroups_home(o->cgroups, &home) : 0;
	int fds[2 + CGROUP_PARTS] = { o->self, o->roll_fd };
	int r;

	hello_put(&b,
			&(struct hello){ .roots = listed_paths,
					.covers = o->covers,
					.base_filter = o->base_filter.data,
					.base_filter_bytes = (uint32_t)o->base_filter.len,
					.agent_filter = o->agent_filter.data,
					.agent_filter_bytes = (uint32_t)o->agent_filter.len,
					.judged_filter = o->judged_filter.data,
					.judged_filter_bytes = (uint32_t)o->judged_filter.len,
					.tool = places_get()->aci,
					.tool_names = tool_names });
	for (size_t i = 0; i < n_home; i++)
		fds[2 + i] = home[i];
	r = nursery_send(socket, &b, fds, 2 + n_home);
	return r < 0 ? error_set(err, -r, "send to the nursery") : 0;
}

static int nursery_greet(const struct native_owner *o, struct nursery_standing *s, pid_t pid,
		struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(8);
	int r = nursery_send_hello(o, s->socket, err);

	if (r < 0)
		return r;
	r = nursery_await(s->socket, NURSERY_UNSHARED, NURSERY_ANSWER_MS, NULL, err);
	if (r < 0)
		return r;
	r = idmap_apply(pid, err);
	if (r < 0)
		return r;
	wire_put_u8(&b, NURSERY_MAPPED);
	r = nursery_send(s->socket, &b, NULL, 0);
	if (r < 0)
		return error_set(err, -r, "send to the nursery");
	return nursery_await(s->socket, NURSERY_STANDS, NURSERY_ANSWER_MS, &s->can, err);
}

/*
 * Moves a descriptor to a number above PLUGIN_FD, because the nursery's own descriptors get the
 * lower numbers. Closes `fd`, and returns the new descriptor or -1.
 */
static int nursery_move_fd(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, PLUGIN_FD + 1);

	close(fd);
	return copy;
}

static int nursery_load_plugin(int *out_fd, struct fh_error *err)
{
	const char *path = places_get()->guest_plugin;
	auto_close int file = open(path, O_RDONLY | O_CLOEXEC);
	auto_close int fd = nursery_move_fd(memfd_create("bash", MFD_CLOEXEC));
	ssize_t n;

	if (file < 0)
		return error_set(err, errno, "open '%s'", path);
	if (fd < 0)
		return error_set(err, errno, "make a memory file");
	while ((n = sendfile(fd, file, NULL, 1 << 24)) > 0)
		;
	if (n < 0)
		return error_set(err, errno, "read '%s'", path);
	*out_fd = take_fd(&fd);
	return 0;
}

static bool nursery_await_end(int process)
{
	return child_await(process, NURSERY_END_MS) && child_reap(process, NULL) != CHILD_RUNS;
}

/*
 * Takes the nursery out of the owner's fields, so that no other thread finds it. Drops the control
 * groups made ahead.
 */
static struct nursery_standing nursery_take_standing(struct native_owner *o)
{
	struct nursery_standing s;

	pthread_mutex_lock(&o->lock);
	spares_drop(o);
	s = (struct nursery_standing){
		.socket = take_fd(&o->nursery),
		.process = take_fd(&o->nursery_process),
	};
	pthread_mutex_unlock(&o->lock);
	return s;
}

/*
 * Ends a nursery that does not answer or could not be set up. It ends by itself after its
 * sandboxes; if that takes NURSERY_END_MS, this function kills it.
 */
static void nursery_end(struct nursery_standing *s)
{
	close_fd(&s->socket);
	if (!nursery_await_end(s->process)) {
		child_kill(s->process);
		nursery_await_end(s->process);
	}
	close_fd(&s->process);
}

void nursery_leave(struct native_owner *o)
{
	struct nursery_standing s = nursery_take_standing(o);

	close_fd(&s.socket);
	nursery_await_end(s.process);
	close_fd(&s.process);
}

/*
 * Moves a new nursery into the control groups that the last one used. If the new nursery can't use
 * them, opens a new pool of groups.
 */
static void nursery_open_groups(struct native_owner *o, pid_t pid)
{
	auto_free char *why = NULL;
	struct cgroups *last = o->cgroups;
	struct cgroups *groups;

	if (last && cgroups_adopt(last, pid, NULL) == 0)
		return;
	groups = cgroups_open(o->label, pid, &why);
	pthread_mutex_lock(&o->lock);
	o->cgroups = groups;
	pthread_mutex_unlock(&o->lock);
	cgroups_close(last);
	if (groups || o->no_cgroups)
		return;
	o->no_cgroups = xasprintf("memory is limited for each process, not for the episode, "
				  "and cpu time is not limited: no control groups (%s)",
			why);
}

static int nursery_bring_up(struct native_owner *o, struct nursery_ends *ends,
		struct nursery_standing *s, struct fh_error *err)
{
	int pair[2];
	pid_t pid;
	int r = nursery_load_plugin(&ends->plugin, err);

	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "make the nursery's socket");
	s->socket = pair[0];
	ends->socket = nursery_move_fd(pair[1]);
	ends->complaints = nursery_move_fd(memfd_create("complaints", MFD_CLOEXEC));
	if (ends->socket < 0 || ends->complaints < 0)
		return error_set(err, errno, "make the nursery's descriptors");
	r = nursery_spawn(&pid, ends, err);
	/*
	 * Close the owner's copy of the nursery's end of the socket. If bash can't load the plugin,
	 * the owner then sees the socket close.
	 */
	close_fd(&ends->socket);
	if (r < 0)
		return r;
	s->process = child_open(pid);
	nursery_open_groups(o, pid);
	r = nursery_greet(o, s, pid, err);
	if (r == -EPIPE)
		r = nursery_explain(ends->complaints, err);
	if (r < 0)
		return error_see_doctor(err);
	for (const struct owner_layer *l = o->layers; l; l = l->next) {
		r = nursery_make_layer(s->socket, l, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Starts a nursery, the process that makes sandboxes. Stores it in the owner once it has made all
 * layers. From then on other threads use it.
 */
static int nursery_start(struct native_owner *o, struct fh_error *err)
{
	struct nursery_standing s = nursery_take_standing(o);
	struct nursery_ends ends = { -1, -1, -1 };
	int r;

	nursery_end(&s);
	s = (struct nursery_standing)NURSERY_STANDING_INIT;
	r = nursery_bring_up(o, &ends, &s, err);
	close_fd(&ends.socket);
	close_fd(&ends.plugin);
	close_fd(&ends.complaints);
	if (r < 0) {
		nursery_end(&s);
		return error_wrap(err, "start the nursery of sandboxes");
	}
	pthread_mutex_lock(&o->lock);
	o->nursery = s.socket;
	o->nursery_process = s.process;
	o->can = s.can;
	o->had_nursery = true;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

void nursery_await_retired(struct native_owner *o)
{
	while (o->n_retired) {
		int *process = &o->retired[--o->n_retired];

		nursery_await_end(*process);
		close_fd(process);
	}
}

void nursery_retire(struct native_owner *o)
{
	struct nursery_standing s;

	if (o->nursery < 0)
		return;
	nursery_do_all(o->nursery);
	s = nursery_take_standing(o);
	close_fd(&s.socket);
	/* The array `retired` has room: a nursery is replaced once for each hidden folder at
	 * most. */
	o->retired[o->n_retired++] = s.process;
}

/* --- checking whether the nursery runs, and starting it if not -------------------------------- */

/*
 * Returns true if the nursery is alive. When a nursery is killed, a sandbox that it was cloning
 * keeps the socket open for a moment. A plan that is sent meanwhile would be lost. So check the
 * process too. If the start of a sandbox or layer failed, also wait for an answer of the nursery.
 */
static bool nursery_runs(struct native_owner *o)
{
	if (o->nursery < 0 || child_has_ended(o->nursery_process))
		return false;
	return !atomic_exchange(&o->in_doubt, false) || nursery_answers(o->nursery);
}

int nursery_need(struct native_owner *o, struct fh_error *err)
{
	if (o->forked)
		return error_say_kind(err, FH_ERROR_STATE, EPERM,
				"a forked process can't use its parent's gym: open one after the "
				"fork");
	return nursery_runs(o) ? 0 : nursery_start(o, err);
}

int nursery_ensure(struct native_owner *o, struct fh_error *err)
{
	int r;

	pthread_mutex_lock(&o->changing);
	r = nursery_need(o, err);
	pthread_mutex_unlock(&o->changing);
	return r;
}

bool nursery_is_ready(const struct native_owner *o)
{
	return o->nursery >= 0 && !child_has_ended(o->nursery_process) &&
			!atomic_load(&o->in_doubt) && nursery_poll(o->nursery, POLLOUT, 0);
}
