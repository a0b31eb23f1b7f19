/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node.h"

#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct node *node_get(const struct node *node, const char *key)
{
	if (!node || node->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < node->n; i++)
		if (str_eq(node->pairs[i].key->text, key))
			return node->pairs[i].value;
	return NULL;
}

const struct node *node_path(const struct node *root, const char *path)
{
	while (*path) {
		char key[128];
		size_t n = strcspn(path, ".");
		const struct node *next;

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		next = node_get(root, key);
		if (!next)
			break;
		root = next;
		path += n + (path[n] == '.');
	}
	return root;
}

static bool node_is_one_of(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(text, words[i]))
			return true;
	return false;
}

static bool node_text_is_null(const char *text)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	return node_is_one_of(text, words, ARRAY_SIZE(words));
}

static bool node_text_to_bool(const char *text, bool *out)
{
	static const char *const yes[] = { "true", "True", "TRUE" };
	static const char *const no[] = { "false", "False", "FALSE" };

	*out = node_is_one_of(text, yes, ARRAY_SIZE(yes));
	return *out || node_is_one_of(text, no, ARRAY_SIZE(no));
}

bool node_is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && node->plain && node_text_is_null(node->text);
}

bool node_to_bool(const struct node *node, bool *out)
{
	bool value;

	if (node->kind != NODE_SCALAR || !node->plain || !node_text_to_bool(node->text, &value))
		return false;
	*out = value;
	return true;
}

void node_describe(const struct node *node, char *text, size_t n)
{
	bool truth;

	if (node->kind == NODE_LIST)
		snprintf(text, n, "a list");
	else if (node->kind == NODE_MAP)
		snprintf(text, n, "a mapping");
	else if (node_is_null(node))
		snprintf(text, n, "nothing");
	else if (node_to_bool(node, &truth))
		snprintf(text, n, "the boolean %s", truth ? "true" : "false");
	else
		snprintf(text, n, "'%.40s'%s", node->text, strlen(node->text) > 40 ? "..." : "");
}

int node_complain(const struct node *at, struct fh_error *err, const char *format, ...)
{
	char message[FH_ERROR_MESSAGE_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	return error_say(err, EINVAL, "%s:%d:%d: %s", at->file, at->line, at->column, message);
}

const struct node *node_overlay(struct arena *a, const struct node *base, const struct node *over)
{
	struct node_pair *pairs;
	struct node *node;
	size_t n;

	if (!base || base->kind != NODE_MAP || over->kind != NODE_MAP)
		return over;
	pairs = arena_array(a, base->n + over->n, sizeof(*pairs));
	for (n = 0; n < base->n; n++) {
		const struct node *value = node_get(over, base->pairs[n].key->text);

		pairs[n] = base->pairs[n];
		if (value)
			pairs[n].value = node_overlay(a, pairs[n].value, value);
	}
	for (size_t i = 0; i < over->n; i++)
		if (!node_get(base, over->pairs[i].key->text))
			pairs[n++] = over->pairs[i];
	node = arena_alloc(a, sizeof(*node));
	*node = *base;
	node->file = over->file;
	node->line = over->line;
	node->column = over->column;
	node->pairs = pairs;
	node->n = n;
	return node;
}

/* --- printing --------------------------------------------------------------------------------- */

/* True if text needs no quotes in YAML: it is one line, and no reader takes it for another type. */
static bool node_can_be_plain(const char *text)
{
	/* Booleans of YAML 1.1: other programs would read these words as true or false. */
	static const char *const words[] = { "yes", "Yes", "YES", "no", "No", "NO", "on", "On",
		"ON", "off", "Off", "OFF", "y", "Y", "n", "N" };
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-./+ ";
	size_t n = strlen(text);
	double number;
	bool truth;

	if (strspn(text, safe) != n || !n || strchr("-+. ", text[0]) || text[n - 1] == ' ')
		return false;
	return !node_text_is_null(text) && !node_text_to_bool(text, &truth) &&
			!str_to_double(text, &number) &&
			!node_is_one_of(text, words, ARRAY_SIZE(words));
}

/* True if a YAML block ("|") keeps the text unchanged: it is printable, and no blanks begin or end
 * it. */
static bool node_can_be_block(const char *text)
{
	size_t n = strlen(text);

	if (!strchr(text, '\n') || strchr(" \t\n", text[0]))
		return false;
	if (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
		return false;
	for (size_t length; *text; text += length) {
		uint32_t c = str_utf8_decode(text, &length);

		if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
				c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
			return false;
	}
	return true;
}

static void node_print_block(struct buf *out, const char *text, int indent)
{
	indent = indent ? indent : 2;
	buf_add_str(out, str_ends(text, "\n") ? "|" : "|-");
	while (*text) {
		int n = (int)strcspn(text, "\n");

		buf_printf(out, n ? "\n%*s%.*s" : "\n", n ? indent : 0, "", n, text);
		text += n;
		text += *text == '\n';
	}
}

static void node_print_quoted(struct buf *out, const char *text)
{
	buf_add_char(out, '"');
	for (size_t length; *text; text += length) {
		uint32_t c = str_utf8_decode(text, &length);

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_add_str(out, "\\n");
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			buf_printf(out, "\\x%02x", c);
		else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
			buf_printf(out, "\\u%04x", c);
		else
			buf_add(out, text, length);
	}
	buf_add_char(out, '"');
}

void node_print_key(struct buf *out, const char *key)
{
	if (node_can_be_plain(key))
		buf_add_str(out, key);
	else
		node_print_quoted(out, key);
}

void node_print_text(struct buf *out, const char *text, int indent)
{
	if (node_can_be_block(text))
		node_print_block(out, text, indent);
	else
		node_print_key(out, text);
}

static void node_print_scalar(struct buf *out, const struct node *node, int indent)
{
	double number;
	bool truth;

	if (node_is_null(node))
		buf_add_str(out, "null");
	else if (node_to_bool(node, &truth) || (node->plain && str_to_double(node->text, &number)))
		/* keep a number or boolean without quotes, which would make it a text */
		buf_add_str(out, node->text);
	else
		node_print_text(out, node->text, indent);
}

void node_print_value(struct buf *out, const struct node *node, int indent)
{
	buf_add_char(out, node->kind == NODE_SCALAR || !node->n ? ' ' : '\n');
	node_print(out, node, indent);
}

void node_print(struct buf *out, const struct node *node, int indent)
{
	if (node->kind == NODE_SCALAR) {
		node_print_scalar(out, node, indent);
		buf_add_char(out, '\n');
		return;
	}
	if (!node->n)
		buf_add_str(out, node->kind == NODE_LIST ? "[]\n" : "{}\n");
	for (size_t i = 0; i < node->n; i++) {
		buf_printf(out, "%*s", indent, "");
		if (node->kind == NODE_LIST) {
			buf_add_char(out, '-');
			node_print_value(out, node->items[i], indent + 2);
		} else {
			node_print_key(out, node->pairs[i].key->text);
			buf_add_char(out, ':');
			node_print_value(out, node->pairs[i].value, indent + 2);
		}
	}
}
