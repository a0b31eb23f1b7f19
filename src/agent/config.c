/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/config.h"

#include "agent/pytext.h"
#include "agent/native.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCS_BYTES_MAX (256 * 1024)
#define CONFIG_FILES_MAX 64

struct agent_loading {
	const struct agent_config_options *options;
	struct agent_config *c;
	const struct node *root;
	struct fh_error *err;
};

static void scope_config(struct agent_config **c)
{
	agent_config_free(*c);
}

void agent_config_free(struct agent_config *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	free(c->path);
	free(c->stem);
	free(c->place);
	free(c);
}

/* --- finding it ------------------------------------------------------------------------------- */

char *agent_config_list(void)
{
	auto_free char *dir = xasprintf("%s/agents", places_get()->share_dir);
	auto_buf struct buf list = BUF_INIT(4096);
	struct dirent **names = NULL;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (str_ends(name, ".yaml") && name[0] != '.')
			buf_printf(&list, "%s%.*s", list.len ? ", " : "",
					(int)(strlen(name) - strlen(".yaml")), name);
		free(names[i]);
	}
	free(names);
	return xstrdup(buf_str(&list));
}

bool agent_config_is_path(const char *spec)
{
	return strchr(spec, '/') || str_ends(spec, ".yaml");
}

/* Finds the file of the configuration o->spec: a path, perhaps relative to the MLGym checkout, or
 * an installed name. */
static int agent_config_find(const struct agent_config_options *o, char **out, struct fh_error *err)
{
	const char *spec = o->spec ? o->spec : "default";
	auto_free char *path = NULL, *list = NULL;

	if (agent_config_is_path(spec) && o->root && spec[0] != '/')
		path = xasprintf("%s/%s", o->root, spec);
	if (!path || access(path, R_OK) < 0) {
		free(path);
		path = agent_config_is_path(spec)
				? xstrdup(spec)
				: xasprintf("%s/agents/%s.yaml", places_get()->share_dir, spec);
	}
	if (access(path, R_OK) == 0) {
		*out = take_ptr(path);
		return 0;
	}
	if (agent_config_is_path(spec))
		return error_set(err, errno, "read the agent's configuration '%s'", spec);
	list = agent_config_list();
	return error_say(err, ENOENT, "no agent '%s'; there are: %s (or give the path of a file)",
			spec, list);
}

/* --- parts ------------------------------------------------------------------------------------ */

static const struct node *agent_config_at(const struct agent_loading *l, const char *key)
{
	const struct node *node = node_path(l->root, key);

	return node ? node : l->root;
}

/* Makes a template from `text`, the value of `key` in the YAML file. If `text` is NULL, returns
 * `fallback`. */
static struct template agent_config_template(const struct agent_loading *l, const char *key,
		const char *text, struct template fallback)
{
	return text ? (struct template){ .text = text, .at = node_get(l->root, key) } : fallback;
}

static void agent_config_make_templates(struct agent_loading *l)
{
	struct agent_config *c = l->c;
	const struct agent_keys *k = &c->keys;
	const struct template none = { 0 }, parsers = { .text = c->parser->format_error };

	c->system_message = agent_config_template(l, "system_template", k->system_template, none);
	c->task = agent_config_template(l, "task_template", k->task_template, none);
	c->next_step = agent_config_template(
			l, "next_step_template", k->next_step_template, c->task);
	c->no_output = agent_config_template(l, "next_step_no_output_template",
			k->next_step_no_output_template, c->next_step);
	c->strategy = agent_config_template(l, "strategy_template", k->strategy_template, none);
	c->demonstration = agent_config_template(
			l, "demonstration_template", k->demonstration_template, none);
	c->format_error = agent_config_template(
			l, "format_error_template", k->format_error_template, parsers);
	c->blocked = (struct template){ .text = k->tools.blocklist_error_template,
		.at = node_get(node_get(l->root, "tools"), "blocklist_error_template") };
}

static int agent_config_find_kinds(struct agent_loading *l)
{
	struct agent_config *c = l->c;
	struct fh_error why;

	c->parser = output_parser_find(c->keys.output_parser, &why);
	if (!c->parser)
		return node_complain(
				agent_config_at(l, "output_parser"), l->err, "%s", why.message);
	c->processor = history_processor_find(c->keys.history_processor, &why);
	if (!c->processor)
		return node_complain(
				agent_config_at(l, "history_processor"), l->err, "%s", why.message);
	c->args.n = (int)c->keys.history_processor_args.n;
	if (c->processor->takes_n && !c->args.n)
		return node_complain(agent_config_at(l, "history_processor"), l->err,
				"%s needs history_processor_args: {n: ...}", c->processor->name);
	return 0;
}

static int agent_config_check_variables(struct agent_loading *l)
{
	const struct node *map = node_path(l->root, "tools.env_variables");

	for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n; i++) {
		const struct node *key = map->pairs[i].key;
		size_t n = 0;

		while (isalnum((unsigned char)key->text[n]) || key->text[n] == '_')
			n++;
		if (!n || key->text[n] || isdigit((unsigned char)*key->text))
			return node_complain(key, l->err,
					"env_variables: '%s' can't be the name of a variable",
					key->text);
	}
	return 0;
}

/* Makes a configuration's relative path absolute: from the MLGym checkout, if one is used, else
 * from the configuration's folder. */
static const char *agent_config_resolve(struct agent_loading *l, const char *path)
{
	const char *slash = strrchr(l->c->path, '/');

	if (path[0] == '/')
		return path;
	if (l->options->root)
		return arena_printf(&l->c->arena, "%s/%s", l->options->root, path);
	if (!slash)
		return path;
	return arena_printf(&l->c->arena, "%.*s/%s", (int)(slash - l->c->path), l->c->path, path);
}

static bool agent_config_lies_in(const char *real, const char *folder)
{
	auto_free char *root = folder ? realpath(folder, NULL) : NULL;

	return root && path_is_within(real, root);
}

/* Refuses a file outside of the allowed folders, if a record chose the configuration. Links are
 * resolved. A missing file is not an error here: reading it fails later. */
static int agent_config_check_place(struct agent_loading *l, const char *key, const char *path)
{
	auto_free char *real = realpath(path, NULL);
	auto_free char *own = path_dirname(l->c->path);
	auto_free char *installed = xasprintf("%s/agents", places_get()->share_dir);
	struct stat st;
	/* true: anyone may write files into the configuration's folder, as into /tmp */
	bool is_shared = stat(own, &st) == 0 && (st.st_mode & S_IWOTH);

	if (!l->options->recorded || !real || (agent_config_lies_in(real, own) && !is_shared) ||
			agent_config_lies_in(real, installed) ||
			agent_config_lies_in(real, l->options->own_root))
		return 0;
	return node_complain(agent_config_at(l, key), l->err,
			"'%s' lies outside of the folder of the configuration, which an "
			"untrusted record chose. To allow it, give --agent %s, or "
			"--mlgym-root with its checkout",
			path, l->c->path);
}

static int agent_config_load_files(struct agent_loading *l)
{
	const struct texts *names = &l->c->keys.tools.command_files;
	const struct node *list = node_path(l->root, "tools.command_files");
	struct agent_config *c = l->c;
	struct fh_error why;

	if (names->n > CONFIG_FILES_MAX)
		return node_complain(agent_config_at(l, "tools.command_files"), l->err,
				"more than %d command files", CONFIG_FILES_MAX);
	c->files = arena_array(&c->arena, names->n + 1, sizeof(*c->files));
	for (size_t i = 0; i < names->n; i++) {
		const char *path = agent_config_resolve(l, names->items[i]);
		int r = agent_config_check_place(l, "tools.command_files", path);

		if (r < 0)
			return r;
		r = command_file_load(&c->arena, path, &c->files[i], &why);
		if (r < 0 && list && list->kind == NODE_LIST && i < list->n)
			return node_complain(
					list->items[i], l->err, "command_files: %s", why.message);
		if (r < 0) {
			*l->err = why;
			return r;
		}
		c->n_files++;
	}
	return 0;
}

/* Collects the commands of all files. The first item is a made-up file with Fumehood's own
 * commands. */
static int agent_config_gather(struct agent_loading *l, struct command_file *out_all, size_t *out_n)
{
	struct agent_config *c = l->c;
	struct commands own;
	struct agent_command *items;
	size_t n = 0;
	int r = native_commands(&c->arena, &c->keys.tools.native, &own, l->err);

	if (r < 0)
		return node_complain(
				agent_config_at(l, "tools.native"), l->err, "%s", l->err->message);
	out_all[0] = (struct command_file){
		.path = c->path, .commands = own.items, .n_commands = own.n
	};
	memcpy(&out_all[1], c->files, c->n_files * sizeof(*c->files));
	*out_n = c->n_files + 1;
	items = arena_array(&c->arena, own.n + c->n_files * COMMANDS_MAX + 1, sizeof(*items));
	for (size_t i = 0; i < *out_n; i++)
		for (size_t j = 0; j < out_all[i].n_commands; j++)
			items[n++] = out_all[i].commands[j];
	for (size_t i = 0; i < n && c->parser->wants_tools; i++)
		command_fit(&c->arena, &items[i]);
	c->commands = (struct commands){ items, n };
	return 0;
}

static int agent_config_load_commands(struct agent_loading *l)
{
	auto_buf struct buf docs = BUF_INIT(DOCS_BYTES_MAX);
	struct command_file all[CONFIG_FILES_MAX + 1];
	const struct tools_config *tools = &l->c->keys.tools;
	size_t n = 0;
	int r = agent_config_load_files(l);

	if (r < 0)
		return r;
	r = agent_config_gather(l, all, &n);
	if (r < 0)
		return r;
	r = command_docs_add(&docs, (enum command_docs)tools->parser, all, n, &tools->env_variables,
			l->err);
	if (r < 0)
		return r;
	l->c->command_docs = arena_strdup(&l->c->arena, buf_str(&docs));
	return 0;
}

static int agent_config_resolve_demonstrations(struct agent_loading *l)
{
	struct texts *demos = &l->c->keys.demonstrations;
	const char **own = arena_array(&l->c->arena, demos->n + 1, sizeof(*own));

	for (size_t i = 0; i < demos->n; i++) {
		own[i] = agent_config_resolve(l, demos->items[i]);
		if (agent_config_check_place(l, "demonstrations", own[i]) < 0)
			return -EINVAL;
	}
	demos->items = own;
	return 0;
}

/* Adds the hash of a file. For a file that can't be read it adds a mark: loading the file fails
 * later. */
static void agent_config_hash_file(struct sha256 *h, const char *path)
{
	char hex[SHA256_HEX_BYTES];

	sha256_add_str(h, sha256_file(path, hex, NULL) < 0 ? NULL : hex);
}

static void agent_config_hash(struct agent_config *c)
{
	struct sha256 h;

	sha256_init(&h);
	agent_config_hash_file(&h, c->path);
	for (size_t i = 0; i < c->n_files; i++) {
		const struct command_file *f = &c->files[i];

		sha256_add_str(&h, f->name);
		sha256_add(&h, &f->n_contents, sizeof(f->n_contents));
		sha256_add(&h, f->contents, f->n_contents);
	}
	for (size_t i = 0; i < c->keys.demonstrations.n; i++)
		agent_config_hash_file(&h, c->keys.demonstrations.items[i]);
	sha256_end_hex(&h, c->hash);
}

static int agent_config_read(struct agent_loading *l)
{
	struct agent_config *c = l->c;
	const struct agent_keys *k = &c->keys;
	int r = yaml_load(&c->arena, c->path, &l->root, l->err);

	if (r < 0)
		return r;
	r = schema_read(&c->arena, &agent_schema, l->root, l->options->warnings, &c->keys, l->err);
	if (r < 0)
		return r;
	r = agent_config_find_kinds(l);
	if (r < 0)
		return r;
	if (k->demonstrations.n && !k->put_demos_in_history && !k->demonstration_template)
		return node_complain(agent_config_at(l, "demonstrations"), l->err,
				"demonstrations need a demonstration_template, or put_demos_in_history: true");
	r = agent_config_check_variables(l);
	if (r < 0)
		return r;
	r = agent_config_load_commands(l);
	if (r < 0)
		return r;
	return agent_config_resolve_demonstrations(l);
}

int agent_config_load(const struct agent_config_options *o, struct agent_config **out,
		struct fh_error *err)
{
	__attribute__((cleanup(scope_config))) struct agent_config *c = xcalloc(1, sizeof(*c));
	struct agent_loading l = { .options = o, .c = c, .err = err };
	int r = agent_config_find(o, &c->path, err);
	const char *name, *dot;

	if (r < 0)
		return r;
	name = path_basename(c->path);
	dot = strrchr(name, '.');
	c->stem = xstrndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
	c->original_tools = o->original_tools;
	if (o->spec && agent_config_is_path(o->spec)) {
		r = path_absolute(c->path, &c->place, err);
		if (r < 0)
			return r;
	}
	r = agent_config_read(&l);
	if (r < 0)
		return r;
	agent_config_make_templates(&l);
	agent_config_hash(c);
	*out = take_ptr(c);
	return 0;
}

/* --- questions -------------------------------------------------------------------------------- */

static bool agent_config_holds(const struct texts *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->items[i], word))
			return true;
	return false;
}

bool agent_config_blocks(const struct agent_config *c, const char *action, struct arena *a,
		const char **out_name)
{
	const char *whole = pytext_strip(a, action, strlen(action));
	size_t n;
	const char *word = pytext_first_word(whole, &n);

	*out_name = arena_strndup(a, word, n);
	return n &&
			(agent_config_holds(&c->keys.tools.blocklist, *out_name) ||
					(agent_config_holds(&c->keys.tools.blocklist_standalone,
							 *out_name) &&
							str_eq(*out_name, whole)));
}

bool agent_config_needs_web(const struct agent_config *c)
{
	return commands_find(&c->commands, "literature_search") ||
			commands_find(&c->commands, "parse_pdf_url");
}
