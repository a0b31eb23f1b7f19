/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/net.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "serve/http.h"
#include "serve/mcp.h"
#include "serve/openenv.h"
#include "serve/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#define VHOST "fumehood"
/* Descriptors that a session needs at most: of its sandbox, its record and its connection. */
#define SESSION_FDS 12
#define OTHER_FDS 256
#define NET_UNPROVEN_MORE 256

/* --- connections ------------------------------------------------------------------------------ */

static struct net *net_of(struct lws *wsi)
{
	return lws_api.context_user(lws_api.get_context(wsi));
}

static struct connection *net_connection_of(struct lws *wsi)
{
	return lws_api.get_opaque_user_data(wsi);
}

static void net_connection_new(struct lws *wsi)
{
	struct connection *c = xcalloc(1, sizeof(*c));

	c->net = net_of(wsi);
	c->wsi = wsi;
	c->next = c->net->connections;
	if (c->next)
		c->next->before = c;
	c->net->connections = c;
	c->net->n_connections++;
	lws_api.set_opaque_user_data(wsi, c);
	http_prepare(c);
	connection_begin(c);
}

static void net_connection_free(struct lws *wsi)
{
	struct connection *c = net_connection_of(wsi);

	if (!c)
		return;
	lws_api.set_opaque_user_data(wsi, NULL);
	if (c->before)
		c->before->next = c->next;
	else
		c->net->connections = c->next;
	if (c->next)
		c->next->before = c->before;
	c->net->n_connections--;
	connection_prove(c);
	socket_release(c);
	if (c->has_client)
		client_release(&c->client);
	request_reader_release(&c->request);
	buf_release(&c->in);
	free(c);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void net_drain(struct net *net)
{
	double drain_s = net->host->options->drain_s;

	net->seats.draining = true;
	net->drain_end_ns = clock_now_ns() + (int64_t)(drain_s * (double)NS_PER_S);
	for (struct connection *c = net->connections; c; c = c->next)
		if (c->door != DOOR_HTTP && !c->ended)
			socket_drain(c);
}

/* Refuses a request of HTTP that has no answer yet. Sends that now, because the loop has ended. */
static void net_refuse(struct connection *c)
{
	if (!c->has_client || !c->client.busy)
		return;
	c->closes = true;
	if (c->client.form == CLIENT_RPC)
		mcp_refuse(&c->client, 503, "the server is shutting down");
	else
		openenv_refuse_full(&c->client);
	http_writable(c);
}

/* True if an answer is still to come or to be sent. */
static bool net_is_busy(const struct net *net)
{
	for (const struct connection *c = net->connections; c; c = c->next)
		if (c->has_client && (c->client.busy || c->sending || c->door != DOOR_HTTP))
			return true;
	return seats_busy(&net->seats);
}

/* --- events ----------------------------------------------------------------------------------- */

#define TICK_US 1000000
#define DRAIN_TICK_US 20000

static void net_tick(lws_sorted_usec_list_t *tick)
{
	struct net *net = lws_container_of(tick, struct net, tick);
	bool draining = net->drain_end_ns != INT64_MAX;
	int64_t now_ns = clock_now_ns();

	seats_tick(&net->seats);
	for (struct connection *c = net->connections, *next; c; c = next) {
		next = c->next;
		if (c->door == DOOR_HTTP)
			http_tick(c, now_ns);
		else if (!draining)
			socket_tick(c, now_ns);
	}
	if (draining && (now_ns >= net->drain_end_ns || !net_is_busy(net)))
		net->over = true;
	lws_api.sul_schedule(
			net->context, 0, &net->tick, net_tick, draining ? DRAIN_TICK_US : TICK_US);
}

static int net_ready(struct net *net, struct lws *wsi)
{
	if (wsi == net->stop) {
		net_drain(net);
		lws_api.sul_schedule(net->context, 0, &net->tick, net_tick, 1);
		return -1; /* it stays readable: wait for it no more */
	}
	if (seats_advance(&net->seats, &net->error) < 0)
		net->over = true;
	return 0;
}

static int net_received(struct connection *c, const char *data, size_t n)
{
	if (c->ended)
		return 0;
	return c->door == DOOR_HTTP ? http_received(c, data, n) : socket_received(c, data, n);
}

/* Goes on sending. libwebsockets calls this when all before has left. */
static int net_writable(struct connection *c)
{
	if (c->ended) {
		connection_linger(c);
		return 0;
	}
	return c->door == DOOR_HTTP ? http_writable(c) : socket_writable(c);
}

static int net_callback(
		struct lws *wsi, enum lws_callback_reasons reason, void *unused, void *in, size_t n)
{
	switch (reason) {
	case LWS_CALLBACK_RAW_RX_FILE:
		return net_ready(net_of(wsi), wsi);
	case LWS_CALLBACK_RAW_ADOPT:
		net_connection_new(wsi);
		return 0;
	case LWS_CALLBACK_RAW_RX:
		return net_received(net_connection_of(wsi), in, n);
	case LWS_CALLBACK_RAW_WRITEABLE:
		return net_writable(net_connection_of(wsi));
	case LWS_CALLBACK_WSI_DESTROY:
		net_connection_free(wsi);
		return 0;
	default:
		return 0;
	}
}

/* --- opening ---------------------------------------------------------------------------------- */

static void net_log(int level, const char *line)
{
	log_line(NULL, LOG_DEBUG, "libwebsockets", &(struct log_field){ "line", line }, 1);
}

/* Raises the limit of descriptors to what the sessions need, as far as that is allowed. */
static void net_raise_fds(const struct net *net)
{
	rlim_t wanted = (rlim_t)net->host->options->max_sessions * SESSION_FDS +
			(rlim_t)net->max_unproven + OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int net_open_context(struct net *net, const struct net_options *o, struct fh_error *err)
{
	static const struct lws_protocols protocols[] = {
		{ .name = VHOST, .callback = net_callback },
		{ 0 },
	};
	struct lws_context_creation_info info = {
		.port = o->port,
		.iface = o->address,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG |
				lws_listen_options(o->address),
		.listen_accept_role = "raw-skt",
		.listen_accept_protocol = VHOST,
		.vhost_name = VHOST,
		.user = net,
		.pt_serv_buf_size = CONNECTION_CHUNK_BYTES,
		.ka_time = 60,
		.ka_probes = 3,
		.ka_interval = 10,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
	};

	lws_api.set_log_level(LLL_ERR | LLL_WARN, net_log);
	net->context = lws_api.create_context(&info);
	return net->context ? 0
			    : error_say(err, EADDRINUSE, "can't listen on %s port %d", o->address,
					      o->port);
}

/* Has the loop wait for a copy of a descriptor. */
static int net_watch(struct net *net, int fd, struct lws **out, struct fh_error *err)
{
	struct lws_vhost *vhost = lws_api.get_vhost_by_name(net->context, VHOST);
	lws_sock_file_fd_type copy = { .filefd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };

	if (copy.filefd < 0)
		return error_set(err, errno, "copy a descriptor");
	*out = lws_api.adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, copy, VHOST, NULL);
	return *out ? 0 : error_say(err, ENOMEM, "watch a descriptor");
}

static int net_open(struct net *net, const struct net_options *o, struct fh_error *err)
{
	struct host *h = net->host;
	struct lws *unused;
	int r = lws_load(err);

	if (r < 0)
		return r;
	net_raise_fds(net);
	r = net_open_context(net, o, err);
	if (r < 0)
		return r;
	r = net_watch(net, fh_gym_fd(h->gym), &unused, err);
	if (r < 0)
		return r;
	r = net_watch(net, h->openings.fd, &unused, err);
	if (r < 0)
		return r;
	r = net_watch(net, h->options->stop_fd, &net->stop, err);
	if (r < 0)
		return r;
	lws_api.sul_schedule(net->context, 0, &net->tick, net_tick, TICK_US);
	return 0;
}

static int net_run(struct net *net, const struct net_options *o, struct fh_error *err)
{
	int r = net_open(net, o, err);

	if (r < 0)
		return r;
	o->listening(o->user,
			lws_api.get_vhost_listen_port(
					lws_api.get_vhost_by_name(net->context, VHOST)));
	while (!net->over && lws_api.service(net->context, 0) >= 0)
		;
	net->seats.draining = true;
	for (struct connection *c = net->connections; c; c = c->next) {
		if (c->door == DOOR_HTTP)
			net_refuse(c);
		else
			socket_end(c);
	}
	if (net->error.code < 0 && err)
		*err = net->error;
	return net->error.code;
}

int net_serve(struct host *host, const struct net_options *o, struct fh_error *err)
{
	struct net net = {
		.host = host,
		.seats = SEATS_INIT(net.seats, host),
		.guard = o->guard,
		.drain_end_ns = INT64_MAX,
		/* Clients of all sessions may connect at the same moment. */
		.max_unproven = host->options->max_sessions + NET_UNPROVEN_MORE,
		.unproven = TAILQ_HEAD_INITIALIZER(net.unproven),
	};
	int r = net_run(&net, o, err);

	if (net.context)
		lws_api.context_destroy(net.context);
	seats_end(&net.seats);
	return r;
}
