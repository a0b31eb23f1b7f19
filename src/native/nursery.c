/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/refusal.h"
#include "base/scope.h"
#include "proto/guest.h"
#include "native/idmap.h"
#include "native/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The owner's side of the nursery: a bash that loads our plugin. It is spawned with a fixed environment,
 * and loads the plugin from memory, so that nothing of the owner's (a key, a proxy, a path) is in the
 * memory that all sandboxes are cloned from.
 *
 * To start, ask or end one takes a while. Whoever does so holds the owner's `changing`, which a loop over many
 * episodes never waits for, and takes `lock` only to show what it has done.
 */
#define BASH "/bin/bash"
#define NURSERY_FD 3
#define PLUGIN_FD 4
#define COMMAND "enable -f /proc/self/fd/4 fumehood && fumehood 3"
#define END_MS 2000 /* of its end: it waits for its sandboxes' */

/* Of the agent's commands: tools/aci/main.c. */
static const char *const tool_names[] = { "validate", "submit", "open", "goto", "scroll_down",
	"scroll_up", "create", "edit", "insert", "search_dir", "search_file", "find_file",
	"memory_write", "memory_read", "describe", "plot", "literature_search", "parse_pdf_url",
	NULL };

/* --- starting -------------------------------------------------------------------------------- */

struct nursery_ends {
	int socket, plugin, complaints;
};

/* One that is not the owner's yet, or no more. */
struct standing {
	int socket;
	pid_t pid;
	uint8_t can;
};

static int nursery_set_actions(posix_spawn_file_actions_t *actions, const struct nursery_ends *ends)
{
	int r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);

	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, 0, 1);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, ends->complaints, 2);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, ends->socket, NURSERY_FD);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, ends->plugin, PLUGIN_FD);
	if (r == 0)
		r = posix_spawn_file_actions_addchdir_np(actions, "/"); /* bash remembers it */
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions, PLUGIN_FD + 1);
	return r;
}

static int nursery_set_attributes(posix_spawnattr_t *attr)
{
	sigset_t all, none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawnattr_setsigdefault(attr, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(attr,
				POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSID);
	return r;
}

static int nursery_spawn(pid_t *out_pid, const struct nursery_ends *ends, struct fh_error *err)
{
	const char *const argv[] = { "bash", "--norc", "--noprofile", "-c", COMMAND, NULL };
	const char *const env[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_CTYPE=C.UTF-8", /* LANG would map twelve files more into every sandbox */
		NULL
	};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	r = nursery_set_actions(&actions, ends);
	if (r == 0)
		r = nursery_set_attributes(&attr);
	if (r == 0)
		r = posix_spawn(out_pid, BASH, &actions, &attr, (char *const *)(uintptr_t)argv,
				(char *const *)(uintptr_t)env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return r ? error_set(err, r, "start '%s'", BASH) : 0;
}

/* What bash said when it could not load the plugin. */
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

static int nursery_greet(const struct native_owner *o, struct standing *s, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	const int *home = NULL;
	size_t n_home = o->cgroups ? cgroups_home(o->cgroups, &home) : 0;
	int fds[2 + CGROUP_PARTS];
	size_t n_fds = 0;
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
	fds[n_fds++] = o->self;
	fds[n_fds++] = o->roll_fd;
	for (size_t i = 0; i < n_home; i++)
		fds[n_fds++] = home[i];
	r = nursery_send(s->socket, &b, fds, n_fds);
	if (r < 0)
		return error_set(err, -r, "send to the nursery");
	r = nursery_await(s->socket, NURSERY_UNSHARED, NURSERY_ANSWER_MS, NULL, err);
	if (r == 0)
		r = idmap_apply(s->pid, err);
	if (r < 0)
		return r;
	buf_clear(&b);
	wire_put_u8(&b, NURSERY_MAPPED);
	r = nursery_send(s->socket, &b, NULL, 0);
	if (r < 0)
		return error_set(err, -r, "send to the nursery");
	return nursery_await(s->socket, NURSERY_STANDS, NURSERY_ANSWER_MS, &s->can, err);
}

static int nursery_make_layers(const struct native_owner *o, int nursery, struct fh_error *err)
{
	for (const struct owner_layer *l = o->layers; l; l = l->next) {
		int r = nursery_make_layer(nursery, l, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Copied out of the way of their places, 0 to PLUGIN_FD. */
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

static bool nursery_await_end(pid_t pid, int timeout_ms)
{
	auto_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	while ((r = poll(&p, 1, fd < 0 ? 0 : timeout_ms)) < 0 && errno == EINTR)
		;
	return r > 0 && waitpid(pid, NULL, WNOHANG) == pid;
}

/* It ends once its sandboxes have. One that does not is killed; one that can't be is not waited for. */
static void nursery_reap_process(pid_t pid)
{
	if (nursery_await_end(pid, END_MS))
		return;
	kill(pid, SIGKILL);
	nursery_await_end(pid, END_MS);
}

/* Its sandboxes live on. */
static void nursery_end(struct standing *s)
{
	close_fd(&s->socket);
	if (s->pid > 0)
		nursery_reap_process(s->pid);
}

/* Nobody else finds it any more. */
static struct standing nursery_take_standing(struct native_owner *o)
{
	struct standing s;

	pthread_mutex_lock(&o->lock);
	spares_drop(o);
	s = (struct standing){ .socket = take_fd(&o->nursery), .pid = o->nursery_pid };
	o->nursery_pid = 0;
	pthread_mutex_unlock(&o->lock);
	return s;
}

void nursery_stop(struct native_owner *o)
{
	struct standing s = nursery_take_standing(o);

	nursery_end(&s);
}

/* Those of the last nursery, or new ones where a new process can't get at them. */
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

static int nursery_bring_up(struct native_owner *o, struct nursery_ends *ends, struct standing *s,
		struct fh_error *err)
{
	int r = nursery_spawn(&s->pid, ends, err);

	close_fd(&ends->socket); /* else the end of a bash that could not load it is not seen */
	if (r < 0)
		return r;
	nursery_open_groups(o, s->pid);
	r = nursery_greet(o, s, err);
	if (r == -EPIPE)
		r = nursery_explain(ends->complaints, err);
	return r < 0 ? error_see_doctor(err) : nursery_make_layers(o, s->socket, err);
}

static int nursery_start_with_ends(struct native_owner *o, struct standing *s, struct fh_error *err)
{
	struct nursery_ends ends = { -1, -1, -1 };
	int pair[2];
	int r = nursery_load_plugin(&ends.plugin, err);

	if (r < 0)
		return r;
	ends.complaints = nursery_move_fd(memfd_create("complaints", MFD_CLOEXEC));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = error_set(err, errno, "make the nursery's socket");
	} else {
		s->socket = pair[0];
		ends.socket = nursery_move_fd(pair[1]);
	}
	if (r == 0 && (ends.socket < 0 || ends.complaints < 0))
		r = error_set(err, errno, "make the nursery's descriptors");
	if (r == 0)
		r = nursery_bring_up(o, &ends, s, err);
	close_fd(&ends.socket);
	close_fd(&ends.plugin);
	close_fd(&ends.complaints);
	return r;
}

/* Nobody sees it before it stands with all its layers. */
static int nursery_start(struct native_owner *o, struct fh_error *err)
{
	struct standing s = { .socket = -1 };
	int r;

	nursery_stop(o);
	r = nursery_start_with_ends(o, &s, err);
	if (r < 0) {
		nursery_end(&s);
		return error_wrap(err, "start the nursery of sandboxes");
	}
	pthread_mutex_lock(&o->lock);
	o->nursery = s.socket;
	o->nursery_pid = s.pid;
	o->can = s.can;
	o->had_nursery = true;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

void nursery_await_retired(struct native_owner *o)
{
	while (o->n_retired)
		nursery_reap_process(o->retired[--o->n_retired]);
}

void nursery_retire(struct native_owner *o)
{
	struct standing s;

	if (o->nursery < 0)
		return;
	nursery_do_all(o->nursery);
	s = nursery_take_standing(o);
	close_fd(&s.socket);
	o->retired[o->n_retired++] = s.pid; /* one for each cover at most */
}

/* --- whether it runs ------------------------------------------------------------------------- */

/* Whether the process has ended; not whether it is about to. */
static bool nursery_has_ended(const struct native_owner *o)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)o->nursery_pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			info.si_pid != 0;
}

/*
 * One that was killed has closed its socket, or will; its sandboxes live on. But what it had cloned just
 * then has a copy for a moment more, which would take a plan to nobody: so the process is looked at, too,
 * and asked if there is a reason.
 */
static bool nursery_runs(struct native_owner *o)
{
	if (o->nursery < 0 || nursery_has_ended(o))
		return false;
	return !atomic_exchange(&o->in_doubt, false) || nursery_answers(o->nursery);
}

int nursery_need(struct native_owner *o, struct fh_error *err)
{
	if (o->forked)
		return error_say(err, EPERM, "a fork can't use what its parent has opened");
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
	return o->nursery >= 0 && !nursery_has_ended(o) && !atomic_load(&o->in_doubt) &&
			nursery_has_room(o->nursery, 0);
}
