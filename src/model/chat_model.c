/* SPDX-License-Identifier: Apache-2.0 */
#include "model/chat_model.h"

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

/* Returns the value of an environment variable; NULL if it is unset or empty. */
static const char *chat_variable(const char *name)
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
	url = chat_variable(vendor->url_variable);
	return url ? url : vendor->url;
}

static int chat_model_copy_options(
		struct chat_model *m, const struct chat_options *options, struct fh_error *err)
{
	const char **stop = arena_array(&m->arena, options->n_stop + 1, sizeof(*stop));
	const char *retries = chat_variable("MLGYM_MODEL_MAX_RETRIES");
	int64_t n = RETRIES_DEFAULT;

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
	if (options->retries >= 0)
		return 0;
	if (retries && (!str_to_i64(retries, &n) || n < 0 || n > RETRIES_MOST))
		return error_say(err, EINVAL,
				"MLGYM_MODEL_MAX_RETRIES: expected 0 to %d, found '%s'",
				RETRIES_MOST, retries);
	m->options.retries = (int)n;
	return 0;
}

/* Checks the API version that the user gave. It becomes part of a header or a URL, so only harmless
 * characters are allowed. */
static int chat_check_version(const char *version, struct fh_error *err)
{
	static const char letters[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (!version || !version[strspn(version, letters)])
		return 0;
	return error_say(err, EINVAL,
			"'%s' is not a version of an API: use letters, digits, '.', '_' and '-'",
			version);
}

static int chat_read_extra(const char *extra, json_t **out, struct fh_error *err)
{
	int r;

	if (!extra || !*extra)
		return 0;
	r = json_parse("--completion-kwargs", extra, strlen(extra), out, err);
	if (r < 0)
		return r;
	return json_is_object(*out)
			? 0
			: error_say(err, EINVAL, "--completion-kwargs: expected a JSON object");
}

int chat_check_options(const struct chat_options *options, struct fh_error *err)
{
	auto_json json_t *extra = NULL;
	int r = chat_check_version(options->version, err);

	return r < 0 ? r : chat_read_extra(options->extra, &extra, err);
}

static int chat_model_set_url(struct chat_model *m, const char *url, struct fh_error *err)
{
	auto_free char *base = NULL, *whole = NULL;
	size_t n;
	int r;

	if (!url || !*url)
		url = chat_variable(m->vendor->url_variable);
	m->own_address = !url;
	if (url) {
		m->options.url = arena_strdup(&m->arena, url);
	} else {
		r = vendor_check_provider(m->options.spec, err);
		if (r < 0)
			return r;
		url = m->vendor->url;
	}
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

/* Refuses a URL that a .env file set, if there is an API key from elsewhere. The file may be
 * untrusted, and the key would be sent to its URL. */
static int chat_model_check_url(
		const struct chat_model *m, const struct chat_options *o, struct fh_error *err)
{
	const struct vendor *v = m->vendor;
	const char *url = m->options.url;
	bool own_url = o->url && *o->url, own_key = o->key && *o->key;
	const char *source = url && !own_url ? dotenv_source(v->url_variable) : NULL;

	if (!source)
		return 0;
	if (!own_key &&
			(!chat_variable(v->key_variable) ||
					str_eq(dotenv_source(v->key_variable), source)))
		return 0;
	return error_say(err, EINVAL,
			"'%s' would send a key to %.*s, the address that %s sets as %s. The "
			"key is not from that file: to allow the address, give it by --url",
			m->options.spec, (int)strcspn(url, "?#"), url, source, v->url_variable);
}

static int chat_model_set_key(struct chat_model *m, const char *key, struct fh_error *err)
{
	if (!key || !*key)
		key = chat_variable(m->vendor->key_variable);
	if (!key && m->own_address && m->vendor->key_variable)
		return error_say(err, EINVAL, "'%s' needs a key: set %s, or put it into .env",
				m->options.spec, m->vendor->key_variable);
	if (key && (strlen(key) > KEY_BYTES_MAX || strpbrk(key, "\r\n")))
		return error_say(err, EINVAL, "the key of '%s' is invalid: it %s", m->options.spec,
				strpbrk(key, "\r\n") ? "has a line break in it" : "is too long");
	if (key)
		m->key = xstrdup(key);
	m->vendor->dialect->add_headers(&m->headers, m->key, m->options.version);
	return 0;
}

static int chat_model_set_price(struct chat_model *m, struct fh_error *err)
{
	const struct chat_service *s = m->service;

	m->price = prices_find(s->prices, m->vendor->name, m->name);
	m->context = m->options.context_tokens;
	if (!m->context && m->price)
		m->context = m->price->context;
	if (!m->price && (m->options.cost_limit > 0 || s->cost_limit > 0))
		return error_say(err, EINVAL,
				"the price of '%s' is not known, so its cost can't be limited. Give "
				"its price in dollars for a million tokens by --prices FILE, as "
				"{\"%s\": {\"input\": 0.5, \"output\": 1.5}}, or set the limit on "
				"costs to 0",
				m->name, m->name);
	return 0;
}

/* --- models ----------------------------------------------------------------------------------- */

static int chat_model_set_up(
		struct chat_model *m, const struct chat_options *options, struct fh_error *err)
{
	const char *name;
	int r = vendor_find(options->spec, &m->vendor, &name, err);

	if (r < 0)
		return r;
	m->name = arena_strdup(&m->arena, name);
	r = chat_model_copy_options(m, options, err);
	if (r < 0)
		return r;
	r = chat_check_limit(options->cost_limit, err);
	if (r < 0)
		return r;
	r = chat_check_version(m->options.version, err);
	if (r < 0)
		return r;
	r = chat_read_extra(options->extra, &m->extra, err);
	if (r < 0)
		return r;
	r = chat_model_set_url(m, options->url, err);
	if (r < 0)
		return r;
	r = chat_model_check_url(m, options, err);
	if (r < 0)
		return r;
	r = chat_model_set_key(m, options->key, err);
	return r < 0 ? r : chat_model_set_price(m, err);
}

int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err)
{
	struct chat_model *m = xcalloc(1, sizeof(*m));
	int r;

	m->service = s;
	m->random = options->seed;
	TAILQ_INIT(&m->calls);
	r = chat_model_set_up(m, options, err);
	if (r < 0) {
		chat_model_free(m);
		return r;
	}
	*out = m;
	return 0;
}

void chat_model_free(struct chat_model *m)
{
	http_headers_release(&m->headers);
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

const char *chat_model_path(const struct chat_model *m)
{
	return m->vendor->dialect->path;
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
	error_say(err, EDQUOT, "%s has cost $%.4f, and its limit is $%.4f", m->options.spec,
			m->stats.cost, m->options.cost_limit);
	return true;
}
