/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/template.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE_NAME_MAX_BYTES 100
#define CANDIDATES_MAX 256

/* --- fields ----------------------------------------------------------------------------------- */

static struct field_value *fields_find(const struct fields *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->items[i].name, name))
			return &f->items[i];
	return NULL;
}

void fields_set(struct fields *f, const char *name, const char *value)
{
	struct field_value *v = fields_find(f, name);

	if (!v) {
		f->items = arena_grow(f->arena, f->items, f->n, sizeof(*f->items));
		v = &f->items[f->n++];
		v->name = arena_strdup(f->arena, name);
	}
	v->value = arena_strdup(f->arena, value);
}

void fields_set_number(struct fields *f, const char *name, long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	fields_set(f, name, text);
}

void fields_add(struct fields *f, const struct fields *more)
{
	for (size_t i = 0; i < more->n; i++)
		fields_set(f, more->items[i].name, more->items[i].value);
}

const char *fields_get(const struct fields *f, const char *name)
{
	const struct field_value *v = fields_find(f, name);

	return v ? v->value : NULL;
}

/* --- rendering -------------------------------------------------------------------------------- */

static int template_complain(const struct template *t, const char *at, struct fh_error *err,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static int template_complain(const struct template *t, const char *at, struct fh_error *err,
		const char *format, ...)
{
	char what[512];
	va_list ap;
	int line;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	if (!t->at)
		return error_say(err, EINVAL, "%s", what);
	/* Count the lines before the error. Only a YAML block has the same lines as its file: other
	 * texts get the number of their first line. */
	line = t->at->line + t->at->block;
	for (const char *s = t->text; s < at && t->at->block; s++)
		line += *s == '\n';
	return error_say(err, EINVAL, "%s:%d: %s", t->at->file, line, what);
}

/* Replaces the field at `at`, which is a "{". *out_end points after its "}". */
static int template_render_field(struct buf *out, const struct template *t, const char *at,
		const char **out_end, const struct fields *fields, struct fh_error *err)
{
	const char *where = fields->state == FIELDS_HAVE_STATE
			? ", and the JSON object that state_command printed has no such member"
			: "";
	size_t n = strcspn(at + 1, "{}\n"), n_names = 0;
	const char *names[CANDIDATES_MAX], *closest, *value;
	char name[TEMPLATE_NAME_MAX_BYTES];

	if (at[1 + n] != '}' || !n || n >= sizeof(name) || strcspn(at + 1, " !:[.") < n)
		return template_complain(t, at, err,
				"expected a field like {name}; write a literal brace twice: {{");
	memcpy(name, at + 1, n);
	name[n] = '\0';
	value = fields_get(fields, name);
	if (value || fields->state == FIELDS_AWAIT_STATE) {
		buf_add_str(out, value ? value : "");
		*out_end = at + n + 2;
		return 0;
	}
	while (n_names < fields->n && n_names < CANDIDATES_MAX) {
		names[n_names] = fields->items[n_names].name;
		n_names++;
	}
	closest = str_closest(name, names, n_names);
	if (closest)
		return template_complain(t, at, err, "unknown field {%s}%s; did you mean {%s}?",
				name, where, closest);
	return template_complain(t, at, err,
			"unknown field {%s}%s (write a literal brace twice: {{)", name, where);
}

int template_render(struct buf *out, const struct template *t, const struct fields *fields,
		struct fh_error *err)
{
	const char *at = t->text ? t->text : "";

	for (;;) {
		size_t n = strcspn(at, "{}");
		int r;

		buf_add(out, at, n);
		at += n;
		if (!*at)
			return 0;
		if (at[0] == at[1]) {
			buf_add_char(out, *at);
			at += 2;
			continue;
		}
		if (*at == '}')
			return template_complain(t, at, err,
					"a } that ends no field; write a literal brace twice: }}");
		r = template_render_field(out, t, at, &at, fields, err);
		if (r < 0)
			return r;
	}
}
