/* SPDX-License-Identifier: Apache-2.0 */
#include "web/hosts.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define PAPERS "papers"

/* Sites with papers as PDFs that anybody may download. */
static const char hosts_of_papers[] =
		"api.semanticscholar.org,arxiv.org,*.arxiv.org,aclanthology.org,www.aclanthology.org,"
		"www.aclweb.org,openreview.net,proceedings.mlr.press,jmlr.org,www.jmlr.org,"
		"proceedings.neurips.cc,papers.neurips.cc,papers.nips.cc,proceedings.iclr.cc,"
		"openaccess.thecvf.com,ojs.aaai.org,www.ijcai.org,dl.acm.org,ieeexplore.ieee.org,"
		"link.springer.com,www.nature.com,journals.plos.org,www.mdpi.com,www.frontiersin.org,"
		"www.biorxiv.org,www.medrxiv.org,www.ncbi.nlm.nih.gov,pmc.ncbi.nlm.nih.gov,hal.science,"
		"distill.pub,pdfs.semanticscholar.org";

/* --- entries ---------------------------------------------------------------------------------- */

struct host_entry {
	const char *at;
	size_t n;
};

/* Takes the first entry of an allow-list, and moves *list to the next one. Returns false at the
 * end. */
static bool hosts_next(const char **list, struct host_entry *out)
{
	if (!*list)
		return false;
	out->at = *list;
	out->n = strcspn(*list, ",");
	*list = out->at[out->n] ? out->at + out->n + 1 : NULL;
	return true;
}

static bool host_entry_is(const struct host_entry *e, const char *text)
{
	return strlen(text) == e->n && strncasecmp(e->at, text, e->n) == 0;
}

static bool host_entry_skip(struct host_entry *e, const char *prefix)
{
	size_t n = strlen(prefix);

	if (e->n < n || strncasecmp(e->at, prefix, n) != 0)
		return false;
	e->at += n;
	e->n -= n;
	return true;
}

static size_t host_entry_span(const struct host_entry *e)
{
	size_t n = 0;

	while (n < e->n && (isalnum((unsigned char)e->at[n]) || strchr("-._", e->at[n])))
		n++;
	return n;
}

static bool host_entry_is_valid(struct host_entry e)
{
	bool has_scheme = host_entry_skip(&e, "https://") || host_entry_skip(&e, "http://");
	auto_free char *text = NULL;
	int64_t port;
	size_t n;

	if (!has_scheme)
		host_entry_skip(&e, "*.");
	n = host_entry_span(&e);
	if (n == 0 || e.at[0] == '.' || e.at[n - 1] == '.')
		return false;
	if (n == e.n || !has_scheme || e.at[n] != ':')
		return n == e.n;
	text = xstrndup(e.at + n + 1, e.n - n - 1);
	return isdigit((unsigned char)*text) && str_to_i64(text, &port) && port > 0 && port < 65536;
}

int hosts_check(const char *list, struct fh_error *err)
{
	struct host_entry e;

	while (hosts_next(&list, &e))
		if (!host_entry_is_valid(e))
			return error_say(err, EINVAL,
					"'%.*s' is not a web site: give example.org, *.example.org, "
					"https://example.org:8443 or papers",
					(int)e.n, e.at);
	return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

static bool host_entry_allows(
		struct host_entry e, const char *scheme, const char *host, const char *port)
{
	auto_free char *prefix = xasprintf("%s://", scheme);
	auto_free char *full = xasprintf("%s:%s", host, port);
	bool usual = str_eq(port, str_eq(scheme, "https") ? "443" : "80");
	size_t n = strlen(host);

	if (memmem(e.at, e.n, "://", 3))
		return host_entry_skip(&e, prefix) &&
				(host_entry_is(&e, full) || (usual && host_entry_is(&e, host)));
	if (!usual)
		return false;
	if (e.n > 2 && strncmp(e.at, "*.", 2) == 0)
		return n > e.n - 1 && strncasecmp(host + n - (e.n - 1), e.at + 1, e.n - 1) == 0;
	return host_entry_is(&e, host);
}

bool hosts_allow(const char *list, const char *scheme, const char *host, const char *port)
{
	struct host_entry e;

	if (!str_eq(scheme, "http") && !str_eq(scheme, "https"))
		return false;
	/* Refuse a host name with letters outside of ASCII: IDNA would look up a different name. */
	if (host_entry_span(&(struct host_entry){ host, strlen(host) }) != strlen(host))
		return false;
	while (hosts_next(&list, &e))
		if (host_entry_is(&e, PAPERS) ? hosts_allow(hosts_of_papers, scheme, host, port)
					      : host_entry_allows(e, scheme, host, port))
			return true;
	return false;
}

bool hosts_allow_private(const char *list, const char *scheme, const char *host, const char *port)
{
	struct host_entry e;

	while (hosts_next(&list, &e))
		if (memmem(e.at, e.n, "://", 3) && host_entry_allows(e, scheme, host, port))
			return true;
	return false;
}
