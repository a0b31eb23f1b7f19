/* SPDX-License-Identifier: Apache-2.0 */
#include "model/chat_inside.h"

#include "base/clock.h"
#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/dotenv.h"

#include <errno.h>
#include <string.h>

#define TIMEOUT_MS_DEFAULT 600000
#define RETRIES_DEFAULT 10
#define RETRIES_MOST 1000
#define KEY_BYTES_MAX 4096
#define TROUBLE_TOLD_NS (60 * NS_PER_S)

/* --- services --------------------------------------------------------------------------------- */

static int check_limit(double limit, struct fh_error *err)
{
	if (limit >= 0)
		return 0;
	return error_say(err, EINVAL, "a limit on costs is 0, which is none, or more, and not %g",
			limit);
}

int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err)
{
	struct chat_service *s = xcalloc(1, sizeof(*s));
	int r = http_open(&s->http, err);

	SLIST_INIT(&s->troubles);
	TAILQ_INIT(&s->paused);
	TAILQ_INIT(&s->done);
	if (options) {
		s->cost_limit = options->total_cost_limit;
		s->cost = options->spent;
		s->on_retry = options->on_retry;
	}
	if (r == 0)
		r = check_limit(s->cost_limit, err);
	if (r == 0)
		r = prices_open(options ? options->prices : NULL, &s->prices, err);
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
	http_close(s->http);
	free(s);
}

int chat_service_fd(const struct chat_service *s)
{
	return http_fd(s->http);
}

size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max)
{
	size_t n = 0;

	http_advance(s->http);
	chat_call_resume_paused(s);
	while (n < max && !TAILQ_EMPTY(&s->done)) {
		struct chat_call *call = TAILQ_FIRST(&s->done);

		TAILQ_REMOVE(&s->done, call, queued);
		call->state = CALL_GIVEN;
		out_done[n++] = call;
	}
	chat_call_set_timer(s);
	return n;
}

/* A new one was never told of. */
static struct chat_trouble *trouble_of(struct chat_service *s, const char *spec)
{
	struct chat_trouble *t = SLIST_FIRST(&s->troubles);

	while (t && !str_eq(t->spec, spec))
		t = SLIST_NEXT(t, link);
	if (t)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->spec = xstrdup(spec);
	t->told_ns[false] = t->told_ns[true] = INT64_MIN;
	SLIST_INSERT_HEAD(&s->troubles, t, link);
	return t;
}

bool chat_trouble_is_news(struct chat_service *s, const char *spec, bool is_long)
{
	int64_t *told_ns = &trouble_of(s, spec)->told_ns[is_long];
	int64_t now = clock_now_ns();

	if (*told_ns > now - TROUBLE_TOLD_NS)
		return false;
	*told_ns = now;
	return true;
}

bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err)
{
	if (s->cost_limit <= 0 || s->cost < s->cost_limit)
		return false;
	error_say(err, ECANCELED, "all models have cost $%.4f, and may cost $%.4f", s->cost,
			s->cost_limit);
	return true;
}

/* --- options ---------------------------------------------------------------------------------- */

bool chat_is_spec(const char *spec)
{
	return vendor_is_spec(spec);
}

bool chat_price_is_known(const struct chat_service *s, const char *spec)
{
	const struct vendor *vendor;
	const char *name;

	return vendor_find(spec, &vendor, &name, NULL) == 0 &&
			prices_find(s->prices, vendor->name, name);
}

/* A variable that is set to something. */
static const char *variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value && *value ? value : NULL;
}

const char *chat_address(const char *spec)
{
	const struct vendor *vendor;
	const char *name, *url;

	if (vendor_find(spec, &vendor, &name, NULL) < 0)
		return NULL;
	url = variable(vendor->url_variable);
	return url ? url : vendor->url;
}

static int set_retries(struct chat_model *m, struct fh_error *err)
{
	const char *text = variable("MLGYM_MODEL_MAX_RETRIES");
	int64_t n = RETRIES_DEFAULT;

	if (m->options.retries >= 0)
		return 0;
	if (text && (!str_to_i64(text, &n) || n < 0 || n > RETRIES_MOST))
		return error_say(err, EINVAL,
				"MLGYM_MODEL_MAX_RETRIES: expected 0 to %d, found '%s'",
				RETRIES_MOST, text);
	m->options.retries = (int)n;
	return 0;
}

/* What lives as long as the model; the strings that a request is made of. */
static int copy_options(
		struct chat_model *m, const struct chat_options *options, struct fh_error *err)
{
	const char **stop = arena_array(&m->arena, options->n_stop + 1, sizeof(*stop));

	m->options = *options;
	for (size_t i = 0; i < options->n_stop; i++)
		stop[i] = arena_strdup(&m->arena, options->stop[i]);
	m->options.stop = stop;
	m->options.spec = arena_strdup(&m->arena, options->spec);
	m->options.version = options->version && *options->version
			? arena_strdup(&m->arena, options->version)
			: NULL;
	m->options.url = m->options.key = m->options.extra = NULL;
	m->options.spent = NULL;
	if (options->spent)
		m->stats = *options->spent;
	if (!options->timeout_ms)
		m->options.timeout_ms = TIMEOUT_MS_DEFAULT;
	return set_retries(m, err);
}

/* It becomes part of a header, or of an address, and nothing else of either. */
static int check_version(const char *version, struct fh_error *err)
{
	static const char letters[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (!version || !version[strspn(version, letters)])
		return 0;
	return error_say(err, EINVAL,
			"'%s' is no version of an API: it has letters, digits, '.', '_' and '-'",
			version);
}

static int read_extra(const char *extra, json_t **out, struct fh_error *err)
{
	int r;

	if (!extra || !*extra)
		return 0;
	r = json_parse("extra fields", extra, strlen(extra), out, err);
	if (r == 0 && !json_is_object(*out))
		r = error_say(err, EINVAL, "extra fields: expected a JSON object");
	return r;
}

int chat_check_options(const struct chat_options *options, struct fh_error *err)
{
	json_t *extra = NULL;
	int r = check_version(options->version, err);

	if (r == 0)
		r = read_extra(options->extra, &extra, err);
	json_decref(extra);
	return r;
}

static int set_url(struct chat_model *m, const char *url, struct fh_error *err)
{
	auto_free char *base = NULL, *whole = NULL;
	size_t n;
	int r;

	if (!url || !*url)
		url = variable(m->vendor->url_variable);
	m->own_address = !url;
	r = url ? 0 : vendor_check_provider(m->options.spec, err);
	if (r < 0)
		return r;
	if (url)
		m->options.url = arena_strdup(&m->arena, url);
	else
		url = m->vendor->url;
	if (!url)
		return error_say(err, EINVAL, "'%s' needs the URL of its server", m->options.spec);
	r = http_check_url(url, err);
	if (r < 0)
		return r;
	for (n = strlen(url); n && url[n - 1] == '/';)
		n--;
	base = xstrndup(url, n);
	whole = m->vendor->dialect->url(base, m->name, m->options.version);
	m->url = arena_strdup(&m->arena, whole);
	return 0;
}

/* An address that a file names may be a stranger's: it gets no key but one of the same file. */
static int check_address(
		const struct chat_model *m, const struct chat_options *o, struct fh_error *err)
{
	const struct vendor *v = m->vendor;
	const char *url = m->options.url;
	bool own_url = o->url && *o->url, own_key = o->key && *o->key;
	const char *source = url && !own_url ? dotenv_source(v->url_variable) : NULL;

	if (!source || (!own_key && !variable(v->key_variable)) ||
			(!own_key && str_eq(dotenv_source(v->key_variable), source)))
		return 0;
	return error_say(err, EINVAL,
			"'%s' would send a key to %.*s, the address that %s gives as %s, and the key is not of "
			"that file: if that is meant, give the address by --url",
			m->options.spec, (int)strcspn(url, "?#"), url, source, v->url_variable);
}

static int set_key(struct chat_model *m, const char *key, struct fh_error *err)
{
	if (!key || !*key)
		key = variable(m->vendor->key_variable);
	if (!key && m->own_address && m->vendor->key_variable)
		return error_say(err, EINVAL, "'%s' needs a key: set %s, or put it into .env",
				m->options.spec, m->vendor->key_variable);
	if (key && (strlen(key) > KEY_BYTES_MAX || strpbrk(key, "\r\n")))
		return error_say(err, EINVAL, "the key of '%s' is no key: it %s", m->options.spec,
				strpbrk(key, "\r\n") ? "has a line break in it" : "is too long");
	if (key)
		m->key = xstrdup(key);
	m->headers = http_headers_new();
	m->vendor->dialect->add_headers(m->headers, m->key, m->options.version);
	return 0;
}

/* What is not known can't be kept to. */
static int set_price(struct chat_model *m, struct fh_error *err)
{
	const struct chat_service *s = m->service;

	m->price = prices_find(s->prices, m->vendor->name, m->name);
	m->context = m->options.context_tokens;
	if (!m->context && m->price)
		m->context = m->price->context;
	if (!m->price && (m->options.cost_limit > 0 || s->cost_limit > 0))
		return error_say(err, EINVAL,
				"a limit on costs can't be kept: the price of '%s' is not known. Give it "
				"in a table of prices (--prices FILE), {\"%s\": {\"input\": 0.5, \"output\": 1.5}} (dollars "
				"for a million tokens), or no limit on costs (0)",
				m->name, m->name);
	return 0;
}

/* --- models ----------------------------------------------------------------------------------- */

static int set_up(struct chat_model *m, const struct chat_options *options, struct fh_error *err)
{
	const char *name;
	int r = vendor_find(options->spec, &m->vendor, &name, err);

	if (r == 0)
		r = copy_options(m, options, err);
	if (r < 0)
		return r;
	m->name = arena_strdup(&m->arena, name);
	r = check_limit(options->cost_limit, err);
	if (r == 0)
		r = check_version(m->options.version, err);
	if (r == 0)
		r = read_extra(options->extra, &m->extra, err);
	if (r == 0)
		r = set_url(m, options->url, err);
	if (r == 0)
		r = check_address(m, options, err);
	if (r == 0)
		r = set_key(m, options->key, err);
	return r == 0 ? set_price(m, err) : r;
}

int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err)
{
	struct chat_model *m = xcalloc(1, sizeof(*m));
	int r;

	m->service = s;
	m->random = options->seed;
	TAILQ_INIT(&m->calls);
	r = set_up(m, options, err);
	if (r < 0) {
		chat_model_close(m);
		return r;
	}
	*out = m;
	return 0;
}

void chat_model_close(struct chat_model *m)
{
	if (!m)
		return;
	while (!TAILQ_EMPTY(&m->calls))
		chat_call_free(TAILQ_FIRST(&m->calls));
	http_headers_free(m->headers);
	if (m->key)
		explicit_bzero(m->key, strlen(m->key));
	free(m->key);
	json_decref(m->extra);
	arena_release(&m->arena);
	free(m);
}

const char *chat_model_base(const struct chat_model *m)
{
	return m->options.url;
}

const char *chat_model_key(const struct chat_model *m)
{
	return m->key;
}

void chat_model_hide(const struct chat_model *m, struct buf *text)
{
	hide_secret(text, m->key);
}

const char *chat_model_name(const struct chat_model *m)
{
	return m->name;
}

void chat_model_stats(const struct chat_model *m, struct chat_stats *out)
{
	*out = m->stats;
}

bool chat_is_at_limit(const struct chat_model *m, struct fh_error *err)
{
	if (m->options.cost_limit <= 0 || m->stats.cost < m->options.cost_limit)
		return chat_service_is_spent(m->service, err);
	error_say(err, EDQUOT, "%s has cost $%.4f, and may cost $%.4f", m->options.spec,
			m->stats.cost, m->options.cost_limit);
	return true;
}
