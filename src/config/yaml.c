/* SPDX-License-Identifier: Apache-2.0 */
#include "config/yaml.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

/* An anchor (&name) and its node. The node's n_nodes is 0 until the node is finished. An alias to
 * an unfinished node is an error, because the node would contain itself. */
struct yaml_anchor {
	const char *name;
	const struct node *node;
};

struct yaml_loader {
	yaml_parser_t parser;
	struct arena *arena;
	const char *file;
	const char *text; /* the whole input of n bytes, to find the line of an offset */
	size_t n;
	struct yaml_anchor anchors[YAML_ANCHORS_MAX];
	size_t n_anchors;
	size_t n_merged; /* pairs compared so far for merge keys (`<<`); limited */
	int depth;
	struct fh_error *err;
};

static inline void scope_event(yaml_event_t *event)
{
	yaml_event_delete(event);
}

#define auto_event __attribute__((cleanup(scope_event)))

/* --- errors ----------------------------------------------------------------------------------- */

static int yaml_complain(const struct yaml_loader *l, yaml_mark_t mark, const char *what)
{
	return error_say(l->err, EINVAL, "%s:%zu:%zu: %s", l->file, mark.line + 1, mark.column + 1,
			what);
}

/* Texts to show in place of libyaml's errors, for people who write YAML. */
static const struct {
	const char *problem, *said;
} yaml_problems[] = {
	{ "found character that cannot start any token",
			"no value begins with this character: put the text into quotes" },
	{ "did not find expected node content", "a value is missing here" },
	{ "did not find expected key",
			"a key should be here: is the line indented as the others?" },
	{ "did not find expected '-' indicator",
			"a list's '-' should be here: is the line indented as the others?" },
	{ "did not find expected ',' or ']'", "a list in [...] lacks a comma or its end" },
	{ "did not find expected ',' or '}'", "an object in {...} lacks a comma or its end" },
	{ "mapping values are not allowed in this context",
			"no key can be here: check the indentation, or put the text into quotes" },
	{ "could not find expected ':'", "a key lacks its colon" },
	{ "found unexpected end of stream", "a text in quotes lacks its end" },
};

/* Returns true if a line begins with white space that has a tab. Lines are counted from 0. */
static bool yaml_tab_indents(const struct yaml_loader *l, size_t line)
{
	const char *at = l->text, *end = l->text + l->n;

	while (line > 0 && at < end)
		line -= *at++ == '\n';
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '\t';
}

static const char *yaml_say_problem(const struct yaml_loader *l, size_t line)
{
	const char *problem = l->parser.problem;

	if (!problem)
		return "not YAML";
	if (yaml_tab_indents(l, line))
		return "a tab: YAML is indented with spaces";
	for (size_t i = 0; i < ARRAY_SIZE(yaml_problems); i++)
		if (str_eq(problem, yaml_problems[i].problem))
			return yaml_problems[i].said;
	return problem;
}

/* Reports libyaml's error with line and column. For invalid UTF-8, libyaml gives only an offset. */
static int yaml_complain_parser(const struct yaml_loader *l)
{
	const yaml_parser_t *p = &l->parser;
	yaml_mark_t mark = p->problem_mark;

	if (p->error == YAML_MEMORY_ERROR)
		return error_say(l->err, ENOMEM, "%s: out of memory", l->file);
	if (p->error == YAML_READER_ERROR) {
		mark = (yaml_mark_t){ 0 };
		for (size_t i = 0; i < p->problem_offset; i++) {
			mark.column = l->text[i] == '\n' ? 0 : mark.column + 1;
			mark.line += l->text[i] == '\n';
		}
	}
	return yaml_complain(l, mark, yaml_say_problem(l, mark.line));
}

static int yaml_next_event(struct yaml_loader *l, yaml_event_t *out)
{
	if (!yaml_parser_parse(&l->parser, out))
		return yaml_complain_parser(l);
	return 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static struct node *yaml_new_node(struct yaml_loader *l, enum node_kind kind, yaml_mark_t mark)
{
	struct node *node = arena_alloc(l->arena, sizeof(*node));

	node->kind = kind;
	node->file = l->file;
	node->line = (int)mark.line + 1;
	node->column = (int)mark.column + 1;
	node->height = 1;
	return node;
}

/* Adds a child's size to `sum`, the sizes of its parent so far. The parent's own n_nodes stays 0
 * until it is finished. */
static int yaml_count_child(struct yaml_loader *l, struct node *sum, const struct node *child)
{
	sum->n_nodes += child->n_nodes;
	sum->n_bytes += child->n_bytes;
	if (child->height >= sum->height)
		sum->height = child->height + 1;
	if (sum->n_nodes > YAML_NODES_MAX || sum->n_bytes > YAML_BYTES_MAX)
		return node_complain(child, l->err, "too large, once its aliases are expanded");
	if (l->depth + child->height > YAML_DEPTH_MAX)
		return node_complain(child, l->err, "nested deeper than %d", YAML_DEPTH_MAX);
	return 0;
}

static void yaml_finish(struct node *node, const struct node *sum)
{
	node->height = sum->height;
	node->n_bytes = sum->n_bytes;
	node->n_nodes = sum->n_nodes + 1;
}

/* Makes a node of the tree for an event of libyaml. `tag` and `anchor` may be NULL. */
static int yaml_begin(struct yaml_loader *l, enum node_kind kind, const yaml_event_t *event,
		const yaml_char_t *tag, const yaml_char_t *anchor, struct node **out)
{
	struct node *node = yaml_new_node(l, kind, event->start_mark);

	*out = node;
	if (tag && !str_eq((const char *)tag, YAML_STR_TAG) && !str_eq((const char *)tag, "!"))
		return yaml_complain(l, event->start_mark,
				"tags, such as !!int, are not supported: remove it");
	if (!anchor)
		return 0;
	if (l->n_anchors == YAML_ANCHORS_MAX)
		return node_complain(node, l->err, "more than %d anchors", YAML_ANCHORS_MAX);
	l->anchors[l->n_anchors++] = (struct yaml_anchor){
		.name = arena_strdup(l->arena, (const char *)anchor),
		.node = node,
	};
	return 0;
}

static int yaml_load_alias(
		struct yaml_loader *l, const yaml_event_t *event, const struct node **out)
{
	const char *name = (const char *)event->data.alias.anchor;

	/* A later anchor replaces an earlier one of the same name. */
	for (size_t i = l->n_anchors; i-- > 0;) {
		if (!str_eq(l->anchors[i].name, name))
			continue;
		if (!l->anchors[i].node->n_nodes)
			return yaml_complain(
					l, event->start_mark, "an alias inside of its own anchor");
		*out = l->anchors[i].node;
		return 0;
	}
	return yaml_complain(l, event->start_mark, "an alias of an unknown anchor");
}

static int yaml_load_scalar(
		struct yaml_loader *l, const yaml_event_t *event, const struct node **out)
{
	const char *text = (const char *)event->data.scalar.value;
	yaml_scalar_style_t style = event->data.scalar.style;
	struct node *node;
	int r = yaml_begin(l, NODE_SCALAR, event, event->data.scalar.tag, event->data.scalar.anchor,
			&node);

	if (r < 0)
		return r;
	if (strlen(text) != event->data.scalar.length)
		return node_complain(node, l->err, "a NUL character");
	node->text = arena_strndup(l->arena, text, event->data.scalar.length);
	node->plain = style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag;
	node->block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
	node->n_nodes = 1;
	node->n_bytes = event->data.scalar.length;
	*out = node;
	return 0;
}

static int yaml_load_node(
		struct yaml_loader *l, const yaml_event_t *event, const struct node **out);

/* A growing array for the pairs of a mapping or the items of a list. Items have a NULL key. */
struct yaml_growing {
	struct node_pair *items;
	size_t n;
};

static inline void scope_growing(const struct yaml_growing *g)
{
	free(g->items);
}

#define auto_growing __attribute__((cleanup(scope_growing)))

static void yaml_grow(struct yaml_growing *g, struct node_pair item)
{
	g->items = xgrow(g->items, g->n, sizeof(*g->items));
	g->items[g->n++] = item;
}

static int yaml_load_list(struct yaml_loader *l, const yaml_event_t *start, const struct node **out)
{
	auto_growing struct yaml_growing found = { 0 };
	struct node *node, sum;
	const struct node **items;
	int r = yaml_begin(l, NODE_LIST, start, start->data.sequence_start.tag,
			start->data.sequence_start.anchor, &node);

	if (r < 0)
		return r;
	sum = *node;
	for (;;) {
		auto_event yaml_event_t event = { 0 };
		struct node_pair item = { 0 };

		r = yaml_next_event(l, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			break;
		r = yaml_load_node(l, &event, &item.value);
		if (r < 0)
			return r;
		yaml_grow(&found, item);
		r = yaml_count_child(l, &sum, item.value);
		if (r < 0)
			return r;
	}
	items = arena_array(l->arena, found.n, sizeof(const struct node *));
	for (size_t i = 0; i < found.n; i++)
		items[i] = found.items[i].value;
	node->items = items;
	node->n = found.n;
	yaml_finish(node, &sum);
	*out = node;
	return 0;
}

/* --- mappings --------------------------------------------------------------------------------- */

static const struct node_pair *yaml_find_pair(const struct yaml_growing *pairs, const char *key)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (str_eq(pairs->items[i].key->text, key))
			return &pairs->items[i];
	return NULL;
}

static int yaml_add_pair(struct yaml_loader *l, struct yaml_growing *pairs, struct node *sum,
		struct node_pair pair)
{
	int r;

	if (pairs->n == YAML_KEYS_MAX)
		return node_complain(pair.key, l->err, "more than %d keys", YAML_KEYS_MAX);
	yaml_grow(pairs, pair);
	r = yaml_count_child(l, sum, pair.key);
	return r < 0 ? r : yaml_count_child(l, sum, pair.value);
}

/* Adds the pairs of a merge key (`<<`) whose keys are new. `from` is a map or a list of maps. */
static int yaml_merge(struct yaml_loader *l, struct yaml_growing *pairs, struct node *sum,
		const struct node *from, bool in_list)
{
	if (from->kind == NODE_SCALAR || (in_list && from->kind == NODE_LIST))
		return node_complain(from, l->err, "'<<' takes a mapping or a list of mappings");
	l->n_merged += from->n;
	if (l->n_merged > YAML_NODES_MAX)
		return node_complain(from, l->err, "'<<' merges too many keys");
	for (size_t i = 0; i < from->n; i++) {
		int r = 0;

		if (from->kind == NODE_LIST)
			r = yaml_merge(l, pairs, sum, from->items[i], true);
		else if (!yaml_find_pair(pairs, from->pairs[i].key->text))
			r = yaml_add_pair(l, pairs, sum, from->pairs[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int yaml_load_key(struct yaml_loader *l, const yaml_event_t *event, const struct node **out)
{
	const struct node *key = NULL;
	int r = yaml_load_node(l, event, &key);

	if (r < 0)
		return r;
	if (!key || key->kind != NODE_SCALAR)
		return yaml_complain(l, event->start_mark, "a key must be text");
	if (key->n_bytes > YAML_KEY_BYTES_MAX)
		return yaml_complain(l, event->start_mark, "a key that is too long");
	*out = key;
	return 0;
}

/* Reads a key and its value into `pairs`, or into `merges` if the key is "<<". */
static int yaml_load_pair(struct yaml_loader *l, const yaml_event_t *event,
		struct yaml_growing *pairs, struct yaml_growing *merges, struct node *sum)
{
	auto_event yaml_event_t value_event = { 0 };
	const struct node_pair *same;
	struct node_pair pair = { 0 };
	int r = yaml_load_key(l, event, &pair.key);

	if (r < 0)
		return r;
	r = yaml_next_event(l, &value_event);
	if (r < 0)
		return r;
	r = yaml_load_node(l, &value_event, &pair.value);
	if (r < 0 || !pair.value)
		return r;
	if (pair.key->plain && str_eq(pair.key->text, "<<")) {
		yaml_grow(merges, pair);
		return 0;
	}
	same = yaml_find_pair(pairs, pair.key->text);
	if (same)
		return node_complain(pair.key, l->err, "key '%s' is given twice, first in line %d",
				pair.key->text, same->key->line);
	return yaml_add_pair(l, pairs, sum, pair);
}

static int yaml_load_map(struct yaml_loader *l, const yaml_event_t *start, const struct node **out)
{
	auto_growing struct yaml_growing found = { 0 }, merges = { 0 };
	struct node *node, sum;
	struct node_pair *pairs;
	int r = yaml_begin(l, NODE_MAP, start, start->data.mapping_start.tag,
			start->data.mapping_start.anchor, &node);

	if (r < 0)
		return r;
	sum = *node;
	for (;;) {
		auto_event yaml_event_t event = { 0 };

		r = yaml_next_event(l, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_MAPPING_END_EVENT)
			break;
		r = yaml_load_pair(l, &event, &found, &merges, &sum);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < merges.n; i++) {
		r = yaml_merge(l, &found, &sum, merges.items[i].value, false);
		if (r < 0)
			return r;
	}
	pairs = arena_array(l->arena, found.n, sizeof(*pairs));
	for (size_t i = 0; i < found.n; i++)
		pairs[i] = found.items[i];
	node->pairs = pairs;
	node->n = found.n;
	yaml_finish(node, &sum);
	*out = node;
	return 0;
}

static int yaml_load_node(struct yaml_loader *l, const yaml_event_t *event, const struct node **out)
{
	int r;

	if (event->type == YAML_SCALAR_EVENT)
		return yaml_load_scalar(l, event, out);
	if (event->type == YAML_ALIAS_EVENT)
		return yaml_load_alias(l, event, out);
	if (++l->depth >= YAML_DEPTH_MAX)
		return yaml_complain(l, event->start_mark, "nested too deep");
	r = event->type == YAML_SEQUENCE_START_EVENT ? yaml_load_list(l, event, out)
						     : yaml_load_map(l, event, out);
	l->depth--;
	return r;
}

/* --- documents -------------------------------------------------------------------------------- */

/* Reads the only document of the file. A second document is an error. */
static int yaml_load_document(struct yaml_loader *l, const struct node **out)
{
	bool first = true;

	for (;;) {
		auto_event yaml_event_t event = { 0 };
		int r = yaml_next_event(l, &event);

		if (r < 0)
			return r;
		if (event.type == YAML_STREAM_END_EVENT)
			break;
		if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (event.type == YAML_DOCUMENT_START_EVENT && !first)
			return yaml_complain(l, event.start_mark,
					"a second document: a file can have only one");
		first = false;
		if (event.type == YAML_DOCUMENT_START_EVENT)
			continue;
		r = yaml_load_node(l, &event, out);
		if (r < 0)
			return r;
	}
	return 0;
}

int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
		const struct node **out, struct fh_error *err)
{
	struct yaml_loader l = { .arena = a, .text = text, .n = n, .err = err };
	const struct node *root = NULL;
	int r;

	l.file = arena_strdup(a, file);
	if (n > YAML_FILE_BYTES_MAX)
		return error_say(err, EFBIG, "%s: larger than %d bytes", file, YAML_FILE_BYTES_MAX);
	if (!yaml_parser_initialize(&l.parser))
		return error_say(err, ENOMEM, "%s: out of memory", file);
	/* Set the encoding: a byte order mark could switch libyaml to UTF-16, and make our offsets
	 * wrong. */
	yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, n);
	r = yaml_load_document(&l, &root);
	yaml_parser_delete(&l.parser);
	if (r < 0)
		return r;
	if (!root) {
		struct node *nothing = yaml_new_node(&l, NODE_SCALAR, (yaml_mark_t){ 0 });

		nothing->text = "";
		nothing->plain = true;
		root = nothing;
	}
	*out = root;
	return 0;
}

int yaml_load(struct arena *a, const char *path, const struct node **out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(YAML_FILE_BYTES_MAX);
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	return yaml_parse(a, path, buf_str(&text), text.len, out, err);
}
