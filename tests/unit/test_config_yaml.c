/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const struct node *parse(struct arena *a, const char *text)
{
	struct fh_error err = FH_ERROR_INIT;
	const struct node *root = NULL;

	if (yaml_parse(a, "f.yaml", text, strlen(text), &root, &err) < 0)
		fail_msg("%s", err.message);
	return root;
}

/* Expects that a YAML text is refused, with an error whose message begins with `expected`. */
static void refuse(const char *text, size_t n, const char *expected)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const struct node *root = NULL;

	if (yaml_parse(&a, "f.yaml", text, n, &root, &err) >= 0)
		fail_msg("'%.60s' was taken", text);
	assert_null(root);
	if (!str_starts(err.message, expected))
		fail_msg("'%s' does not begin with '%s'", err.message, expected);
}

static void test_places(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *root = parse(&a, "# first\nname: x\n\nlist:\n  - 1\n  - {k: 'v'}\n");
	const struct node *k = node_path(root, "list")->items[1]->pairs[0].value;

	(void)state;
	assert_int_equal(root->kind, NODE_MAP);
	assert_int_equal(root->pairs[1].key->line, 4);
	assert_int_equal(root->pairs[1].key->column, 1);
	assert_string_equal(k->file, "f.yaml");
	assert_int_equal(k->line, 6);
	assert_int_equal(k->column, 9);
	assert_string_equal(k->text, "v");
	assert_false(k->plain);
	assert_true(node_get(root, "name")->plain);
}

static void test_scalars(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *root = parse(&a,
			"none:\ntilde: ~\nnull: null\nquoted: 'null'\nyes: true\nno: \"false\"\n"
			"tagged: !!str true\nblock: |\n  one\n  two\nfolded: >-\n  a\n  b\n");
	bool truth = false;

	(void)state;
	assert_true(node_is_null(node_get(root, "none")));
	assert_true(node_is_null(node_get(root, "tilde")));
	assert_true(node_is_null(node_get(root, "null")));
	assert_false(node_is_null(node_get(root, "quoted")));
	assert_true(node_to_bool(node_get(root, "yes"), &truth) && truth);
	assert_false(node_to_bool(node_get(root, "no"), &truth));
	assert_false(node_to_bool(node_get(root, "tagged"), &truth));
	assert_string_equal(node_get(root, "block")->text, "one\ntwo\n");
	assert_string_equal(node_get(root, "folded")->text, "a b");
	assert_null(node_get(root, "other"));
	assert_null(node_get(node_get(root, "none"), "x"));
}

static void test_paths(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *root = parse(&a, "a:\n  b:\n    c: 1\n");

	(void)state;
	assert_string_equal(node_path(root, "a.b.c")->text, "1");
	assert_ptr_equal(node_path(root, "a.x.c"), node_get(root, "a"));
	assert_ptr_equal(node_path(root, ""), root);
}

static void test_nothing(void **state)
{
	static const char *const texts[] = { "", "\n\n", "# only a comment\n", "---\n", "~" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_arena struct arena a = ARENA_INIT;

		assert_true(node_is_null(parse(&a, texts[i])));
	}
}

static void test_anchors(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *root = parse(&a, "one: &x {k: 1}\ntwo: *x\nthree: &x 3\nfour: *x\n");

	(void)state;
	assert_ptr_equal(node_get(root, "two"), node_get(root, "one"));
	assert_string_equal(node_get(root, "four")->text, "3");
	assert_int_equal(root->n_nodes, 1 + 4 + 2 * 3 + 2);
}

static void test_merge_keys(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *root = parse(&a,
			"base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n"
			"one:\n  <<: *base\n  a: 9\n"
			"two:\n  a: 9\n  <<: [*more, *base]\n"
			"three:\n  '<<': 5\n"
			"four:\n  <<: {d: 1}\n");
	auto_buf struct buf out = BUF_INIT(1000);

	(void)state;
	node_print(&out, node_get(root, "one"), 0);
	assert_string_equal(buf_str(&out), "a: 9\nb: 2\n");
	buf_clear(&out);
	node_print(&out, node_get(root, "two"), 0);
	assert_string_equal(buf_str(&out), "a: 9\nb: 3\nc: 4\n");
	assert_string_equal(node_path(root, "three.<<")->text, "5");
	assert_string_equal(node_path(root, "four.d")->text, "1");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		size_t n; /* 0: strlen */
		const char *error;
	} cases[] = {
		{ "a: 1\nb: 2\na: 3\n", 0, "f.yaml:3:1: key 'a' is given twice, first in line 1" },
		{ "a: 1\n---\nb: 2\n", 0, "f.yaml:2:1: a second document" },
		{ "a: [1, 2\n", 0, "f.yaml:2:1: a list in [...] lacks a comma or its end" },
		{ "a: {b: 1\n", 0, "f.yaml:2:1: an object in {...} lacks a comma or its end" },
		{ "a: b: c\n", 0, "f.yaml:1:5: no key can be here" },
		{ "a: @b\n", 0, "f.yaml:1:4: no value begins with this character" },
		{ "a: 1\n b: 2\n", 0, "f.yaml:2:3: no key can be here" },
		{ "a:\n  b: 1\n c: 2\n", 0, "f.yaml:3:2: a key should be here" },
		{ "a: 1\nb\n", 0, "f.yaml:3:1: a key lacks its colon" },
		{ "a: \"x\n", 0, "f.yaml:2:1: a text in quotes lacks its end" },
		{ "a:\n\tb: 1\n", 0, "f.yaml:2:1: a tab: YAML is indented with spaces" },
		{ "\ta: 1\n", 0, "f.yaml:1:1: a tab: YAML is indented with spaces" },
		{ "a: *none\n", 0, "f.yaml:1:4: an alias of an unknown anchor" },
		{ "a: &x [1, *x]\n", 0, "f.yaml:1:11: an alias inside of its own anchor" },
		{ "&x a: *x\nb: &y\n  c: *y\n", 0,
				"f.yaml:3:6: an alias inside of its own anchor" },
		{ "? [1]\n: 2\n", 0, "f.yaml:1:3: a key must be text" },
		{ "a: !!int 3\n", 0,
				"f.yaml:1:4: tags, such as !!int, are not supported: remove it" },
		{ "a: !x {}\n", 0,
				"f.yaml:1:4: tags, such as !!int, are not supported: remove it" },
		{ "a: !!python/object/apply:os.system ['true']\n", 0, "f.yaml:1:4: tags" },
		{ "a: \"x\\0y\"\n", 0, "f.yaml:1:4: a NUL character" },
		{ "a: x\0y\n", 7, "f.yaml:1:5: " },
		{ "a: 1\nb: \xff\n", 0, "f.yaml:2:4: " },
		{ "a: \xc3\n", 0, "f.yaml:1:5: " },
		{ "\xff\xfe"
		  "a\0:\0",
				6, "f.yaml:1:1: " }, /* UTF-16 */
		{ "<<: 3\n", 0, "f.yaml:1:5: '<<' takes a mapping or a list of mappings" },
		{ "<<: [[{a: 1}]]\n", 0, "f.yaml:1:6: '<<' takes a mapping or a list of mappings" },
		{ "a: 'x\n", 0, "f.yaml:" },
		{ "%YAML 3.0\n---\na\n", 0, "f.yaml:1:1: " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refuse(cases[i].text, cases[i].n ? cases[i].n : strlen(cases[i].text),
				cases[i].error);
}

/* --- hostile files ---------------------------------------------------------------------------- */

static void add_times(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add_str(out, text);
}

/* Makes a YAML bomb: a list of ten references to a list of ten references, and so on. A few hundred
 * bytes stand for a billion items. */
static void add_laughs(struct buf *out, const char *first)
{
	buf_printf(out, "a0: &a0 %s\n", first);
	for (int i = 1; i < 10; i++) {
		buf_printf(out, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			buf_printf(out, "%s*a%d", j ? ", " : "", i - 1);
		buf_add_str(out, "]\n");
	}
}

static void add_merges(struct buf *out)
{
	buf_add_str(out, "a: &a {");
	for (int i = 0; i < 1000; i++)
		buf_printf(out, "k%d: 1,", i);
	buf_add_str(out, "}\nb:\n  <<: [");
	add_times(out, "*a,", 5000);
	buf_add_str(out, "]\n");
}

static void add_anchors(struct buf *out)
{
	for (int i = 0; i < 1000; i++)
		buf_printf(out, "- &a%d x\n", i);
}

static void add_keys(struct buf *out)
{
	for (int i = 0; i < 5000; i++)
		buf_printf(out, "key%d: 1\n", i);
}

static void test_bombs(void **state)
{
	struct {
		const char *name;
		const char *error;
		struct buf text;
	} bombs[] = {
		{ "laughs", "f.yaml:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "long laughs", "f.yaml:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "deep flow", "f.yaml:1:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "deep maps", "f.yaml:1:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "deep blocks", "f.yaml:1:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "merges", "f.yaml:", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "anchors", "f.yaml:257:3: more than 256 anchors", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "keys", "f.yaml:1025:1: more than 1024 keys", BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "a long key", "f.yaml:1:1: a key that is too long",
				BUF_INIT(YAML_FILE_BYTES_MAX) },
		{ "many nodes", "f.yaml:", BUF_INIT(YAML_FILE_BYTES_MAX) },
	};

	(void)state;
	add_laughs(&bombs[0].text, "lol");
	add_laughs(&bombs[1].text,
			"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]");
	add_times(&bombs[2].text, "[", 500000);
	add_times(&bombs[3].text, "{a: ", 200000);
	add_times(&bombs[4].text, "- ", 500000);
	add_merges(&bombs[5].text);
	add_anchors(&bombs[6].text);
	add_keys(&bombs[7].text);
	add_times(&bombs[8].text, "k", 300);
	buf_add_str(&bombs[8].text, ": 1\n");
	add_times(&bombs[9].text, "- \n", 300000);
	for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
		int64_t start = clock_now_ns();

		refuse(buf_str(&bombs[i].text), bombs[i].text.len, bombs[i].error);
		/* Allow two minutes, for sanitizers on a busy machine. Expanding these files
		 * without a cap would take hours. */
		if (clock_now_ns() - start > 120 * NS_PER_S)
			fail_msg("%s took too long", bombs[i].name);
		buf_release(&bombs[i].text);
	}
}

static void test_aliases_count_where_they_stand(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(100000);
	const struct node *root;

	(void)state;
	/* An anchor nests 40 levels within 30 others. The sum of 70 is above the limit of 64. */
	buf_add_str(&text, "a: &a ");
	add_times(&text, "[", 40);
	add_times(&text, "]", 40);
	root = parse(&a, buf_str(&text));
	assert_int_equal(root->height, 41);
	buf_add_str(&text, "\nb: ");
	add_times(&text, "[", 30);
	buf_add_str(&text, "*a");
	add_times(&text, "]", 30);
	refuse(buf_str(&text), text.len, "f.yaml:1:4: nested deeper than 64");
}

static void test_a_huge_scalar(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(4 * YAML_FILE_BYTES_MAX);

	(void)state;
	buf_add_str(&text, "a: ");
	add_times(&text, "0123456789", 90000);
	assert_int_equal(strlen(node_get(parse(&a, buf_str(&text)), "a")->text), 900000);
	add_times(&text, "0123456789", 90000);
	refuse(buf_str(&text), text.len, "f.yaml: larger than 1048576 bytes");
}

/* --- printing values, and merging one file over another --------------------------------------- */

static void test_printing_reads_back(void **state)
{
	static const char *const texts[] = {
		"a: 1\nb:\n  - x\n  - {c: d, e: [f, g]}\n  - []\n  - {}\nh: ~\ni: 'true'\n",
		"- 'null'\n- ''\n- \" lead\"\n- \"trail \"\n- '- dash'\n- 'a: b'\n- '#x'\n- '12'\n",
		"- |\n  one\n   two\n\n  three\n- |+\n  keep\n\n- |-\n  none\n  here\n- \"\\ttab\\n\"\n",
		"- \"\\x01\\x7f\\x85\\u2028\\ufeff\\U0001f600\\xfc\"\n- \"a\\r\\nb\"\n",
		"'odd key: #': 1\n'': 2\n'true': 3\n? a\n: 4\n",
		"plain\n  over\n\n  lines\n",
		"-1.5e3\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_arena struct arena a = ARENA_INIT;
		auto_buf struct buf once = BUF_INIT(10000);
		auto_buf struct buf twice = BUF_INIT(10000);
		const struct node *first = parse(&a, texts[i]);

		node_print(&once, first, 0);
		node_print(&twice, parse(&a, buf_str(&once)), 0);
		assert_string_equal(buf_str(&once), buf_str(&twice));
		if (first->kind == NODE_LIST)
			for (size_t j = 0; j < first->n; j++)
				if (first->items[j]->kind == NODE_SCALAR)
					assert_string_equal(
							parse(&a, buf_str(&once))->items[j]->text,
							first->items[j]->text);
	}
}

static void test_overlay(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct node *base = parse(&a, "a: 1\nb: {c: 1, d: {e: 1}}\nf: [1, 2]\n");
	const struct node *over = parse(&a, "b: {d: {g: 2}, c: 3}\nf: [3]\nh: 4\n");
	auto_buf struct buf out = BUF_INIT(1000);

	(void)state;
	node_print(&out, node_overlay(&a, base, over), 0);
	assert_string_equal(buf_str(&out),
			"a: 1\nb:\n  c: 3\n  d:\n    e: 1\n    g: 2\nf:\n  - 3\n"
			"h: 4\n");
	buf_clear(&out);
	node_print(&out, base, 0);
	assert_string_equal(buf_str(&out), "a: 1\nb:\n  c: 1\n  d:\n    e: 1\nf:\n  - 1\n  - 2\n");
}

static void test_loading(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const struct node *root = NULL;

	(void)state;
	assert_int_equal(yaml_load(&a, "/nowhere/x.yaml", &root, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nowhere/x.yaml"));
	assert_null(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_merge_keys),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_aliases_count_where_they_stand),
		cmocka_unit_test(test_a_huge_scalar),
		cmocka_unit_test(test_printing_reads_back),
		cmocka_unit_test(test_overlay),
		cmocka_unit_test(test_loading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
