/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "trajectory/args_yaml.h"

#include <fumehood/record.h>

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* Records of episodes that the caller plays: fumehood/record.h. */

static struct fh_env *env;
static struct fh_recorder *recorder;

static char *out_folder(void)
{
	return path_join(state_dir, "records");
}

static void begin(struct fh_recorder_options options)
{
	auto_free char *out = out_folder();

	options.env = env = open_env("rows");
	options.out = out;
	assert_done(fh_recorder_open(&options, &recorder, &error));
	assert_done(fh_env_reset(env, &FH_RESET(.seed = options.seed), &step, &error));
	assert_done(fh_recorder_reset(recorder, &step, &error));
}

static int end(void **state)
{
	fh_recorder_close(recorder);
	fh_env_close(env);
	recorder = NULL;
	env = NULL;
	return 0;
}

static void play(const char *action, const char *numbers)
{
	act(env, action);
	assert_done(fh_recorder_step(
			recorder, &FH_TURN(.action = action, .numbers = numbers), &step, &error));
}

static json_t *read_json(const char *path)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);
	json_t *value;

	assert_done(fd_read_file(path, &text, &error));
	assert_done(json_parse(path, buf_str(&text), text.len, &value, &error));
	return value;
}

static json_t *read_results(void)
{
	auto_free char *path = path_join(fh_recorder_folder(recorder), "results.json");

	return read_json(path);
}

/* Reads event number i, from 0. */
static json_t *read_event(size_t i)
{
	auto_free char *path = path_join(fh_recorder_folder(recorder), "events.jsonl");
	auto_buf struct buf text = BUF_INIT(1 << 20);
	const char *at;
	json_t *event;

	assert_done(fd_read_file(path, &text, &error));
	at = buf_str(&text);
	while (i--)
		at = strchr(at, '\n') + 1;
	assert_done(json_parse(path, at, strcspn(at, "\n"), &event, &error));
	return event;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* --- whole records ---------------------------------------------------------------------------- */

static void test_a_record(void **state)
{
	auto_json json_t *open = NULL, *made = NULL, *over = NULL, *traj = NULL, *results = NULL;
	const json_t *numbers;

	begin(FH_RECORDER_OPTIONS(.seed = 3, .model = "my:policy", .suffix = "x"));
	assert_has(fh_recorder_folder(recorder),
			"/my-policy__rows__default__t-0.00__p-0.95__c-3.00__install-0__x_run_0");
	play("echo hi", "{\"value\": 0.5, \"ids\": [1, 2]}");
	play("cp zeros.csv submission.csv; submit", NULL);
	assert_done(fh_recorder_end(recorder,
			&FH_RECORD_END(.numbers = "{\"return\": 0}", .calls = 2, .tokens_sent = 9,
					.cost = 0.25),
			&error));
	open = read_event(0);
	assert_string_equal(text_of(open, "model"), "my:policy");
	assert_string_equal(text_of(open, "reward"), "delta");
	assert_null(json_object_get(open, "policy_step"));
	made = read_event(2);
	numbers = json_object_get(made, "numbers");
	assert_true(json_real_value(json_object_get(numbers, "value")) == 0.5);
	assert_int_equal(json_array_size(json_object_get(numbers, "ids")), 2);
	over = read_event(5);
	assert_string_equal(text_of(over, "event"), "end");
	assert_string_equal(text_of(over, "exit_status"), "submitted");
	assert_true(json_is_true(json_object_get(over, "over")));
	assert_has(fh_recorder_traj(recorder), "_run_0/rows.traj");
	traj = read_json(fh_recorder_traj(recorder));
	assert_int_equal(json_array_size(json_object_get(traj, "trajectory")), 2);
	results = read_results();
	assert_int_equal(json_array_size(json_object_get(results, "agent")), 1);
	assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(results, "numbers"), "return")),
			0);
}

/* args.yaml has the options of gym, environment and recorder, as that of a run. */
static void test_the_options(void **state)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct run_args args = { 0 };

	begin(FH_RECORDER_OPTIONS(.seed = 3, .model = "mine", .suffix = "x"));
	assert_done(args_yaml_read(&arena, fh_recorder_folder(recorder), &args, &error));
	assert_string_equal(args.task, "rows");
	assert_string_equal(args.model, "mine");
	assert_string_equal(args.suffix, "x");
	assert_string_equal(args.reward, "delta");
	assert_has(args.tasks_dir, "/");
	assert_string_equal(args.mlgym_root, "");
	assert_string_equal(args.web_hosts, "none");
	assert_int_equal(args.seed, 3);
	assert_true(args.max_steps > 0);
}

/* The name of the .traj has the policy's step and the time of the first event. */
static void test_a_policy_step(void **state)
{
	auto_json json_t *open = NULL, *results = NULL;
	char expected[64];
	const char *time;

	begin(FH_RECORDER_OPTIONS(.has_policy_step = true, .policy_step = 12));
	play("exit_forfeit", NULL);
	assert_done(fh_recorder_end(recorder, NULL, &error));
	open = read_event(0);
	assert_int_equal(json_integer_value(json_object_get(open, "policy_step")), 12);
	time = text_of(open, "time");
	snprintf(expected, sizeof(expected), "/rows_pi12_%.4s%.2s%.2s_%.2s%.2s%.2s.traj", time,
			time + 5, time + 8, time + 11, time + 14, time + 17);
	assert_has(fh_recorder_traj(recorder), expected);
	assert_int_equal(access(fh_recorder_traj(recorder), R_OK), 0);
	results = read_results();
	assert_int_equal(json_integer_value(json_object_get(results, "policy_step")), 12);
}

/* Messages of a chat become the .traj's history. */
static void test_a_conversation(void **state)
{
	static const char *const names[] = { "role", "content", "thought", "action" };
	static const char reply[] = "Away.\n```\nexit_forfeit\n```";
	auto_json json_t *traj = NULL, *told = NULL;
	struct fh_decision decision;
	struct fh_agent *agent;
	struct fh_chat *chat;
	const json_t *history;

	assert_done(fh_agent_open(NULL, &agent, &error));
	begin(FH_RECORDER_OPTIONS(.agent = agent, .temperature = 0.5, .top_p = 1));
	assert_has(fh_recorder_folder(recorder), "__rows__default__t-0.50__p-1.00__");
	assert_done(fh_chat_open(
			agent, &FH_CHAT_OPTIONS(.env = env, .recorder = recorder), &chat, &error));
	assert_done(fh_chat_observe(chat, &step, &error));
	assert_done(fh_chat_reply(chat, &FH_REPLY(.content = reply), &decision, &error));
	act(env, decision.action);
	assert_done(fh_recorder_step(recorder,
			&FH_TURN(.action = decision.action, .thought = decision.thought,
					.response = decision.response),
			&step, &error));
	assert_done(fh_recorder_end(recorder, NULL, &error));
	assert_done(json_parse("chat", fh_chat_history_json(chat),
			strlen(fh_chat_history_json(chat)), &told, &error));
	traj = read_json(fh_recorder_traj(recorder));
	history = json_object_get(traj, "history");
	assert_int_equal(json_array_size(history), 3);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			assert_true(str_eq(text_of(json_array_get(history, i), names[k]),
					text_of(json_array_get(told, i), names[k])));
	fh_chat_close(chat);
	fh_agent_close(agent);
}

/* --- other ends ------------------------------------------------------------------------------- */

static void test_an_episode_that_is_left(void **state)
{
	auto_json json_t *over = NULL;

	begin(FH_RECORDER_OPTIONS());
	play("true", NULL);
	assert_done(fh_recorder_end(recorder, &FH_RECORD_END(.error = "out of memory"), &error));
	over = read_event(3);
	assert_string_equal(text_of(over, "exit_status"), "early_exit");
	assert_string_equal(text_of(over, "error"), "out of memory");
	assert_true(json_is_false(json_object_get(over, "over")));
}

static void test_states(void **state)
{
	auto_free char *out = out_folder();
	const struct fh_turn turn = FH_TURN(.action = "true");

	assert_int_equal(fh_recorder_open(NULL, &recorder, &error), -EINVAL);
	assert_done(fh_env_open_start(gym, &FH_ENV_OPTIONS(.task = "rows"), &env, &error));
	assert_int_equal(fh_recorder_open(&FH_RECORDER_OPTIONS(.env = env), &recorder, &error),
			-EPROTO);
	fh_env_close(env);
	env = open_episode("rows");
	assert_done(fh_recorder_open(
			&FH_RECORDER_OPTIONS(.env = env, .out = out), &recorder, &error));
	assert_int_equal(fh_recorder_step(recorder, &turn, &step, &error), -EPROTO);
	assert_done(fh_recorder_reset(recorder, &step, &error));
	assert_int_equal(fh_recorder_reset(recorder, &step, &error), -EPROTO);
	act(env, "true");
	assert_done(fh_recorder_step(recorder, &turn, &step, &error));
	assert_done(fh_recorder_end(recorder, NULL, &error));
	assert_int_equal(fh_recorder_end(recorder, NULL, &error), -EPROTO);
	assert_has(error.message, "ended already");
	assert_int_equal(fh_recorder_step(recorder, &turn, &step, &error), -EPROTO);
	fh_recorder_close(NULL);
}

/* A refused call records nothing, and the record goes on. */
static void test_malformed_turns(void **state)
{
	static const char *const wrong[] = { "", "1", "[]", "{", "{\"a\": nan}", "{} x" };
	char *large = malloc(FH_NUMBERS_BYTES_MAX + 8);

	begin(FH_RECORDER_OPTIONS());
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (fh_recorder_step(recorder, &FH_TURN(.action = "a", .numbers = wrong[i]), &step,
				    &error) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
	memset(large, ' ', FH_NUMBERS_BYTES_MAX + 1);
	memcpy(large + FH_NUMBERS_BYTES_MAX, "{}", 3);
	assert_int_equal(fh_recorder_step(recorder, &FH_TURN(.action = "a", .numbers = large),
					 &step, &error),
			-EINVAL);
	free(large);
	assert_int_equal(fh_recorder_step(recorder, &FH_TURN(), &step, &error), -EINVAL);
	assert_int_equal(fh_recorder_step(recorder, &FH_TURN(.action = "\xff"), &step, &error),
			-EINVAL);
	play("exit_forfeit", "{\"loss\": NaN}"); /* Python writes it */
	assert_done(fh_recorder_end(recorder, NULL, &error));
}

static int in_fork(void)
{
	struct fh_chat *chat;
	struct fh_agent *agent;

	if (fh_recorder_step(recorder, &FH_TURN(.action = "true"), &step, &error) != -EPERM ||
			error.kind != FH_ERROR_STATE)
		return 1;
	if (fh_recorder_end(recorder, NULL, &error) != -EPERM)
		return 2;
	if (fh_agent_open(NULL, &agent, &error) < 0)
		return 3;
	if (fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env, .recorder = recorder), &chat,
			    &error) != -EPERM)
		return 4;
	fh_recorder_close(recorder);
	return 0;
}

static void test_a_fork(void **state)
{
	int status;
	pid_t pid;

	begin(FH_RECORDER_OPTIONS());
	pid = fork();
	if (pid == 0)
		_exit(in_fork());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	play("exit_forfeit", NULL);
	assert_done(fh_recorder_end(recorder, NULL, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_record, end),
		cmocka_unit_test_teardown(test_the_options, end),
		cmocka_unit_test_teardown(test_a_policy_step, end),
		cmocka_unit_test_teardown(test_a_conversation, end),
		cmocka_unit_test_teardown(test_an_episode_that_is_left, end),
		cmocka_unit_test_teardown(test_states, end),
		cmocka_unit_test_teardown(test_malformed_turns, end),
		cmocka_unit_test_teardown(test_a_fork, end),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
