/* SPDX-License-Identifier: Apache-2.0 */
#include "model/line_editor.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/*
 * libedit (https://thrysoee.dk/editline/) is loaded when a person first types, so that other starts
 * of the program stay fast. libedit_load() fills the struct `libedit`. It fails if the library is
 * missing.
 */
#define LIBEDIT_FUNCTIONS(X)                                                                       \
	X(el_end)                                                                                  \
	X(el_get)                                                                                  \
	X(el_gets)                                                                                 \
	X(el_init_fd)                                                                              \
	X(el_insertstr)                                                                            \
	X(el_line)                                                                                 \
	X(el_resize)                                                                               \
	X(el_set)                                                                                  \
	X(el_source)                                                                               \
	X(el_wset)                                                                                 \
	X(history)                                                                                 \
	X(history_end)                                                                             \
	X(history_init)

static struct libedit {
#define LIBEDIT_MEMBER(name) __typeof__(&name) name;
	LIBEDIT_FUNCTIONS(LIBEDIT_MEMBER)
#undef LIBEDIT_MEMBER
} libedit;

static bool libedit_load(void)
{
	/* libedit is never unloaded */
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);

#define LIBEDIT_FIND(name) &&(*(void **)&libedit.name = dlsym(library, #name))
	return library LIBEDIT_FUNCTIONS(LIBEDIT_FIND);
#undef LIBEDIT_FIND
}

/* Line editor by libedit. This file reads the characters, because libedit can't wait for
 * stop_fd. It also handles the signals, because libedit would send them to the whole process
 * group. */
struct line_editor {
	struct line_editor_request request;
	EditLine *edit;
	History *history;
	FILE *in, *out;
	/* heap copy of the prompt, since libedit's callback returns no const string; NULL: none */
	char *prompt;
	char *path; /* path of the file with the history of typed lines; NULL: none */
	bool stopped;
	int cleared; /* LINE_EDITOR_... after Ctrl-C; 0: not pressed */
};

static struct line_editor *line_editor_of(EditLine *edit)
{
	void *ed = NULL;

	libedit.el_get(edit, EL_CLIENTDATA, &ed);
	return ed;
}

static char *line_editor_prompt(EditLine *edit)
{
	static char none[] = "";
	char *prompt = line_editor_of(edit)->prompt;

	return prompt ? prompt : none;
}

/* --- characters ------------------------------------------------------------------------------- */

/* Descriptor that becomes readable after SIGWINCH or SIGCONT: the signals' handler writes to it. */
static int line_editor_changed_fd = -1;

static void line_editor_on_change(int number)
{
	int before = errno;

	eventfd_write(line_editor_changed_fd, 1);
	errno = before;
}

/* Sets the terminal to send each key at once, Ctrl-C like any other key. */
static void line_editor_make_raw(struct line_editor *ed)
{
	struct termios modes;

	libedit.el_set(ed->edit, EL_PREP_TERM, 1);
	if (tcgetattr(ed->request.in_fd, &modes) < 0)
		return;
	modes.c_cc[VINTR] = _POSIX_VDISABLE;
	tcsetattr(ed->request.in_fd, TCSADRAIN, &modes);
}

static bool line_editor_wait_key(struct line_editor *ed)
{
	struct pollfd fds[] = { { .fd = ed->request.in_fd, .events = POLLIN },
		{ .fd = ed->request.stop_fd, .events = POLLIN },
		{ .fd = line_editor_changed_fd, .events = POLLIN } };
	eventfd_t times;

	do {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return false;
		if (eventfd_read(line_editor_changed_fd, &times) != 0)
			continue;
		/* Read the terminal's size again, and set its modes: a shell may have changed
		 * both. */
		libedit.el_set(ed->edit, EL_PREP_TERM, 0);
		line_editor_make_raw(ed);
		libedit.el_resize(ed->edit);
		libedit.el_set(ed->edit, EL_REFRESH);
	} while (!fds[0].revents && !fds[1].revents);
	ed->stopped = fds[1].revents != 0;
	return !ed->stopped;
}

/* Reads a character from the terminal. Returns 1, 0 at the end of input, or -1 after an error or
 * when stop_fd is readable. */
static int line_editor_read_character(EditLine *edit, wchar_t *out)
{
	struct line_editor *ed = line_editor_of(edit);
	mbstate_t state = { 0 };

	while (line_editor_wait_key(ed)) {
		char byte;
		ssize_t n = read(ed->request.in_fd, &byte, 1);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return (int)n;
		switch (mbrtowc(out, &byte, 1, &state)) {
		/* the UTF-8 character of the key is incomplete: read its next byte */
		case (size_t)-2:
			break;
		case (size_t)-1:
			*out = L'?';
			return 1;
		default:
			return 1;
		}
	}
	return -1;
}

/* --- completion ------------------------------------------------------------------------------- */

static unsigned char line_editor_complete(EditLine *edit, int key)
{
	struct line_editor *ed = line_editor_of(edit);
	const LineInfo *line = libedit.el_line(edit);
	size_t n = (size_t)(line->cursor - line->buffer);
	auto_free char *text = xstrndup(line->buffer, n);
	unsigned char next = CC_ERROR;
	struct completion c;

	completion_find(&ed->request.completion, text, n, &c);
	if (c.insert.len && libedit.el_insertstr(edit, buf_str(&c.insert)) == 0) {
		next = CC_REFRESH;
	} else if (c.list.len) {
		fprintf(ed->out, "\n%s\n", buf_str(&c.list));
		next = CC_REDISPLAY;
	}
	completion_release(&c);
	return next;
}

/* Handles Ctrl-C: drops the typed line. */
static unsigned char line_editor_clear(EditLine *edit, int key)
{
	struct line_editor *ed = line_editor_of(edit);
	const LineInfo *line = libedit.el_line(edit);

	fputs("^C", ed->out);
	ed->cleared = line->lastchar > line->buffer ? LINE_EDITOR_CLEARED : LINE_EDITOR_REFUSED;
	return CC_EOF;
}

/* --- lines ------------------------------------------------------------------------------------ */

int line_editor_read(struct line_editor *ed, const char *prompt, const char **out, size_t *out_n,
		struct fh_error *err)
{
	struct sigaction action = { .sa_handler = line_editor_on_change, .sa_flags = SA_RESTART };
	struct sigaction resized, resumed;
	const char *line;
	int n = 0;

	ed->prompt = xstrdup(prompt);
	ed->cleared = 0;
	/*
	 * Set the terminal's mode before the prompt appears, so that keys pressed early are read in
	 * this mode too.
	 */
	line_editor_make_raw(ed);
	sigaction(SIGWINCH, &action, &resized);
	sigaction(SIGCONT, &action, &resumed);
	line = libedit.el_gets(ed->edit, &n);
	sigaction(SIGWINCH, &resized, NULL);
	sigaction(SIGCONT, &resumed, NULL);
	free(take_ptr(ed->prompt));
	if (!line || n <= 0) {
		/* end the prompt's line, so that later output begins on a new one */
		fputc('\n', ed->out);
		fflush(ed->out);
		if (ed->stopped)
			return error_say(err, EINTR, "interrupted");
		return ed->cleared;
	}
	*out = line;
	*out_n = (size_t)n - (line[n - 1] == '\n');
	return 1;
}

/* --- history ---------------------------------------------------------------------------------- */

/*
 * Lines that a person typed, in a file that only its owner can read, oldest first. Each line is
 * appended at once: it survives a crash, and programs can share the file. Errors of reading or
 * writing the file are ignored.
 */

#define HISTORY_MAX 1000
#define HISTORY_LINE_MAX 4096 /* bytes of the longest line that the history of typed lines keeps */
/*
 * Most bytes of the history file: twice the lines that are kept, each of the largest size. A larger
 * file is deleted.
 */
#define HISTORY_BYTES_MAX (2L * HISTORY_MAX * HISTORY_LINE_MAX)

static void line_editor_add_history(struct line_editor *ed, const char *line)
{
	HistEvent event;

	libedit.history(ed->history, &event, H_ENTER, line);
}

/* Loads the history file, and shortens it to its last HISTORY_MAX lines. */
static void line_editor_load_history(struct line_editor *ed)
{
	auto_buf struct buf text = BUF_INIT(HISTORY_BYTES_MAX);
	size_t lines = 0;
	char *at, *end;

	if (fd_read_file(ed->path, &text, NULL) < 0) {
		if (text.truncated)
			unlink(ed->path);
		return;
	}
	for (at = text.data + text.len; at > text.data; at--)
		if (at[-1] == '\n' && ++lines > HISTORY_MAX)
			break;
	if (at != text.data)
		(void)fd_write_file(ed->path, at, (size_t)(text.data + text.len - at), 0600, NULL);
	for (; at && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		line_editor_add_history(ed, at);
	}
}

void line_editor_remember(struct line_editor *ed, const char *line, size_t n)
{
	auto_free char *text = xasprintf("%.*s\n", (int)n, line);
	auto_close int fd = -1;

	if (ed->path && n <= HISTORY_LINE_MAX && !memchr(line, '\n', n))
		fd = open(ed->path,
				O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				0600);
	if (fd >= 0)
		(void)fd_write_full(fd, text, strlen(text));
	text[strlen(text) - 1] = '\0';
	line_editor_add_history(ed, text);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Binds keys that a terminal sends as several characters. libedit would take the last of them for
 * typed ones. Ctrl, Alt or Shift with an arrow goes by words, and other keys do nothing. */
static void line_editor_bind_escapes(EditLine *edit)
{
	static const char ends[] = "ABCDFHPQRS"; /* arrows, End, Home, F1 to F4 */
	char key[16];

	for (int modifier = 2; modifier <= 8; modifier++)
		for (const char *end = ends; *end; end++) {
			snprintf(key, sizeof(key), "\\e[1;%d%c", modifier, *end);
			libedit.el_set(edit, EL_BIND, key,
					*end == 'C'                   ? "em-next-word"
							: *end == 'D' ? "ed-prev-word"
								      : "ed-ignore",
					NULL);
		}
	/* Insert, Page Up, Page Down, F5 to F12, and more; Delete is 3 */
	for (int number = 2; number <= 34; number++) {
		if (number == 3 || number == 4 || number == 7 || number == 8)
			continue;
		snprintf(key, sizeof(key), "\\e[%d~", number);
		libedit.el_set(edit, EL_BIND, key, "ed-ignore", NULL);
	}
}

static void line_editor_set_up(struct line_editor *ed)
{
	static const char *const keys[][2] = {
		{ "^C", "clear-line" },
		{ "^I", "complete-word" },
		{ "^R", "em-inc-search-prev" },
		{ "^W", "ed-delete-prev-word" },
	};
	EditLine *edit = ed->edit;
	HistEvent event;

	libedit.history(ed->history, &event, H_SETSIZE, HISTORY_MAX);
	libedit.history(ed->history, &event, H_SETUNIQUE, 1);
	libedit.el_set(edit, EL_CLIENTDATA, ed);
	libedit.el_set(edit, EL_PROMPT, line_editor_prompt);
	libedit.el_set(edit, EL_GETCFN, line_editor_read_character);
	libedit.el_set(edit, EL_HIST, libedit.history, ed->history);
	libedit.el_set(edit, EL_EDITOR, "emacs");
	/*
	 * Call libedit's el_wset(), because its el_set() leaks converted copies of these strings.
	 */
	libedit.el_wset(edit, EL_ADDFN, L"complete-word", L"completes a word",
			line_editor_complete);
	libedit.el_wset(edit, EL_ADDFN, L"clear-line", L"gives up a line", line_editor_clear);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		libedit.el_set(edit, EL_BIND, keys[i][0], keys[i][1], NULL);
	line_editor_bind_escapes(edit);
	libedit.el_source(edit, NULL); /* read ~/.editrc */
}

static FILE *line_editor_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, mode);

	if (!file && copy >= 0)
		close(copy);
	return file;
}

struct line_editor *line_editor_new(const struct line_editor_request *request)
{
	const char *term = getenv("TERM");
	struct line_editor *ed;

	if (!isatty(request->in_fd) || !isatty(request->out_fd) || !term || !*term ||
			str_eq(term, "dumb") || !libedit_load())
		return NULL;
	if (line_editor_changed_fd < 0)
		line_editor_changed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (line_editor_changed_fd < 0)
		return NULL;
	ed = xcalloc(1, sizeof(*ed));
	ed->request = *request;
	ed->path = request->history ? xstrdup(request->history) : NULL;
	ed->in = line_editor_stream(request->in_fd, "r");
	ed->out = line_editor_stream(request->out_fd, "w");
	if (ed->in && ed->out)
		ed->edit = libedit.el_init_fd("fumehood", ed->in, ed->out, ed->out, request->in_fd,
				request->out_fd, request->out_fd);
	ed->history = ed->edit ? libedit.history_init() : NULL;
	if (!ed->history) {
		line_editor_free(ed);
		return NULL;
	}
	line_editor_set_up(ed);
	if (ed->path)
		line_editor_load_history(ed);
	return ed;
}

void line_editor_free(struct line_editor *ed)
{
	if (!ed)
		return;
	if (ed->edit)
		libedit.el_end(ed->edit);
	if (ed->history)
		libedit.history_end(ed->history);
	if (ed->in)
		fclose(ed->in);
	if (ed->out)
		fclose(ed->out);
	free(ed->path);
	free(ed);
}
