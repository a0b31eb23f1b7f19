/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "proto/guest.h"

/* Messages between an owner and its guests are read back as they were written, or refused. */

static const char *const words[] = { "A=1", "", "B=two words", NULL };

static void assert_words(const char *const *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(words) - 1; i++)
		assert_string_equal(found[i], words[i]);
	assert_null(found[ARRAY_SIZE(words) - 1]);
}

static void put_hello(struct buf *b)
{
	hello_put(b,
			&(struct hello){ .roots = words,
					.covers = words,
					.base_filter = "base",
					.base_filter_bytes = 4,
					.agent_filter = "the agent's",
					.agent_filter_bytes = 11,
					.tool = "/tool",
					.tool_names = words });
}

static int get_hello(struct wire *w)
{
	struct hello h;
	int r = hello_get(w, &h);

	if (r < 0)
		return r;
	assert_words(h.roots);
	assert_words(h.covers);
	assert_words(h.tool_names);
	assert_string_equal(h.tool, "/tool");
	assert_int_equal(h.base_filter_bytes, 4);
	assert_memory_equal(h.base_filter, "base", 4);
	assert_memory_equal(h.agent_filter, "the agent's", h.agent_filter_bytes);
	hello_forget_names(&h);
	assert_null(h.tool);
	assert_memory_equal(h.agent_filter, "the agent's", h.agent_filter_bytes);
	hello_release(&h);
	return 0;
}

static void put_layer(struct buf *b)
{
	static const struct layer_entry entries[] = {
		{ .source = NULL, .target = "workspace" },
		{ .source = "/from", .target = "workspace/to", .read_only = true },
	};

	layer_put(b, &(struct layer){ .name = "titanic", .entries = entries, .n_entries = 2 });
}

static int get_layer(struct wire *w)
{
	struct layer l;
	int r = layer_get(w, &l);

	if (r < 0)
		return r;
	assert_string_equal(l.name, "titanic");
	assert_int_equal(l.n_entries, 2);
	assert_null(l.entries[0].source);
	assert_string_equal(l.entries[0].target, "workspace");
	assert_string_equal(l.entries[1].source, "/from");
	assert_true(l.entries[1].read_only);
	layer_release(&l);
	return 0;
}

static void put_plan(struct buf *b)
{
	static const struct plan_bind binds[] = { { "/a", "/b" }, { "/c", "/d" } };

	plan_put(b,
			&(struct plan){ .flags = PLAN_SHELL | PLAN_NET_HOST,
					.n_groups = GUEST_GROUPS_MAX,
					.cradle = 7,
					.number = 8,
					.disk_folder = "/disk",
					.binds = binds,
					.n_binds = 2,
					.writable = "/a",
					.writable_layer = "folders",
					.env = words,
					.random_seed = ~0U,
					.disk_bytes = 1ULL << 40,
					.disk_files = 3,
					.processes = 512,
					.memory_bytes = 1ULL << 33 });
}

static int get_plan(struct wire *w)
{
	struct plan p;
	int r = plan_get(w, &p);

	if (r < 0)
		return r;
	assert_int_equal(p.flags, PLAN_SHELL | PLAN_NET_HOST);
	assert_int_equal(p.n_groups, GUEST_GROUPS_MAX);
	assert_int_equal(p.cradle, 7);
	assert_int_equal(p.number, 8);
	assert_null(p.layer);
	assert_string_equal(p.disk_folder, "/disk");
	assert_string_equal(p.binds[1].target, "/d");
	assert_string_equal(p.writable, "/a");
	assert_string_equal(p.writable_layer, "folders");
	assert_words(p.env);
	assert_true(p.random_seed == ~0U && p.disk_bytes == 1ULL << 40 && p.disk_files == 3);
	assert_true(p.processes == 512 && p.memory_bytes == 1ULL << 33);
	plan_forget_binds(&p);
	assert_int_equal(p.n_binds, 0);
	assert_null(p.disk_folder);
	assert_null(p.writable);
	assert_null(p.writable_layer);
	plan_release(&p);
	return 0;
}

static void put_run(struct buf *b)
{
	init_run_put(b,
			&(struct init_run){ .id = 9,
					.user = 1,
					.has_program = 1,
					.slots = { SLOT_NOTHING, SLOT_STREAM_1, SLOT_STREAM_2, 0 },
					.n_slots = 4,
					.cwd = "/x",
					.argv = words });
}

static int get_run(struct wire *w)
{
	struct init_run run;
	int r = init_run_get(w, &run);

	if (r < 0)
		return r;
	assert_true(run.id == 9 && run.user == 1 && run.has_program == 1);
	assert_int_equal(run.n_slots, 4);
	assert_int_equal(run.slots[2], SLOT_STREAM_2);
	assert_int_equal(init_run_fds(&run), 2); /* the program and the last slot */
	assert_string_equal(run.cwd, "/x");
	assert_words(run.argv);
	assert_null(run.env);
	init_run_release(&run);
	return 0;
}

static const struct {
	uint8_t kind;
	void (*put)(struct buf *b);
	int (*get)(struct wire *w);
} messages[] = {
	{ NURSERY_HELLO, put_hello, get_hello },
	{ NURSERY_LAYER, put_layer, get_layer },
	{ NURSERY_PLAN, put_plan, get_plan },
	{ INIT_RUN, put_run, get_run },
};

static int get(size_t i, const void *data, size_t n)
{
	struct wire w = wire_open(data, n);

	assert_int_equal(wire_get_u8(&w), messages[i].kind);
	return messages[i].get(&w);
}

static void test_whole(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

		messages[i].put(&b);
		assert_int_equal(get(i, b.data, b.len), 0);
	}
}

/* Cut each message at every length, in memory of just that size. A sanitizer finds reads past its
 * end. */
static void test_cut_or_too_long(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

		messages[i].put(&b);
		for (size_t n = 1; n < b.len; n++) {
			auto_free char *part = malloc(n);

			assert_non_null(part);
			memcpy(part, b.data, n);
			assert_true(get(i, part, n) < 0);
		}
		buf_add_char(&b, 'x');
		assert_true(get(i, b.data, b.len) < 0);
	}
}

static void fill_list(struct buf *b, uint32_t n)
{
	wire_put_u32(b, n);
	while (n--)
		wire_put_str(b, "x");
}

/* A message with too many items is refused before memory is allocated for them. */
static void test_too_many(void **state)
{
	auto_buf struct buf b = BUF_INIT(1 << 20);
	struct plan plan = { .env = words, .n_groups = GUEST_GROUPS_MAX + 1 };
	struct wire w;
	struct init_run run;

	plan_put(&b, &plan);
	w = wire_open(b.data + 1, b.len - 1);
	assert_true(plan_get(&w, &plan) < 0);
	for (uint32_t n = GUEST_ARGS_MAX; n <= GUEST_ARGS_MAX + 1; n++) {
		buf_clear(&b);
		wire_put_u32(&b, 1);
		wire_put_u8(&b, 1);
		wire_put_u8(&b, 0);
		wire_put_u32(&b, 0); /* no descriptors */
		wire_put_u8(&b, 0);  /* no folder */
		fill_list(&b, n);
		wire_put_u8(&b, 0);
		w = wire_open(b.data, b.len);
		assert_int_equal(init_run_get(&w, &run) == 0, n == GUEST_ARGS_MAX);
		if (n == GUEST_ARGS_MAX)
			init_run_release(&run);
	}
}

/* A program's message is refused if a descriptor's slot is invalid, or if it has too many slots. */
static void test_slots(void **state)
{
	static const struct {
		int8_t first;
		uint32_t n;
		bool good;
	} cases[] = {
		{ 0, 1, true },
		{ SLOT_TERMINAL, GUEST_FDS_MAX, true },
		{ SLOT_TERMINAL - 1, 1, false },
		{ 1, 1, false },
		{ 0, GUEST_FDS_MAX + 1, false },
	};
	int8_t slots[GUEST_FDS_MAX + 1] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf b = BUF_INIT(1024);
		struct wire w;
		struct init_run run;

		slots[0] = cases[i].first;
		wire_put_u32(&b, 1);
		wire_put_u8(&b, 1);
		wire_put_u8(&b, 0);
		wire_put_bytes(&b, slots, cases[i].n);
		wire_put_u8(&b, 0);
		fill_list(&b, 1);
		wire_put_u8(&b, 0);
		w = wire_open(b.data, b.len);
		assert_int_equal(init_run_get(&w, &run) == 0, cases[i].good);
		if (cases[i].good)
			init_run_release(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_or_too_long),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
