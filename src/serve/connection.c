/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connection.h"

#include <string.h>
#include <sys/socket.h>

#define LINGER_TIMEOUT_S 2

void connection_begin(struct connection *c)
{
	struct net *net = c->net;
	struct connection *oldest;

	c->unproven = true;
	TAILQ_INSERT_TAIL(&net->unproven, c, link);
	if (++net->n_unproven <= net->max_unproven)
		return;
	oldest = TAILQ_FIRST(&net->unproven);
	connection_prove(oldest);
	net->host->metrics.connections_dropped++;
	connection_set_timeout(oldest, LWS_TO_KILL_ASYNC);
}

void connection_prove(struct connection *c)
{
	if (!c->unproven)
		return;
	c->unproven = false;
	TAILQ_REMOVE(&c->net->unproven, c, link);
	c->net->n_unproven--;
}

void connection_set_timeout(struct connection *c, int seconds)
{
	lws_api.set_timeout(c->wsi, seconds ? PENDING_TIMEOUT_HTTP_CONTENT : NO_PENDING_TIMEOUT,
			seconds);
}

void connection_stop(struct connection *c)
{
	c->stopped = true;
	lws_api.rx_flow_control(c->wsi, 0);
}

void connection_go_on(struct connection *c)
{
	if (!c->stopped)
		return;
	c->stopped = false;
	lws_api.rx_flow_control(c->wsi, 1);
}

int connection_send(
		struct connection *c, const char *head, size_t n_head, const char *data, size_t n)
{
	static unsigned char bytes[LWS_PRE + CONNECTION_HEAD_MAX + CONNECTION_CHUNK_BYTES];

	memcpy(bytes + LWS_PRE, head, n_head);
	if (n)
		memcpy(bytes + LWS_PRE + n_head, data, n);
	return lws_api.write(c->wsi, bytes + LWS_PRE, n_head + n, LWS_WRITE_RAW) < 0 ? -1 : 0;
}

void connection_end(struct connection *c)
{
	if (c->has_client)
		client_release(&c->client);
	c->has_client = c->sending = false;
	c->ended = true;
	connection_set_timeout(c, CONNECTION_SEND_TIMEOUT_S);
	lws_api.callback_on_writable(c->wsi);
}

void connection_linger(struct connection *c)
{
	shutdown(lws_api.get_socket_fd(c->wsi), SHUT_WR);
	connection_go_on(c);
	connection_set_timeout(c, LINGER_TIMEOUT_S);
}
