/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAT_FIXTURE_H
#define CHAT_FIXTURE_H

#include "fixture.h"

#include "base/clock.h"
#include "base/exec.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/chat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Starts tests/servers/llm.py as a fake server of language models, with scripted replies over real
 * sockets. The server logs each request, one a line.
 */
struct chat_server {
	char folder[FOLDER_MAX];
	pid_t pid;
	int hold; /* the server's standard input; closing it ends the server */
	char url[64];
	char *log;
};

#define WAIT_MS 120000

/* Starts a program with the given standard input, output and error. A NULL ends its arguments. */
static inline pid_t chat_spawn(const char *const *argv, int in, int out, int error_fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(error_fd, STDERR_FILENO);
		execvp(argv[0], exec_list(argv));
		_exit(127);
	}
	return pid;
}

static inline char *chat_file(const struct chat_server *s, const char *name)
{
	return path_join(s->folder, name);
}

/* Makes a self-signed certificate for localhost. */
static inline void chat_make_certificate(const struct chat_server *s)
{
	auto_free char *cert = chat_file(s, "cert.pem"), *key = chat_file(s, "key.pem");
	const char *const argv[] = { "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
		"-days", "2", "-subj", "/CN=localhost", "-addext",
		"subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert, NULL };
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = chat_spawn(argv, null, null, null);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Starts a fake server of language models. `script` is a file of tests/servers that has its
 * replies. */
static inline void chat_server_start(struct chat_server *s, const char *script, bool tls)
{
	auto_free char *dir = path_join(places_get()->share_dir, "tests/servers");
	auto_free char *program = path_join(dir, "llm.py");
	auto_free char *file = path_join(dir, script), *cert = NULL, *key = NULL;
	int in[2], out[2], port;
	FILE *said;

	assert_int_equal(folder_make(s->folder), 0);
	cert = chat_file(s, "cert.pem");
	key = chat_file(s, "key.pem");
	s->log = chat_file(s, "log");
	if (tls)
		chat_make_certificate(s);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	s->pid = chat_spawn((const char *const[]){ "/usr/bin/python3", program, file, "--log",
					    s->log, tls ? "--tls" : NULL, cert, key, NULL },
			in[0], out[1], STDERR_FILENO);
	close(in[0]);
	close(out[1]);
	s->hold = in[1];
	said = fdopen(out[0], "r");
	assert_int_equal(fscanf(said, "%d", &port), 1);
	fclose(said);
	snprintf(s->url, sizeof(s->url), "%s://127.0.0.1:%d/v1", tls ? "https" : "http", port);
}

static inline void chat_server_stop(struct chat_server *s)
{
	close(s->hold);
	waitpid(s->pid, NULL, 0);
	free(s->log);
	folder_remove(s->folder);
}

/* Reads the server's log: the body or the headers (`part`) of the last request for a model. out_n
 * is the number of its requests. */
static inline json_t *chat_asked(
		const struct chat_server *s, const char *model, const char *part, int *out_n)
{
	FILE *file = fopen(s->log, "re");
	json_t *found = NULL;
	char *line = NULL;
	size_t size = 0;
	int n = 0;

	while (file && getline(&line, &size, file) > 0) {
		auto_json json_t *entry = json_loads(line, 0, NULL);
		const json_t *body = json_object_get(entry, "body");

		if (!str_eq(json_string_value(json_object_get(body, "model")), model))
			continue;
		n++;
		json_decref(found);
		found = json_incref(json_object_get(entry, part));
	}
	free(line);
	if (file)
		fclose(file);
	if (out_n)
		*out_n = n;
	return found;
}

/* Waits until n calls of the service have ended, and returns them. */
static inline void chat_wait(struct chat_service *s, struct chat_call **out, size_t n)
{
	int64_t deadline = clock_now_ns() + WAIT_MS * NS_PER_MS;
	size_t have = 0;

	while (have < n) {
		struct pollfd p = { .fd = chat_service_fd(s), .events = POLLIN };

		assert_true(clock_now_ns() < deadline);
		poll(&p, 1, 1000);
		have += chat_service_advance(s, out + have, n - have);
	}
}

#endif
