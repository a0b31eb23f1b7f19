/* SPDX-License-Identifier: Apache-2.0 */
#include "model/chat_service.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define TROUBLE_TOLD_NS (60 * NS_PER_S)

int chat_check_limit(double limit, struct fh_error *err)
{
	if (limit >= 0)
		return 0;
	return error_say(err, EINVAL, "a limit on costs is 0 (none) or more, not %g", limit);
}

static int chat_service_open_fds(struct chat_service *s, struct fh_error *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	int r = http_open(&s->http, err);

	if (r < 0)
		return r;
	s->written_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->written_fd < 0 || s->epoll_fd < 0 ||
			epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->written_fd, &event) < 0 ||
			epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, http_fd(s->http), &event) < 0)
		return error_set(err, errno, "set up an epoll for language models");
	return 0;
}

static int chat_service_set_up(struct chat_service *s, const struct chat_service_options *options,
		struct fh_error *err)
{
	int r = chat_service_open_fds(s, err);

	if (r < 0)
		return r;
	if (!options)
		return prices_open(NULL, &s->prices, err);
	s->cost_limit = options->total_cost_limit;
	s->cost = options->spent;
	s->on_retry = options->on_retry;
	r = chat_check_limit(s->cost_limit, err);
	if (r < 0)
		return r;
	return prices_open(options->prices, &s->prices, err);
}

int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err)
{
	struct chat_service *s = xcalloc(1, sizeof(*s));
	int r;

	SLIST_INIT(&s->troubles);
	s->epoll_fd = s->written_fd = -1;
	TAILQ_INIT(&s->writing);
	TAILQ_INIT(&s->paused);
	TAILQ_INIT(&s->done);
	r = chat_service_set_up(s, options, err);
	if (r < 0) {
		chat_service_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void chat_service_close(struct chat_service *s)
{
	struct chat_trouble *trouble;

	if (!s)
		return;
	while ((trouble = SLIST_FIRST(&s->troubles))) {
		SLIST_REMOVE_HEAD(&s->troubles, link);
		free(trouble->spec);
		free(trouble);
	}
	prices_close(s->prices);
	close_fd(&s->epoll_fd);
	close_fd(&s->written_fd);
	http_close(s->http);
	free(s);
}

int chat_service_fd(const struct chat_service *s)
{
	return s->epoll_fd;
}

bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long)
{
	struct chat_trouble *t = SLIST_FIRST(&s->troubles);
	int64_t now = clock_now_ns();

	while (t && !str_eq(t->spec, spec))
		t = SLIST_NEXT(t, link);
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->spec = xstrdup(spec);
		t->told_ns[false] = t->told_ns[true] = INT64_MIN;
		SLIST_INSERT_HEAD(&s->troubles, t, link);
	}
	if (t->told_ns[is_long] > now - TROUBLE_TOLD_NS)
		return false;
	t->told_ns[is_long] = now;
	return true;
}

bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err)
{
	if (s->cost_limit <= 0 || s->cost < s->cost_limit)
		return false;
	error_say(err, ECANCELED, "all models have cost $%.4f, and their limit is $%.4f", s->cost,
			s->cost_limit);
	return true;
}
