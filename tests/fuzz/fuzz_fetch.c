/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "data/fetch.h"
#include "data/source.h"

#include <dirent.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * Fuzzes `data fetch`. The input has parts, with a form feed between two. The first byte says what
 * is asked for. Then come data.lock and a ref of huggingface_hub's cache, if there are any. The
 * others are a server's answers, byte by byte, to one request after the other. The file is fetched
 * twice: the second time continues what the first has left. It must appear whole, and recorded in
 * data.lock, or not at all.
 */
enum {
	ASK_HUB = 1,   /* a file of Hugging Face, not of a URL */
	ASK_HASH = 2,  /* the hash of the file is known, that of CONTENT */
	HAS_LOCK = 4,  /* data.lock exists */
	HAS_CACHE = 8, /* the cache has CONTENT at the commit that its ref names */
};

#define CONTENT "0123456789\n"
#define CONTENT_SHA256 "c67c199595622dfbdc9e415c4a0ad6166eb49cbf74c6aac7bb3e958604d5ecb8"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define REPOSITORY "cache/datasets--o--n"

static char *root;
static int listener, connection = -1;
static char request[16384];
static size_t n_request;
static const char *answers, *answers_end;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	__builtin_trap();
}

/* --- the server ------------------------------------------------------------------------------- */

/* The linker replaces the C library's functions by these (see meson.build). The server runs in
 * poll(), where the client waits for it. Pauses between two tries take no time. */
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_fsync(int fd);

static const char *take_part(size_t *out_n)
{
	const char *part = answers;
	const char *end = memchr(part, '\f', (size_t)(answers_end - part));

	*out_n = (size_t)((end ? end : answers_end) - part);
	answers = end ? end + 1 : answers_end;
	return part;
}

static void server_answer(void)
{
	size_t n;
	const char *answer = take_part(&n);

	(void)!send(connection, answer, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(connection);
	connection = -1;
}

static void server_run(void)
{
	ssize_t n;

	if (connection < 0) {
		connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		n_request = 0;
	}
	if (connection < 0)
		return;
	n = read(connection, request + n_request, sizeof(request) - 1 - n_request);
	n_request += n > 0 ? (size_t)n : 0;
	request[n_request] = '\0';
	if (strstr(request, "\r\n\r\n")) {
		server_answer();
	} else if (n == 0) {
		close(connection);
		connection = -1;
	}
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	bool is_pause = n == 2 && fds[1].fd < 0;

	server_run();
	return is_pause ? 0 : __real_poll(fds, n, timeout_ms);
}

int __wrap_fsync(int fd)
{
	return 0;
}

static void server_open(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(at);
	auto_free char *endpoint = NULL;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	check(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 8) == 0,
			"bind");
	check(getsockname(listener, (struct sockaddr *)&at, &size) == 0, "getsockname");
	endpoint = xasprintf("http://127.0.0.1:%d", ntohs(at.sin_port));
	setenv("HF_ENDPOINT", endpoint, 1);
}

/* --- files ------------------------------------------------------------------------------------ */

static char *place(const char *path)
{
	return path_join(root, path);
}

static void put(const char *path, const void *data, size_t n)
{
	auto_free char *whole = place(path);
	auto_free char *folder = path_dirname(whole);

	check(path_mkdirs(folder, 0755, NULL) == 0, folder);
	check(fd_write_file(whole, data, n, 0644, NULL) == 0, whole);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_root(void)
{
	remove_tree(root);
	free(root);
}

static void put_cache(void)
{
	auto_free char *link = place(REPOSITORY "/snapshots/" COMMIT "/a/train.csv");
	auto_free char *folder = path_dirname(link);

	put(REPOSITORY "/blobs/" CONTENT_SHA256, CONTENT, strlen(CONTENT));
	check(path_mkdirs(folder, 0755, NULL) == 0, folder);
	check(symlink("../../../blobs/" CONTENT_SHA256, link) == 0, link);
}

static void set_up(void)
{
	const char *tmp = getenv("TMPDIR");
	auto_free char *path = path_join(tmp ? tmp : "/tmp", "fuzz-fetch-XXXXXX");
	auto_free char *state = NULL, *cache = NULL;

	root = mkdtemp(path) ? realpath(path, NULL) : NULL;
	check(root != NULL, path);
	atexit(remove_root);
	state = place("state");
	cache = place("cache");
	setenv("FUMEHOOD_STATE", state, 1);
	setenv("HF_HUB_CACHE", cache, 1);
	for (size_t i = 0; i < 4; i++)
		unsetenv((const char *[]){ "http_proxy", "HF_TOKEN", "HF_HUB_OFFLINE", "HOME" }[i]);
	put_cache();
	server_open();
}

/* --- one fetch -------------------------------------------------------------------------------- */

static void check_file(const struct dataset_source *source, const char *expected, int r)
{
	auto_free char *state = place("state");
	auto_free char *key = source_key(source);
	struct lock_entry entry;
	char hex[SHA256_HEX_BYTES];
	bool found = false;

	check(r < 0 || path_exists(source->target), "the file is missing");
	if (!path_exists(source->target))
		return;
	check(sha256_file(source->target, hex, NULL) == 0, "the file can't be read");
	check(!expected || str_eq(hex, expected), "the file has another hash than asked for");
	check(lock_find(state, LOCK_SOURCES, key, &found, &entry, NULL) == 0 && found,
			"the file is not recorded");
	check(str_eq(hex, entry.sha256), "another hash is recorded than the file has");
}

static void fetch(int asked)
{
	auto_free char *dir = place("state/data/d");
	auto_free char *target = place("state/data/d/train.csv");
	auto_free char *url = xasprintf("%s/train.csv", getenv("HF_ENDPOINT"));
	struct dataset_source source = { .name = "train.csv",
		.target = target,
		.sha256 = asked & ASK_HASH ? CONTENT_SHA256 : NULL };
	struct dataset_file file = { .path = "train.csv", .source = target };
	struct dataset dataset = { .id = "d",
		.store = "d",
		.dir = dir,
		.fetched = dir,
		.files = &file,
		.n_files = 1,
		.sources = &source,
		.n_sources = 1 };
	struct data_fetch_options options = { .stall_ms = 60000, .cancel_fd = -1 };

	if (asked & ASK_HUB) {
		source.huggingface = "datasets/o/n";
		source.path = "a/train.csv";
		source.revision = "main";
	} else {
		source.url = url;
	}
	for (int i = 0; i < 2; i++) {
		struct fh_error err = FH_ERROR_INIT;
		int r = data_fetch(&dataset, &options, &err);

		check(r == 0 || *err.message, "an error without a message");
		check_file(&source, source.sha256, r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *state = NULL, *refs = NULL;
	int asked = n ? data[0] : 0;
	const char *part;

	if (!root)
		set_up();
	state = place("state");
	refs = place(REPOSITORY "/refs");
	answers = (const char *)data + (n > 0);
	answers_end = (const char *)data + n;
	if (asked & HAS_LOCK) {
		part = take_part(&n);
		put("state/data.lock", part, n);
	}
	if (asked & HAS_CACHE) {
		part = take_part(&n);
		put(REPOSITORY "/refs/main", part, n);
	}
	fetch(asked);
	if (connection >= 0)
		close(connection);
	connection = -1;
	remove_tree(state);
	remove_tree(refs);
	return 0;
}
