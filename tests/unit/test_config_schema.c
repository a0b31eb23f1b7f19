/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "config/schema.h"
#include "config/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* A struct for tests, with a field of each kind that a configuration can have. */
struct wheel {
	const char *name;
	int64_t spokes;
};

struct cart {
	const char *text;
	bool flag;
	int64_t count;
	double ratio;
	int64_t size, time_ms;
	enum { RED, GREEN } colour;
	struct texts words;
	struct text_map names;
	struct wheel wheel;
	struct struct_list wheels;
	const struct node *rest;
};

static const struct field wheel_fields[] = {
	{ "name", FIELD_TEXT, offsetof(struct wheel, name), "what it is called", .required = true },
	{ "spokes", FIELD_INT, offsetof(struct wheel, spokes), "how many", .preset = "12" },
	{},
};

static const struct schema wheel_schema = {
	.name = "wheel",
	.size = sizeof(struct wheel),
	.fields = wheel_fields,
};

static const char *const colours[] = { "red", "green", NULL };

#define FIELD(f) offsetof(struct cart, f)
static const struct field cart_fields[] = {
	{ "text", FIELD_TEXT, FIELD(text), "some text", .preset = "hello" },
	{ "flag", FIELD_BOOL, FIELD(flag), "yes or no", .preset = "true" },
	{ "count", FIELD_INT, FIELD(count), "how many", .preset = "3", .min = 1, .max = 10 },
	{ "ratio", FIELD_NUMBER, FIELD(ratio), "how much", .min = -1, .max = 1 },
	{ "size", FIELD_BYTES, FIELD(size), "how large", .preset = "1M", .min = 1024,
			.max = 1 << 30 },
	{ "time", FIELD_DURATION, FIELD(time_ms), "how long", .preset = "90s" },
	{ "colour", FIELD_CHOICE, FIELD(colour), "which", .preset = "green", .choices = colours },
	{ "words", FIELD_TEXTS, FIELD(words), "a list" },
	{ "names", FIELD_TEXT_MAP, FIELD(names), "a mapping" },
	{ "wheel", FIELD_STRUCT, FIELD(wheel), "the spare one", .schema = &wheel_schema },
	{ "wheels", FIELD_STRUCTS, FIELD(wheels), "the others", .schema = &wheel_schema },
	{ "rest", FIELD_NODE, FIELD(rest), "anything" },
	{},
};
#undef FIELD

static const struct schema cart_schema = {
	.name = "cart",
	.help = "What is drawn.",
	.size = sizeof(struct cart),
	.fields = cart_fields,
};

static int read_cart(struct arena *a, const char *text, struct warnings *warnings, struct cart *out,
		struct fh_error *err)
{
	const struct node *root = NULL;
	int r = yaml_parse(a, "c.yaml", text, strlen(text), &root, err);

	return r < 0 ? r : schema_read(a, &cart_schema, root, warnings, out, err);
}

static const char full[] = "text: x\n"
			   "flag: false\n"
			   "count: 10\n"
			   "ratio: -0.5\n"
			   "size: 2M\n"
			   "time: 1.5m\n"
			   "colour: red\n"
			   "words: [a, 5, 'true']\n"
			   "names: {k: v, l: 1}\n"
			   "wheel: {name: spare}\n"
			   "wheels: [{name: w1, spokes: 4}, {name: w2}]\n"
			   "rest: {x: [1]}\n";

static void test_all_kinds(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const struct wheel *wheels;
	struct cart c = { 0 };

	(void)state;
	if (read_cart(&a, full, NULL, &c, &err) < 0 || !c.words.items || !c.names.pairs ||
			!c.wheels.items) {
		fail_msg("%s", err.message);
		return;
	}
	assert_string_equal(c.text, "x");
	assert_false(c.flag);
	assert_int_equal(c.count, 10);
	assert_true(c.ratio == -0.5);
	assert_int_equal(c.size, 2097152);
	assert_int_equal(c.time_ms, 90000);
	assert_int_equal(c.colour, RED);
	assert_int_equal(c.words.n, 3);
	assert_string_equal(c.words.items[1], "5");
	assert_string_equal(c.words.items[2], "true");
	assert_null(c.words.items[3]);
	assert_int_equal(c.names.n, 2);
	assert_string_equal(c.names.pairs[1].key, "l");
	assert_string_equal(c.names.pairs[1].value, "1");
	assert_string_equal(c.wheel.name, "spare");
	assert_int_equal(c.wheel.spokes, 12);
	wheels = c.wheels.items;
	assert_int_equal(c.wheels.n, 2);
	assert_int_equal(wheels[0].spokes, 4);
	assert_string_equal(wheels[1].name, "w2");
	assert_int_equal(wheels[1].spokes, 12);
	assert_string_equal(node_path(c.rest, "x")->items[0]->text, "1");
}

static void test_presets(void **state)
{
	static const char *const texts[] = { "{}", "text: ~\nflag:\ncount: null\nwheels:\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct cart c = { 0 };

		assert_int_equal(read_cart(&a, texts[i], NULL, &c, NULL), 0);
		assert_string_equal(c.text, "hello");
		assert_true(c.flag);
		assert_int_equal(c.count, 3);
		assert_true(c.ratio == 0);
		assert_int_equal(c.size, 1048576);
		assert_int_equal(c.time_ms, 90000);
		assert_int_equal(c.colour, GREEN);
		assert_int_equal(c.words.n, 0);
		assert_null(c.wheel.name);
		assert_int_equal(c.wheel.spokes, 12);
		assert_int_equal(c.wheels.n, 0);
		assert_null(c.rest);
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "coutn: 3\n", "c.yaml:1:1: key 'coutn': unknown key; did you mean 'count'?" },
		{ "zzz: 3\n",
				"c.yaml:1:1: key 'zzz': unknown key of cart; there are: text, flag, "
				"count, ratio, size, time, colour, words, names, wheel, wheels, rest" },
		{ "text: [a]\n", "c.yaml:1:7: 'text': expected text, found a list" },
		{ "text: true\n",
				"c.yaml:1:7: 'text': expected text (put it in quotes), found the "
				"boolean true" },
		{ "flag: 'true'\n", "c.yaml:1:7: 'flag': expected true or false, found 'true'" },
		{ "flag: yes\n", "c.yaml:1:7: 'flag': expected true or false, found 'yes'" },
		{ "text: a\ncount: 2.5\n",
				"c.yaml:2:8: 'count': expected an integer, found '2.5'" },
		{ "count: 0\n", "c.yaml:1:8: 'count': 0 is not from 1 to 10" },
		{ "count: 11\n", "c.yaml:1:8: 'count': 11 is not from 1 to 10" },
		{ "ratio: x\n", "c.yaml:1:8: 'ratio': expected a number, found 'x'" },
		{ "ratio: 1.5\n", "c.yaml:1:8: 'ratio': 1.5 is not from -1 to 1" },
		{ "ratio: .nan\n", "c.yaml:1:8: 'ratio': expected a number, found '.nan'" },
		{ "size: big\n",
				"c.yaml:1:7: 'size': expected a size like 512M or 2G, of less than 8 EiB, "
				"found 'big'" },
		{ "size: 1k\nsize2: 1\n",
				"c.yaml:2:1: key 'size2': unknown key; did you mean "
				"'size'?" },
		{ "size: 1\n", "c.yaml:1:7: 'size': 1 is not from 1k to 1G" },
		{ "time: -1\n",
				"c.yaml:1:7: 'time': expected a duration like 90s, 5m or 1h, the "
				"shortest 1ms, found '-1'" },
		{ "colour: blue\n",
				"c.yaml:1:9: 'colour': expected one of 'red', 'green', found "
				"'blue'" },
		{ "words: a\n", "c.yaml:1:8: 'words': expected a list, found 'a'" },
		{ "words: [a, [b]]\n", "c.yaml:1:12: 'words': expected text, found a list" },
		{ "words: [a, ~]\n", "c.yaml:1:12: 'words': expected text, found nothing" },
		{ "names: [a]\n", "c.yaml:1:8: 'names': expected a mapping, found a list" },
		{ "wheel: 3\n", "c.yaml:1:8: 'wheel': expected a mapping, found '3'" },
		{ "wheel: {}\n", "c.yaml:1:8: wheel: key 'name' is missing" },
		{ "wheel: {name: ~}\n", "c.yaml:1:15: wheel: key 'name' is missing" },
		{ "wheels: {}\n", "c.yaml:1:9: 'wheels': expected a list, found a mapping" },
		{ "wheels: [{name: a}, 3]\n", "c.yaml:1:21: wheel: expected a mapping, found '3'" },
		{ "wheels: [{name: a, spoks: 3}]\n",
				"c.yaml:1:20: key 'spoks': unknown key; did you "
				"mean 'spokes'?" },
		{ "- 1\n", "c.yaml:1:1: cart: expected a mapping, found a list" },
		{ "", "c.yaml:1:1: cart: expected a mapping, found nothing" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct fh_error err = FH_ERROR_INIT;
		struct cart c = { .count = 77 };

		assert_int_equal(read_cart(&a, cases[i].text, NULL, &c, &err), -EINVAL);
		assert_string_equal(err.message, cases[i].error);
		assert_int_equal(c.count, 77);
		assert_int_equal(read_cart(&a, cases[i].text, NULL, &c, NULL), -EINVAL);
	}
}

static void test_lenient(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct warnings warnings = { 0 };
	struct cart c = { 0 };

	(void)state;
	assert_int_equal(read_cart(&a, "coutn: 3\ntext: a\nwheel: {name: b, more: 1}\n", &warnings,
					 &c, NULL),
			0);
	assert_string_equal(c.text, "a");
	assert_int_equal(warnings.n, 2);
	assert_string_equal(warnings.items[0],
			"c.yaml:1:1: key 'coutn': unknown key; did you mean 'count'?");
	assert_string_equal(warnings.items[1],
			"c.yaml:3:18: key 'more': unknown key of wheel, ignored");
	/* A wrong value is an error even where an unknown key is only a warning. */
	assert_int_equal(read_cart(&a, "count: x\n", &warnings, &c, NULL), -EINVAL);
}

static void test_many_warnings(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(10000);
	struct warnings warnings = { 0 };
	struct cart c = { 0 };

	(void)state;
	for (int i = 0; i < 200; i++)
		buf_printf(&text, "unknown%d: 1\n", i);
	assert_int_equal(read_cart(&a, buf_str(&text), &warnings, &c, NULL), 0);
	assert_int_equal(warnings.n, ARRAY_SIZE(warnings.items));
}

static void test_printing(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf once = BUF_INIT(10000);
	auto_buf struct buf twice = BUF_INIT(10000);
	struct cart c = { 0 };

	(void)state;
	assert_int_equal(read_cart(&a, full, NULL, &c, NULL), 0);
	schema_print(&once, &cart_schema, &c);
	assert_string_equal(buf_str(&once),
			"text: x\n"
			"flag: false\n"
			"count: 10\n"
			"ratio: -0.5\n"
			"size: 2M\n"
			"time: 90s\n"
			"colour: red\n"
			"words:\n"
			"  - a\n"
			"  - \"5\"\n"
			"  - \"true\"\n"
			"names:\n"
			"  k: v\n"
			"  l: \"1\"\n"
			"wheel:\n"
			"  name: spare\n"
			"  spokes: 12\n"
			"wheels:\n"
			"  -\n"
			"    name: w1\n"
			"    spokes: 4\n"
			"  -\n"
			"    name: w2\n"
			"    spokes: 12\n"
			"rest:\n"
			"  x:\n"
			"    - 1\n");
	assert_int_equal(read_cart(&a, buf_str(&once), NULL, &c, NULL), 0);
	schema_print(&twice, &cart_schema, &c);
	assert_string_equal(buf_str(&once), buf_str(&twice));
}

/* A number that is 0 though its range begins at 1 was not given: it is printed as null. */
static void test_printing_no_number(void **state)
{
	static const struct field fields[] = { { "n", FIELD_INT, 0, "", .min = 1, .max = 9 }, {} };
	static const struct schema schema = { .name = "one", .size = 8, .fields = fields };
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf out = BUF_INIT(100);
	const struct node *root = NULL;
	int64_t n = 0;

	(void)state;
	schema_print(&out, &schema, &n);
	assert_string_equal(buf_str(&out), "n: null\n");
	assert_int_equal(yaml_parse(&a, "x", buf_str(&out), out.len, &root, NULL), 0);
	n = 5;
	assert_int_equal(schema_read(&a, &schema, root, NULL, &n, NULL), 0);
	assert_int_equal(n, 0);
}

static void test_documenting(void **state)
{
	auto_buf struct buf out = BUF_INIT(10000);
	const struct schema *all[SCHEMAS_MAX];
	size_t n;

	(void)state;
	n = schema_all(&cart_schema, all, 0);
	assert_int_equal(schema_all(&cart_schema, all, n), n);
	for (size_t i = 0; i < n; i++)
		schema_document(&out, all[i]);
	assert_string_equal(buf_str(&out),
			"### cart\n\n"
			"What is drawn.\n\n"
			"| key | takes | default | meaning |\n"
			"|---|---|---|---|\n"
			"| `text` | text | `hello` | some text |\n"
			"| `flag` | `true` or `false` | `true` | yes or no |\n"
			"| `count` | integer, 1 to 10 | `3` | how many |\n"
			"| `ratio` | number, -1 to 1 | | how much |\n"
			"| `size` | size, 1k to 1G | `1M` | how large |\n"
			"| `time` | duration | `90s` | how long |\n"
			"| `colour` | `red`, `green` | `green` | which |\n"
			"| `words` | list of texts | | a list |\n"
			"| `names` | mapping of texts | | a mapping |\n"
			"| `wheel` | [wheel](#wheel) | | the spare one |\n"
			"| `wheels` | list of [wheel](#wheel) | | the others |\n"
			"| `rest` | mapping or list | | anything |\n"
			"### wheel\n\n"
			"| key | takes | default | meaning |\n"
			"|---|---|---|---|\n"
			"| `name` | text | required | what it is called |\n"
			"| `spokes` | integer | `12` | how many |\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_many_warnings),
		cmocka_unit_test(test_printing),
		cmocka_unit_test(test_printing_no_number),
		cmocka_unit_test(test_documenting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
