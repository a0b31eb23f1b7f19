/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A builtin for the shell. With words it counts them in all memory of the shell. Each word is given
 * in hex with inverted bits, so that the builtin does not find its own copies. Without arguments it
 * lists the shell's descriptors. `spoil` overwrites shared memory. `punch` tries to free the pages
 * of the memory that the shell shares with its owner.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct word_list {
	struct word_list *next;
	struct {
		char *word;
		int flags;
	} * word;
} WORD_LIST;

struct builtin {
	const char *name;
	int (*function)(WORD_LIST *);
	int flags;
	const char *const *long_doc;
	const char *short_doc;
	char *handle;
};

static unsigned char byte_of(const char *hex)
{
	unsigned value;

	sscanf(hex, "%2x", &value);
	return (unsigned char)value;
}

static long count_in(const unsigned char *from, const unsigned char *to, const char *turned)
{
	unsigned char word[512];
	size_t n = strlen(turned) / 2;
	long found = 0;

	for (size_t i = 0; i < n; i++)
		word[i] = byte_of(turned + 2 * i);
	for (; from + n <= to; from++) {
		size_t i = 0;

		while (i < n && from[i] == (unsigned char)~word[i])
			i++;
		found += i == n;
	}
	return found;
}

/* Counts a word in all memory of the shell, and prints `WORD COUNT`. The word is given and printed
 * in hex with inverted bits. */
static int look_for(const char *turned)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t from, to;
	char line[512], rights[8];
	long found = 0;

	if (!maps)
		return 1;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || rights[0] != 'r')
			continue;
		if (!strstr(line, "[vvar") && !strstr(line, "[vsyscall"))
			found += count_in((void *)from, (void *)to, turned);
	}
	fclose(maps);
	printf("%s %ld\n", turned, found);
	fflush(stdout);
	return 0;
}

/* Attacks the owner: fills the memory shared with it, and the page shared with the porter, with
 * 0x7f. Skips mappings of more than `most` bytes. */
static int spoil(long most)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t from, to;
	char line[512], rights[8];

	if (!maps)
		return 1;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 ||
				strcmp(rights, "rw-s") != 0 || (long)(to - from) > most)
			continue;
		memset((void *)from, 0x7f, to - from);
		printf("spoiled %ld\n", (long)(to - from));
	}
	fclose(maps);
	fflush(stdout);
	return 0;
}

static int punch(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t from, to;
	char line[512];

	if (!maps)
		return 1;
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:shell") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			printf("punched %s\n",
					madvise((void *)from, to - from, MADV_REMOVE) < 0
							? strerrorname_np(errno)
							: "done");
	fclose(maps);
	fflush(stdout);
	return 0;
}

static void show_descriptors(void)
{
	static const struct {
		mode_t mode;
		const char *name;
	} kinds[] = { { S_IFIFO, "pipe" }, { S_IFSOCK, "socket" }, { S_IFCHR, "device" },
		{ S_IFREG, "file" }, { S_IFDIR, "folder" } };
	struct stat st;

	for (int fd = 0; fd < 65536; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if ((st.st_mode & S_IFMT) == kinds[i].mode)
				printf("%d %s\n", fd, kinds[i].name);
	}
	fflush(stdout);
}

static int memory(WORD_LIST *list)
{
	int r = 0;

	if (!list)
		show_descriptors();
	if (list && list->next && strcmp(list->word->word, "spoil") == 0)
		return spoil(strtol(list->next->word->word, NULL, 10));
	if (list && strcmp(list->word->word, "punch") == 0)
		return punch();
	for (; list && r == 0; list = list->next)
		r = look_for(list->word->word);
	return r;
}

static const char *const documentation[] = { NULL };
struct builtin memory_struct = { "memory", memory, 1, documentation,
	"memory [punch | spoil BYTES | WORD...]", NULL };
