/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_options.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "sandbox/python.h"
#include "sandbox/bind.h"
#include "web/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const episode_rewards[] = {
	[FH_REWARD_DELTA] = "delta",
	[FH_REWARD_IMPROVEMENT] = "improvement",
	[FH_REWARD_NONE] = "none",
	NULL,
};

int episode_reward_of(const char *name, int otherwise)
{
	int found = str_index(name, episode_rewards);

	return found >= 0 ? found : otherwise;
}

int episode_recorded_steps(const struct pyjson *open, int otherwise)
{
	int64_t n;
	bool known = pyjson_i64(pyjson_get(open, "max_steps"), &n) && n > 0 && n <= STEPS_MAX;

	return known ? (int)n : otherwise;
}

int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err)
{
	const char *inside = text + strcspn(text, ":");
	const char *mode = *inside ? inside + 1 + strcspn(inside + 1, ":") : inside;
	auto_free char *source = strndup(text, (size_t)(inside - text));
	auto_free char *real = source ? realpath(source, NULL) : NULL;
	bool writable = str_eq(mode, ":rw");

	if (inside == text)
		return error_say(err, EINVAL, "--bind wants SRC[:DST[:rw]], not '%s'", text);
	if (!real)
		return error_set(err, errno, "--bind '%s'", text);
	if (*mode && !writable && !str_eq(mode, ":ro"))
		return error_say(err, EINVAL, "--bind '%s': '%s' should be ro or rw", text,
				mode + 1);
	if (*inside && inside[1] != '/')
		return error_say(err, EINVAL,
				"--bind '%s': the path inside should begin with '/', as in SRC:/DST:rw",
				text);
	if (writable && !out_writable)
		return error_say(err, EINVAL,
				"--bind '%s': only `fumehood sandbox` can bind with rw", text);
	out->source = arena_strdup(arena, real);
	if (*inside)
		out->target = arena_strndup(arena, inside + 1, (size_t)(mode - inside - 1));
	if (out_writable)
		*out_writable = writable;
	return 0;
}

void episode_add_mounts(const struct texts *mounts, const struct warner *warner,
		struct arena *arena, struct texts *binds)
{
	const char **items = arena_array(arena, binds->n + mounts->n, sizeof(*items));
	size_t n = 0;

	for (; n < binds->n; n++)
		items[n] = binds->items[n];
	for (size_t i = 0; i < mounts->n; i++) {
		auto_free char *real = realpath(mounts->items[i], NULL);

		if (real)
			items[n++] = arena_printf(arena, "%s:/%s", real, path_basename(real));
		else
			warner_say(warner, "--container_mounts %s is left out: %s",
					mounts->items[i], strerror(errno));
	}
	*binds = (struct texts){ .items = items, .n = n };
}

static int episode_binds(const struct texts *list, struct arena *arena, const struct fh_bind **out,
		struct fh_error *err)
{
	struct fh_bind *binds = arena_array(arena, list->n, sizeof(*binds));

	for (size_t i = 0; i < list->n; i++) {
		struct fh_bind *b = &binds[i];
		int r = episode_read_bind(list->items[i], arena, b, NULL, err);

		if (r < 0)
			return r;
		r = sandbox_bind_check(&(struct sandbox_bind){ b->source,
						       b->target ? b->target : b->source },
				err);
		if (r < 0)
			return r;
	}
	*out = binds;
	return 0;
}

int episode_gpus(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err)
{
	int *numbers = list->n ? arena_array(arena, list->n, sizeof(*numbers)) : NULL;

	for (size_t i = 0; i < list->n; i++) {
		int64_t number;

		if (!str_to_i64(list->items[i], &number) || number < 0 || number > GPU_NUMBER_MAX)
			return error_say(err, EINVAL,
					"--gpus '%s': a GPU is a number, as 0 is for /dev/nvidia0",
					list->items[i]);
		numbers[i] = (int)number;
		for (size_t k = 0; k < i; k++)
			if (numbers[k] == numbers[i])
				return error_say(err, EINVAL, "--gpus names GPU %d twice",
						numbers[i]);
	}
	*out = numbers;
	return 0;
}

static int episode_python(
		const char *spec, struct arena *arena, const char **out, struct fh_error *err)
{
	struct python_env env = { .spec = NULL };
	int r = spec ? python_env_find(arena, spec, &env, err) : 0;

	if (r < 0)
		return r;
	*out = env.spec;
	return 0;
}

int episode_env_options(const struct episode_options *options, struct arena *arena,
		struct fh_env_options *out, struct fh_error *err)
{
	const char *hosts = episode_web_hosts(options, NULL);
	int r;

	if (hosts && hosts_check(hosts, err) < 0)
		return error_wrap(err, "--web-hosts");
	r = episode_binds(&options->bind, arena, &out->binds, err);
	if (r < 0)
		return r;
	r = episode_python(options->python, arena, &out->python, err);
	if (r < 0)
		return r;
	out->size = sizeof(*out);
	out->polled = true;
	out->n_binds = options->bind.n;
	out->variant = options->variant;
	out->reward = (enum fh_reward_kind)options->reward;
	out->max_steps = options->max_steps;
	out->output_bytes = options->output_bytes;
	out->judge_salt = options->judge_salt;
	out->data_seed = options->data_seed;
	return 0;
}

int64_t episode_recorded_keys(const struct pyjson *open)
{
	/* version to assume if there is none: builds with version 1 did not record it */
	int64_t version = 1;

	pyjson_i64(pyjson_get(open, "keys"), &version);
	return open ? version : 0;
}

uint64_t episode_recorded_salt(const struct pyjson *reset)
{
	int64_t salt;

	if (!pyjson_i64(pyjson_get(pyjson_get(reset, "info"), "judge_salt"), &salt) || salt < 0)
		return 0;
	return (uint64_t)salt;
}

uint64_t episode_recorded_data_seed(const struct pyjson *open)
{
	int64_t seed;

	if (!pyjson_i64(pyjson_get(open, "data_seed"), &seed) || seed < 0)
		return 0;
	return (uint64_t)seed;
}

int64_t episode_recorded_output(const struct pyjson *open)
{
	int64_t bytes;

	if (!pyjson_i64(pyjson_get(open, "output_bytes"), &bytes) || bytes < 0 ||
			bytes > FH_OUTPUT_BYTES_MAX)
		return 0;
	return bytes;
}

const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent)
{
	if (!options->web_hosts)
		return agent && agent_config_needs_web(agent) ? "papers" : NULL;
	return str_eq(options->web_hosts, "none") ? NULL : options->web_hosts;
}
