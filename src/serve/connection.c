/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connection.h"

static const char *connection_header(
		struct connection *c, enum lws_token_indexes token, char *text, size_t n)
{
	int copied = lws_api.hdr_copy(c->wsi, text, (int)n, token);

	if (copied < 0) {
		/* The header is too long to be valid. Give a text that no check accepts. */
		text[0] = '?';
		text[1] = '\0';
	}
	return copied ? text : NULL;
}

enum guard_verdict connection_guard(struct connection *c, struct guard_texts *t, bool with_token)
{
	const struct guard *g = &c->net->guard;
	struct guard_request q = {
		.host = connection_header(c, WSI_TOKEN_HOST, t->host, sizeof(t->host)),
		.origin = connection_header(c, WSI_TOKEN_ORIGIN, t->origin, sizeof(t->origin)),
		.authorization = connection_header(c, WSI_TOKEN_HTTP_AUTHORIZATION,
				t->authorization, sizeof(t->authorization)),
	};

	return with_token ? guard_check(g, &q) : guard_check_place(g, &q);
}

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
	lws_api.set_timeout(oldest->wsi, PENDING_TIMEOUT_ESTABLISH_WITH_SERVER, LWS_TO_KILL_ASYNC);
}

void connection_prove(struct connection *c)
{
	if (!c->unproven)
		return;
	c->unproven = false;
	TAILQ_REMOVE(&c->net->unproven, c, link);
	c->net->n_unproven--;
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
