/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP client is written over curl_multi. No packaged HTTP library above libcurl offers
 * streams, many calls and a descriptor to poll. libcurl names its sockets and its timeout; epoll
 * and a timer wait for them.
 */
#include "web/http.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "web/http_names.h"

#include "fumehood-build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define EVENTS_MAX 64
#define CONNECT_MS_MAX 30000

TAILQ_HEAD(http_calls, http_call);

struct http {
	CURLM *multi;
	int epoll_fd, timer_fd;
	/*
	 * clock_now_ns() at which libcurl wants to be called, and the time given to http_wake_at()
	 */
	int64_t curl_ns, wake_ns;
	int64_t armed_ns;            /* clock_now_ns() at which the timer expires */
	struct http_calls unwatched; /* calls whose sockets could not be added to the epoll */
	struct http_names names;
};

struct http_call {
	struct http *http;
	CURL *easy;
	struct http_request request;
	char sentence[CURL_ERROR_SIZE];
	bool is_unwatched;
	TAILQ_ENTRY(http_call) link; /* link in the list http.unwatched */
	struct http_name name;
};

/* --- waiting ---------------------------------------------------------------------------------- */

static void http_arm(struct http *h)
{
	const struct http_name *asking = TAILQ_FIRST(&h->names.asking);
	int64_t first = h->curl_ns < h->wake_ns ? h->curl_ns : h->wake_ns;
	struct itimerspec t = { 0 };

	if (asking && asking->deadline_ns < first)
		first = asking->deadline_ns;
	if (first == h->armed_ns)
		return;
	h->armed_ns = first;
	if (first < 1)
		first = 1;
	if (first != INT64_MAX)
		t.it_value = (struct timespec){ first / NS_PER_S, first % NS_PER_S };
	timerfd_settime(h->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static int http_on_timer(CURLM *multi, long timeout_ms, void *user)
{
	struct http *h = user;

	h->curl_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;
	http_arm(h);
	return 0;
}

/* Callback of libcurl: adds a socket to the epoll, changes its events or removes it. `known` is not
 * NULL if the epoll has the socket already. */
static int http_on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
	struct http *h = user;
	struct epoll_event event = { .data.fd = fd };
	struct http_call *call = NULL;
	int error;

	if (what == CURL_POLL_REMOVE) {
		/* Ignore a failure: libcurl closes the socket, which ends the watch too. */
		epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	if (what != CURL_POLL_OUT)
		event.events |= EPOLLIN;
	if (what != CURL_POLL_IN)
		event.events |= EPOLLOUT;
	libcurl.multi_assign(h->multi, fd, h);
	if (epoll_ctl(h->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	error = errno;
	libcurl.easy_getinfo(easy, CURLINFO_PRIVATE, &call);
	if (!call || call->is_unwatched) /* a socket that libcurl is closing has no call */
		return 0;
	/*
	 * Let http_advance() end the call, which would get no events: libcurl, which runs now,
	 * can't end it. An error returned to libcurl would end all other calls too.
	 */
	call->is_unwatched = true;
	snprintf(call->sentence, sizeof(call->sentence), "its socket can't be waited for: %s",
			strerror(error));
	TAILQ_INSERT_TAIL(&h->unwatched, call, link);
	return 0;
}

int http_fd(const struct http *h)
{
	return h->epoll_fd;
}

void http_wake_at(struct http *h, int64_t when_ns)
{
	h->wake_ns = when_ns;
	http_arm(h);
}

bool http_is_asking(const struct http *h)
{
	return !TAILQ_EMPTY(&h->names.left);
}

/* --- opening and closing an HTTP client ------------------------------------------------------- */

static void scope_http(struct http **h)
{
	http_close(*h);
}

int http_open(struct http **out, struct fh_error *err)
{
	__attribute__((cleanup(scope_http))) struct http *h = NULL;
	struct epoll_event event = { .events = EPOLLIN };
	int r = libcurl_load(err);

	if (r < 0)
		return r;
	h = xcalloc(1, sizeof(*h));
	TAILQ_INIT(&h->unwatched);
	TAILQ_INIT(&h->names.asking);
	TAILQ_INIT(&h->names.left);
	h->curl_ns = h->wake_ns = h->armed_ns = INT64_MAX;
	h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	h->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	event.data.fd = h->timer_fd;
	if (h->epoll_fd < 0 || h->timer_fd < 0 ||
			epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, h->timer_fd, &event) < 0)
		return error_set(err, errno, "set up an epoll for requests");
	h->multi = libcurl.multi_init();
	if (!h->multi)
		return error_set(err, ENOMEM, "set up libcurl");
	libcurl.multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, http_on_socket);
	libcurl.multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	libcurl.multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, http_on_timer);
	libcurl.multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	*out = take_ptr(h);
	return 0;
}

static void http_call_free(struct http_call *call)
{
	auto_quiet struct libcurl_quiet q = libcurl_quiet_begin();

	if (call->is_unwatched)
		TAILQ_REMOVE(&call->http->unwatched, call, link);
	http_name_forget(&call->name);
	if (call->easy)
		libcurl.multi_remove_handle(call->http->multi, call->easy);
	libcurl.easy_cleanup(call->easy);
	free(call);
}

void http_close(struct http *h)
{
	auto_quiet struct libcurl_quiet q = libcurl_quiet_begin();

	if (!h)
		return;
	while (http_is_asking(h))
		http_call_free(TAILQ_FIRST(&h->names.left)->call);
	libcurl.multi_cleanup(h->multi);
	close_fd(&h->epoll_fd);
	close_fd(&h->timer_fd);
	free(h);
}

/* --- headers ---------------------------------------------------------------------------------- */

void http_headers_add(
		struct http_headers *h, const char *name, const char *prefix, const char *value)
{
	/*
	 * Allocate a header at its full size at once. Growing it would leave copies of the API key
	 * in freed memory.
	 */
	size_t n = strlen(name) + strlen(": ") + strlen(prefix) + strlen(value) + 1;
	char *line = xcalloc(1, n);
	struct curl_slist *longer;

	snprintf(line, n, "%s: %s%s", name, prefix, value);
	longer = libcurl.slist_append(h->list, line);
	if (longer)
		h->list = longer;
	libcurl_wiping_free(line);
}

void http_headers_release(struct http_headers *h)
{
	if (!h->list) /* there are no headers: libcurl may not be loaded, so don't call it */
		return;
	for (struct curl_slist *line = h->list; line; line = line->next)
		explicit_bzero(line->data, strlen(line->data));
	libcurl.slist_free_all(take_ptr(h->list));
}

/* --- calls ------------------------------------------------------------------------------------ */

static size_t http_on_data(char *data, size_t size, size_t n, void *user)
{
	struct http_call *call = user;

	return call->request.data(call->request.user, data, size * n) ? size * n : 0;
}

static void http_set_options(struct http_call *call, int64_t connect_ms)
{
	const struct http_request *request = &call->request;
	const char *certificates = getenv("SSL_CERT_FILE");
	CURL *easy = call->easy;

	libcurl.easy_setopt(easy, CURLOPT_URL, request->url);
	libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers->list);
	libcurl.easy_setopt(easy, CURLOPT_USERAGENT, "fumehood/" FUMEHOOD_VERSION);
	/* Ask for an uncompressed answer, because compression delays streams. libcurl still decodes
	 * an answer that is compressed. */
	libcurl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity");
	if (request->body) {
		libcurl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_body);
		libcurl.easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
	}
	if (request->head)
		libcurl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
	libcurl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	if (request->stall_ms) {
		libcurl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
		libcurl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
				(long)((request->stall_ms + 999) / 1000));
	}
	libcurl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
	libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* Have libcurl free a call without waiting for threads that look up names. */
	libcurl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	libcurl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_on_data);
	libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, call);
	libcurl.easy_setopt(easy, CURLOPT_ERRORBUFFER, call->sentence);
	libcurl.easy_setopt(easy, CURLOPT_PRIVATE, call);
	if (certificates && *certificates)
		libcurl.easy_setopt(easy, CURLOPT_CAINFO, certificates);
}

int http_start(struct http *h, const struct http_request *request, struct http_call **out,
		struct fh_error *err)
{
	struct http_call *call = xcalloc(1, sizeof(*call));
	int64_t connect_ms = request->timeout_ms;

	if (connect_ms > CONNECT_MS_MAX)
		connect_ms = CONNECT_MS_MAX;
	call->http = h;
	call->request = *request;
	call->easy = libcurl.easy_init();
	call->name = (struct http_name){
		.names = &h->names,
		.call = call,
		.easy = call->easy,
		/* End a name lookup before libcurl's own timeout does: after that libcurl forgets
		 * the lookup's thread. */
		.deadline_ns = clock_now_ns() + connect_ms * 9 / 10 * NS_PER_MS,
		.needs_public = request->is_public,
	};
	if (call->easy) {
		http_set_options(call, connect_ms);
		http_name_follow(&call->name);
	}
	if (!call->easy || libcurl.multi_add_handle(h->multi, call->easy) != CURLM_OK) {
		http_call_free(call);
		return error_set(err, ENOMEM, "start a request");
	}
	*out = call;
	return 0;
}

void http_cancel(struct http_call *call)
{
	if (!call->name.is_asking)
		http_call_free(call);
	else if (!call->name.is_left)
		http_name_leave(&call->name);
}

int http_status(const struct http_call *call)
{
	long status = 0;

	libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return (int)status;
}

bool http_is_event_stream(const struct http_call *call)
{
	char *type = NULL;

	libcurl.easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &type);
	return type && strncasecmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
}

const char *http_header(const struct http_call *call, const char *name)
{
	struct curl_header *header;

	return libcurl.easy_header(call->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
			? header->value
			: NULL;
}

/* --- ends ------------------------------------------------------------------------------------- */

/* Returns true if the answer does not begin as HTTP/1 does. It may be the rest of an earlier answer
 * on the same connection. Then a retry on another connection succeeds. */
static bool http_lacks_status(const struct http_call *call, CURLcode code)
{
	return code == CURLE_UNSUPPORTED_PROTOCOL &&
			str_starts(call->sentence, "Received HTTP/0.9");
}

static enum http_error http_error_of(const struct http_call *call, CURLcode code)
{
	if (http_lacks_status(call, code))
		return HTTP_BROKEN;
	switch ((int)code) {
	case CURLE_OK:
		return HTTP_ANSWERED;
	case CURLE_WRITE_ERROR:
		return HTTP_REFUSED;
	case CURLE_OPERATION_TIMEDOUT:
		return HTTP_TIMEOUT;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return HTTP_USELESS;
	}
	return HTTP_BROKEN;
}

static int64_t http_retry_after_ms(CURL *easy)
{
	struct curl_header *header;
	curl_off_t seconds = 0;
	double ms;

	if (libcurl.easy_header(easy, "retry-after-ms", 0, CURLH_HEADER, -1, &header) ==
					CURLHE_OK &&
			str_to_double(header->value, &ms) && ms >= 0)
		return ms < 1e9 ? (int64_t)ms : 1000000000;
	if (libcurl.easy_header(easy, "retry-after", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return -1;
	/* Read the header Retry-After, which has seconds or a date. libcurl gives 0 for a past
	 * date. */
	libcurl.easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
	return seconds < 1000000 ? seconds * 1000 : 1000000000;
}

/* Describes a failure, in plain words if libcurl has only its own terms. */
static const char *http_sentence_of(const struct http_call *call, CURLcode code)
{
	if (http_lacks_status(call, code))
		return "the server's answer makes no sense: it does not begin with an HTTP status";
	switch ((int)code) {
	case CURLE_WEIRD_SERVER_REPLY:
		return "the server's answer makes no sense: its headers are malformed";
	case CURLE_BAD_CONTENT_ENCODING:
		return "the server's answer makes no sense: its content can't be decompressed";
	case CURLE_PARTIAL_FILE:
		return "the connection ended too early";
	}
	return *call->sentence ? call->sentence : libcurl.easy_strerror(code);
}

static void http_end_call(struct http_call *call, CURLcode code)
{
	struct http_end end = {
		.error = http_error_of(call, code),
		.sentence = "",
		.status = http_status(call),
		.retry_after_ms = http_retry_after_ms(call->easy),
	};

	libcurl.easy_getinfo(call->easy, CURLINFO_REDIRECT_URL, &end.location);
	if (code != CURLE_OK && call->name.is_private) {
		end.error = HTTP_USELESS;
		end.sentence = "its name leads to a private address";
	} else if (code != CURLE_OK) {
		end.sentence = http_sentence_of(call, code);
	}
	if (!call->name.is_left)
		call->request.end(call->request.user, &end);
	http_cancel(call);
}

static void http_run_events(struct http *h)
{
	auto_quiet struct libcurl_quiet q = libcurl_quiet_begin();
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(h->epoll_fd, events, EVENTS_MAX, 0);
	uint64_t count;
	int running;

	for (int i = 0; i < n; i++) {
		uint32_t came = events[i].events;
		int mask = (came & EPOLLIN ? CURL_CSELECT_IN : 0) |
				(came & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
				(came & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

		if (events[i].data.fd == h->timer_fd) {
			(void)!read(h->timer_fd, &count, sizeof(count));
			h->armed_ns = -1;
		} else {
			libcurl.multi_socket_action(h->multi, events[i].data.fd, mask, &running);
		}
	}
	if (h->curl_ns <= clock_now_ns()) {
		h->curl_ns = INT64_MAX;
		libcurl.multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
}

void http_advance(struct http *h)
{
	int64_t now = clock_now_ns();
	struct http_call *call;
	struct http_name *name;
	CURLMsg *message;
	int left;

	while ((name = TAILQ_FIRST(&h->names.asking)) && name->deadline_ns <= now) {
		snprintf(name->call->sentence, sizeof(name->call->sentence),
				"no name server answered in time");
		http_end_call(name->call, CURLE_OPERATION_TIMEDOUT);
	}
	http_run_events(h);
	while ((message = libcurl.multi_info_read(h->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		libcurl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		http_name_answered(&call->name);
		http_end_call(call, message->data.result);
	}
	while ((call = TAILQ_FIRST(&h->unwatched))) {
		TAILQ_REMOVE(&h->unwatched, call, link);
		call->is_unwatched = false;
		http_end_call(call, CURLE_COULDNT_CONNECT);
	}
	http_arm(h);
}
