/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/openenv.h"

#include "fumehood-build.h"

/*
 * Answers to OpenEnv's GET requests for /schema, /openapi.json and /metadata. The texts are
 * Fumehood's own. Only /metadata differs between servers: it lists the tasks.
 */

#define ACTION_SCHEMA                                                                              \
	"{\"title\":\"CommandAction\",\"type\":\"object\",\"properties\":{"                        \
	"\"command\":{\"type\":\"string\",\"description\":"                                        \
	"\"Shell command, or several lines of commands\"},"                                        \
	"\"timeout_s\":{\"type\":\"number\",\"minimum\":0.001,\"description\":"                    \
	"\"Timeout of the command in seconds; by default the task's\"},"                           \
	"\"metadata\":{\"type\":\"object\"}},"                                                     \
	"\"required\":[\"command\"],\"additionalProperties\":false}"

#define OBSERVATION_SCHEMA                                                                         \
	"{\"title\":\"TextObservation\",\"type\":\"object\",\"properties\":{"                      \
	"\"text\":{\"type\":\"string\",\"description\":\"Text for the agent\"},"                   \
	"\"exit_status\":{\"type\":\"string\",\"description\":"                                    \
	"\"How the episode ended; missing while it goes on\"}},"                                   \
	"\"required\":[\"text\"]}"

#define STATE_SCHEMA                                                                               \
	"{\"title\":\"EpisodeState\",\"type\":\"object\",\"properties\":{"                         \
	"\"episode_id\":{\"type\":[\"string\",\"null\"]},"                                         \
	"\"step_count\":{\"type\":\"integer\",\"minimum\":0},"                                     \
	"\"task\":{\"type\":[\"string\",\"null\"]},"                                               \
	"\"max_steps\":{\"type\":\"integer\",\"minimum\":0},"                                      \
	"\"done\":{\"type\":\"boolean\"}},"                                                        \
	"\"required\":[\"episode_id\",\"step_count\"]}"

#define RESET_SCHEMA                                                                               \
	"{\"title\":\"ResetRequest\",\"type\":\"object\",\"properties\":{"                         \
	"\"seed\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"                                \
	"\"episode_id\":{\"type\":[\"string\",\"null\"],\"maxLength\":255},"                       \
	"\"task\":{\"type\":[\"string\",\"null\"]}}}"

#define STEP_SCHEMA                                                                                \
	"{\"title\":\"StepRequest\",\"type\":\"object\",\"properties\":{"                          \
	"\"action\":" ACTION_SCHEMA ",\"timeout_s\":{\"type\":[\"number\",\"null\"]},"             \
	"\"episode_id\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"action\"]}"

#define RESULT_SCHEMA                                                                              \
	"{\"type\":\"object\",\"properties\":{\"observation\":" OBSERVATION_SCHEMA                 \
	",\"reward\":{\"type\":[\"number\",\"null\"]},\"done\":{\"type\":\"boolean\"},"            \
	"\"metadata\":{\"type\":\"object\"}},\"required\":[\"observation\",\"done\"]}"

#define JSON_OF(schema) "\"content\":{\"application/json\":{\"schema\":" schema "}}"
#define OPENENV_ABOUT_ANSWER(schema)                                                               \
	"\"responses\":{\"200\":{\"description\":\"OK\"," JSON_OF(schema) "}}"
#define GET(summary, schema)                                                                       \
	"{\"get\":{\"summary\":\"" summary "\"," OPENENV_ABOUT_ANSWER(schema) "}}"
#define POST(summary, body, schema)                                                                \
	"{\"post\":{\"summary\":\"" summary                                                        \
	"\",\"requestBody\":{" JSON_OF(body) "}," OPENENV_ABOUT_ANSWER(schema) "}}"
#define ANY "{\"type\":\"object\"}"

/* clang-format off */
static const char openapi[] =
	"{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Fumehood\",\"version\":\"1.0.0\","
	"\"description\":\"Fumehood " FUMEHOOD_VERSION ", an OpenEnv server\"},\"paths\":{"
	"\"/reset\":" POST("Begin an episode", RESET_SCHEMA, RESULT_SCHEMA) ","
	"\"/step\":" POST("Run an action", STEP_SCHEMA, RESULT_SCHEMA) ","
	"\"/state\":" GET("State of an episode", STATE_SCHEMA) ","
	"\"/schema\":" GET("JSON schemas", ANY) ","
	"\"/metadata\":" GET("Name and description", ANY) ","
	"\"/health\":" GET("Health of the server", ANY) ","
	"\"/mcp\":" POST("Model Context Protocol, by JSON-RPC", ANY, ANY) "}}";
/* clang-format on */

static void openenv_answer_text(struct client *c, const char *text)
{
	client_begin(c, CLIENT_HTTP);
	buf_add_str(&c->answer, text);
	client_end(c, 200);
}

void openenv_get_schema(struct client *c)
{
	openenv_answer_text(c,
			"{\"action\":" ACTION_SCHEMA ",\"observation\":" OBSERVATION_SCHEMA
			",\"state\":" STATE_SCHEMA "}");
}

void openenv_get_openapi(struct client *c)
{
	openenv_answer_text(c, openapi);
}

void openenv_get_metadata(struct client *c)
{
	const struct host *h = c->seats->host;
	struct pyjson_writer w = PYJSON_WRITER_INIT(&c->answer, PYJSON_LINE);

	client_begin(c, CLIENT_HTTP);
	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "name", "fumehood");
	pyjson_put_text(&w, "description", h->tasks->description);
	pyjson_put_text(&w, "version", FUMEHOOD_VERSION);
	pyjson_put_array(&w, "tasks");
	for (size_t i = 0; i < h->n_tasks; i++)
		pyjson_put_text(&w, NULL, h->tasks[i].spec);
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	client_end(c, 200);
}
