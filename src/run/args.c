/* SPDX-License-Identifier: Apache-2.0 */
#include "run/args.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/foreign.h"
#include "task/mlgym_find.h"

#include <string.h>
#include <strings.h>

#define ARGS_BYTES_MAX (1024 * 1024)
#define KEY_HIDDEN "[key]" /* text with which chat_model_hide() replaces an API key */

/* --- secrets ---------------------------------------------------------------------------------- */

/* Returns the URL with ARGS_HIDDEN in place of its query: some servers take an API key there. */
const char *run_args_shown_url(struct arena *a, const char *url)
{
	size_t n = url ? strcspn(url, "?#") : 0;

	return url && url[n] ? arena_printf(a, "%.*s%c" ARGS_HIDDEN, (int)n, url, url[n]) : url;
}

static bool args_is_secret(const char *key)
{
	static const char *const ends[] = { "key", "keys", "token", "secret", "secrets", "password",
		"passwd", "passphrase", "pass", "pwd", "credential", "credentials", "authorization",
		"auth", "cookie", "cookies" };
	size_t n = strlen(key);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (n >= strlen(ends[i]) && strcasecmp(key + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Returns true if a value looks like that of an Authorization header ("Bearer ..."), whatever its
 * name. */
static bool args_is_credential(const char *value)
{
	return strncasecmp(value, "Bearer ", strlen("Bearer ")) == 0 ||
			strncasecmp(value, "Basic ", strlen("Basic ")) == 0;
}

/*
 * Replaces by ARGS_HIDDEN all strings in a JSON value that may be secret. Their key names a secret,
 * or they look like credentials. `secret`: the key of the value itself names a secret.
 */
static void args_hide(json_t *value, bool secret)
{
	json_t *member;
	const char *key;
	size_t i;

	if (json_is_string(value) && (secret || args_is_credential(json_string_value(value))))
		json_string_set(value, ARGS_HIDDEN);
	json_array_foreach(value, i, member)
		args_hide(member, secret);
	json_object_foreach(value, key, member)
		args_hide(member, secret || args_is_secret(key));
}

static const char *args_shown_fields(struct arena *a, const char *extra)
{
	auto_json json_t *object = NULL;
	auto_buf struct buf out = BUF_INIT(ARGS_BYTES_MAX);

	if (!extra || json_parse("fields", extra, strlen(extra), &object, NULL) < 0)
		return NULL;
	args_hide(object, false);
	json_add(&out, object, false);
	return out.truncated ? ARGS_HIDDEN : arena_strdup(a, buf_str(&out));
}

bool run_args_is_hidden(const char *text)
{
	return text && (strstr(text, ARGS_HIDDEN) || strstr(text, KEY_HIDDEN));
}

/* --- the file --------------------------------------------------------------------------------- */

static const char *args_absolute(struct arena *a, const char *path)
{
	auto_free char *whole = NULL;

	if (!path || path_absolute(path, &whole, NULL) < 0)
		return path;
	return arena_strdup(a, whole);
}

static void args_add_environment(
		struct arena *a, struct run_args *args, const struct run_asked *asked)
{
	const struct episode_plan *p = asked->plan;
	const struct fh_env_options *env = p->env;
	const char *root = p->places->mlgym_root;
	auto_free char *task = root ? mlgym_find(root, env->task) : NULL;
	const char **binds = arena_array(a, env->n_binds + 1, sizeof(*binds));
	const char **gpus = arena_array(a, asked->n_gpus + 1, sizeof(*gpus));

	for (size_t i = 0; i < env->n_binds; i++) {
		const struct fh_bind *b = &env->binds[i];

		binds[i] = arena_printf(a, "%s:%s", b->source, b->target ? b->target : b->source);
	}
	for (size_t i = 0; i < asked->n_gpus; i++)
		gpus[i] = asked->gpus ? arena_printf(a, "%d", asked->gpus[i]) : "any";
	args->seed = p->seed;
	args->data_seed = env->data_seed;
	args->max_steps = asked->max_steps;
	args->reward = p->reward;
	args->aliases = p->aliases;
	args->bind = (struct texts){ .items = binds, .n = env->n_binds };
	args->python = env->python;
	args->gpus = (struct texts){ .items = gpus, .n = asked->n_gpus };
	args->memory = env->memory;
	/* Record "" as MLGym's checkout if the run used none, so that a replay looks for none. */
	args->mlgym_root = root ? args_absolute(a, root) : "";
	args->task_config_path = args_absolute(a, task);
	args->tasks_dir = args_absolute(a, p->places->tasks_dir);
	args->web_hosts = env->web_hosts ? env->web_hosts : "none";
	/* Record MLGym's default agent if the run had none: MLGym refuses an args.yaml that names
	 * no agent. */
	if (p->agent)
		args->agent_config_path = p->agent->config->place;
	else if (root)
		args->agent_config_path = args_absolute(
				a, arena_printf(a, "%s/configs/agents/default.yaml", root));
}

static void args_add_chat(struct arena *a, struct run_args *args, const struct run_agent *agent,
		const struct chat_model *chat)
{
	const struct chat_options *o = &agent->options;

	args->url = run_args_shown_url(a, chat_model_base(chat));
	args->api_version = o->version;
	args->completion_kwargs = args_shown_fields(a, o->extra);
	args->prices = args_absolute(a, agent->prices);
	args->max_tokens = (int)o->max_tokens;
	args->context_tokens = (int)o->context_tokens;
	args->stop = (struct texts){ .items = o->stop, .n = o->n_stop };
	args->stream = o->stream;
}

void run_args_add(struct buf *out, const struct run_asked *asked)
{
	const struct run_name *name = asked->name;
	const struct run_agent *agent = asked->plan->agent;
	auto_arena struct arena arena = ARENA_INIT;
	struct run_args args = {
		.agent_config = name->agent_config,
		.agent_command = asked->plan->foreign ? asked->plan->foreign->command : NULL,
		.original_tools = agent && agent->config->original_tools,
		.model = asked->plan->model,
		.cost_limit = name->cost_limit,
		.temperature = name->temperature,
		.top_p = name->top_p,
		.task = name->task,
		.suffix = name->suffix ? name->suffix : "",
	};

	if (agent && asked->chat)
		args_add_chat(&arena, &args, agent, asked->chat);
	args_add_environment(&arena, &args, asked);
	args_yaml_add(out, &args);
	if (asked->chat)
		chat_model_hide(asked->chat, out);
}

int run_args_write(const char *dir, const struct run_asked *asked, struct fh_error *err)
{
	auto_free char *path = path_join(dir, ARGS_FILE);
	auto_buf struct buf out = BUF_INIT(ARGS_BYTES_MAX);

	run_args_add(&out, asked);
	return fd_write_file(path, buf_str(&out), out.len, 0666, err);
}
