/* SPDX-License-Identifier: Apache-2.0 */
#include "model/backend.h"

#include "base/fd.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/line_editor.h"
#include "model/typed.h"
#include "task/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * human: shows a step's observation, without control sequences, and reads the next action. An
 * action is a line, or the lines between start_multiline_command and end_multiline_command. A
 * command like `edit 2:2` continues to the word that ends it; a command that bash finds unfinished
 * continues too. The end of input gives exit_forfeit. On a terminal, lines can be edited and
 * completed, and there is a history.
 *
 * human_thought: asks for a thought before each action, in lines up to END_THOUGHT. Both are
 * recorded in the form of a language model's reply.
 */

#define SHOWN_BYTES_MAX (8L * 1024 * 1024)
#define PROMPT_BYTES_MAX 65536

struct human {
	struct line_editor_request terminal;
	char *history; /* path of the file with the history of typed commands; NULL: none */
	const char *(*multiline_end)(void *user, const char *line);
	void *user; /* argument for multiline_end() */
	/*
	 * `thinks`: the person gives a thought before each action; `asked`: line_editor_new() was
	 * called before
	 */
	bool thinks, asked;
	/* editor for lines that a person types at a terminal; NULL: `lines` reads the input */
	struct line_editor *editor;
	struct lines lines;
	struct buf action, thought, response;
	struct buf watched; /* output of the running command that the person has seen already */
	int interrupts;     /* number of times in a row that Ctrl-C had no line to clear */
};

static int human_open(const struct model_request *request, const char *argument, void **out_state,
		struct fh_error *err)
{
	struct human *h = xcalloc(1, sizeof(*h));
	const char *state_dir = request->places ? request->places->state_dir : NULL;
	auto_free char *folder = NULL;

	if (places_state_dir(state_dir, &folder, NULL) == 0)
		h->history = xasprintf("%s/human_history", folder);
	h->terminal = (struct line_editor_request){
		.in_fd = request->in_fd,
		.out_fd = request->out_fd,
		.stop_fd = request->stop_fd,
		.completion = request->completion,
		.history = h->history,
	};
	h->multiline_end = request->multiline_end;
	h->user = request->user;
	h->lines = (struct lines)LINES_INIT;
	buf_init(&h->action, FH_ACTION_BYTES_MAX);
	buf_init(&h->thought, FH_ACTION_BYTES_MAX);
	buf_init(&h->response, 3L * FH_ACTION_BYTES_MAX);
	buf_init(&h->watched, SHOWN_BYTES_MAX);
	*out_state = h;
	return 0;
}

static int human_thought_open(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	int r = human_open(request, argument, out_state, err);

	if (r < 0)
		return r;
	((struct human *)*out_state)->thinks = true;
	return 0;
}

static void human_close(void *state)
{
	struct human *h = state;

	line_editor_free(h->editor);
	free(h->history);
	lines_release(&h->lines);
	buf_release(&h->action);
	buf_release(&h->thought);
	buf_release(&h->response);
	buf_release(&h->watched);
	free(h);
}

static bool human_is_word(const char *line, size_t n, const char *word)
{
	size_t length = strlen(word);

	if (n < length || memcmp(line, word, length) != 0)
		return false;
	return length + strspn(line + length, " \t\r\n") >= n;
}

static void human_show(struct human *h, const char *text, const char *prompt)
{
	auto_buf struct buf out = BUF_INIT(SHOWN_BYTES_MAX);

	str_add_printable(&out, text);
	if (out.len && out.data[out.len - 1] != '\n')
		buf_add_char(&out, '\n');
	str_add_printable(&out, prompt);
	/* Ignore an error of printing: the output may be closed. */
	(void)fd_write_full(h->terminal.out_fd, buf_str(&out), out.len);
}

static int human_read_plain(struct human *h, const char **out, size_t *out_n, struct fh_error *err)
{
	switch (lines_next(&h->lines, h->terminal.in_fd, h->terminal.stop_fd, out, out_n)) {
	case LINES_LINE:
		/* Refuse a line with a NUL byte: the action would end at the byte. */
		if (strlen(*out) >= *out_n)
			return 1;
		return error_say(err, EINVAL, "the input holds a NUL byte");
	case LINES_TOO_LONG:
		return error_say(err, E2BIG, "a line of input is too long");
	case LINES_STOPPED:
		return error_say(err, EINTR, "interrupted");
	case LINES_END:
		break;
	}
	return 0;
}

/* Reads a line that a person types. Returns 1 with the line, 0 at the end of input, or
 * LINE_EDITOR_... after Ctrl-C. `prompt` is NULL for a further line of a command. */
static int human_read_line(struct human *h, const char *prompt, const char **out, size_t *out_n,
		struct fh_error *err)
{
	auto_buf struct buf clean = BUF_INIT(PROMPT_BYTES_MAX);

	if (!h->asked) {
		h->asked = true;
		h->editor = line_editor_new(&h->terminal);
	}
	if (!h->editor) {
		human_show(h, "", prompt ? prompt : "");
		return human_read_plain(h, out, out_n, err);
	}
	str_add_printable(&clean, prompt ? prompt : "> ");
	return line_editor_read(h->editor, buf_str(&clean), out, out_n, err);
}

/* Reads one line of a command that a person types, and adds it to the history. */
static int human_read_command_line(struct human *h, const char *prompt, const char **out,
		size_t *out_n, struct fh_error *err)
{
	int r = human_read_line(h, prompt, out, out_n, err);

	if (r == 1 && h->editor && !human_is_word(*out, *out_n, ""))
		line_editor_remember(h->editor, *out, *out_n);
	return r;
}

/* Reads a further line of a command. Ctrl-C and Ctrl-D drop the command: LINE_EDITOR_CLEARED. */
static int human_read_further_line(struct human *h, const char *prompt, const char **out,
		size_t *out_n, struct fh_error *err)
{
	int r = human_read_command_line(h, h->editor ? NULL : prompt, out, out_n, err);

	return h->editor && (r == 0 || r == LINE_EDITOR_REFUSED) ? LINE_EDITOR_CLEARED : r;
}

#define BLOCK_END "end_multiline_command"

static int human_check_length(const struct human *h, struct fh_error *err)
{
	if (h->action.truncated)
		return error_say(err, E2BIG, "a command is longer than %d bytes",
				FH_ACTION_BYTES_MAX);
	return 1;
}

/* Reads lines that a person types, up to the line `end`, and appends them to the action. Appends
 * `end` too, unless it is BLOCK_END. */
static int human_read_block(struct human *h, const char *end, struct fh_error *err)
{
	const char *line;
	size_t n;
	int r;

	while ((r = human_read_further_line(h, NULL, &line, &n, err)) == 1) {
		bool ends = human_is_word(line, n, end);

		if (ends && str_eq(end, BLOCK_END))
			return 1;
		buf_add(&h->action, line, n);
		buf_add_char(&h->action, '\n');
		r = human_check_length(h, err);
		if (r < 0 || ends)
			return r;
	}
	return r;
}

/* Reads lines that a person types and appends them to the action, until bash finds it complete. */
static int human_read_until_finished(struct human *h, struct fh_error *err)
{
	const char *line;
	size_t n;

	while (typed_is_unfinished(buf_str(&h->action))) {
		int r = human_read_further_line(h, "> ", &line, &n, err);

		if (r != 1)
			return r;
		buf_add_char(&h->action, '\n');
		buf_add(&h->action, line, n);
		r = human_check_length(h, err);
		if (r < 0)
			return r;
	}
	return 1;
}

/* Reads the action that a person types. Returns 1, 0 at the end of input, or LINE_EDITOR_... after
 * Ctrl-C. */
static int human_read_command(struct human *h, const char *prompt, struct fh_error *err)
{
	const char *line, *end;
	size_t n;
	int r;

	while ((r = human_read_command_line(h, prompt, &line, &n, err)) == 1) {
		buf_clear(&h->action);
		if (human_is_word(line, n, "start_multiline_command"))
			return human_read_block(h, BLOCK_END, err);
		buf_add(&h->action, line, n);
		if (human_is_word(line, n, ""))
			continue;
		end = h->multiline_end ? h->multiline_end(h->user, buf_str(&h->action)) : NULL;
		if (!end)
			return human_read_until_finished(h, err);
		buf_add_char(&h->action, '\n');
		return human_read_block(h, end, err);
	}
	return r;
}

/* After Ctrl-C was pressed twice, asks the person how to end the episode. Returns 1 with an
 * action, LINE_EDITOR_CLEARED to go on, or 0 at the end of input. */
static int human_ask_how_to_end(struct human *h, struct fh_error *err)
{
	const char *line;
	size_t n;
	int r;

	buf_clear(&h->action);
	do {
		r = human_read_line(h,
				"submit what is there (s), leave without a score (l), or go on (Enter)? ",
				&line, &n, err);
		if (r <= 0)
			return r;
		if (r != 1 || human_is_word(line, n, ""))
			return LINE_EDITOR_CLEARED;
		if (human_is_word(line, n, "s") || human_is_word(line, n, "submit"))
			buf_add_str(&h->action, "submit");
		else if (human_is_word(line, n, "l") || human_is_word(line, n, "leave"))
			buf_add_str(&h->action, "exit_forfeit");
	} while (!h->action.len);
	return 1;
}

/* Refuses a command that starts a program which would get no keys. Returns true if it was
 * refused. */
static bool human_refuse(struct human *h)
{
	auto_arena struct arena arena = ARENA_INIT;
	const char *why = typed_refusal(&arena, buf_str(&h->action));

	if (why)
		human_show(h, why, "");
	return why != NULL;
}

static int human_read_action(struct human *h, const char *prompt, struct fh_error *err)
{
	for (;;) {
		int r = h->interrupts < 2 ? human_read_command(h, prompt, err)
					  : human_ask_how_to_end(h, err);

		h->interrupts = r == LINE_EDITOR_REFUSED ? h->interrupts + 1 : 0;
		if (r <= 0 || (r == 1 && !human_refuse(h)))
			return r;
	}
}

#define END_THOUGHT "END_THOUGHT"

static int human_read_thought(struct human *h, struct fh_error *err)
{
	const char *prompt = "what you think, up to " END_THOUGHT ": ";
	const char *line, *end = NULL;
	size_t n;
	int r = 1;

	buf_clear(&h->thought);
	while (!end && (r = human_read_line(h, prompt, &line, &n, err)) > 0) {
		if (r != 1) {
			buf_clear(&h->thought);
			continue;
		}
		prompt = NULL;
		end = memmem(line, n, END_THOUGHT, strlen(END_THOUGHT));
		buf_add(&h->thought, line, end ? (size_t)(end - line) : n);
		if (!end)
			buf_add_char(&h->thought, '\n');
		if (h->thought.truncated)
			return error_say(err, E2BIG, "a thought is longer than %d bytes",
					FH_ACTION_BYTES_MAX);
	}
	return r;
}

static void human_interrupted(void *state)
{
	struct human *h = state;

	h->interrupts++;
}

static void human_watch(void *state, const struct buf *lines)
{
	struct human *h = state;

	buf_add(&h->watched, lines->data, lines->len);
	human_show(h, buf_str(lines), "");
}

/* Returns the part of the observation that the person has not seen while the command was
 * running. */
static const char *human_unwatched(const struct human *h, const char *observation)
{
	size_t n = h->watched.len ? h->watched.len - 1 : 0;

	if (strncmp(observation, buf_str(&h->watched), n) != 0)
		return observation;
	/*
	 * Skip the newline after the part that was shown. Each shown line ends with a newline, but
	 * the observation's last line may lack it.
	 */
	return observation + n + (h->watched.len && observation[n] == '\n');
}

#define HELP                                                                                       \
	"(validate: score what is there. submit: score it and end the episode. Ctrl-D: leave\n"    \
	" without a score. Ctrl-C: clear the line or end the command; twice: submit or leave.)\n"

static int human_next(void *state, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct human *h = state;
	auto_free char *prompt = xasprintf("[step %d] %s $ ", step->step + 1, step->working_dir);
	int r;

	human_show(h, human_unwatched(h, step->observation), "");
	buf_clear(&h->watched);
	if (step->step == 0)
		human_show(h, HELP, "");
	if (step->outcome != FH_OUTCOME_INTERRUPTED)
		h->interrupts = 0; /* the command had ended before Ctrl-C was pressed */
	r = h->thinks ? human_read_thought(h, err) : 1;
	if (r > 0)
		r = human_read_action(h, prompt, err);
	if (r < 0)
		return r;
	*out = (struct model_turn){ .action = r > 0 ? buf_str(&h->action) : "exit_forfeit" };
	if (!h->thinks || r == 0)
		return 0;
	buf_clear(&h->response);
	buf_printf(&h->response, "%s\n```\n%s\n```", buf_str(&h->thought), out->action);
	out->thought = buf_str(&h->thought);
	out->response = buf_str(&h->response);
	return 0;
}

const struct model_backend model_human = {
	.name = "human",
	.interactive = true,
	.open = human_open,
	.next = human_next,
	.interrupted = human_interrupted,
	.watch = human_watch,
	.close = human_close,
};

const struct model_backend model_human_thought = {
	.name = "human_thought",
	.interactive = true,
	.open = human_thought_open,
	.next = human_next,
	.interrupted = human_interrupted,
	.watch = human_watch,
	.close = human_close,
};
