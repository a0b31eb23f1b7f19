/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fixture.h"

#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "guest/files.h"
#include "guest/start.h"
#include "guest/tree.h"
#include "inside/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Tests the guest's functions for files without a sandbox and without bash, so that sanitizers
 * check them. */

static char folder[FOLDER_MAX];
static struct fh_error error;

static int set_up(void **state)
{
	return folder_make(folder);
}

static int tear_down(void **state)
{
	return folder_remove(folder);
}

static char *in_folder(const char *name)
{
	static char path[2 * FOLDER_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	assert_done(fd_write_file(in_folder(name), text, strlen(text), 0644, &error));
}

static void test_get(void **state)
{
	static const struct {
		const char *path;
		int code;
		const char *says;
	} refused[] = {
		{ "none", -ENOENT, "does not exist" },
		{ "link", -ELOOP, "symbolic link" },
		{ "way/file", -ELOOP, "symbolic link" },
		{ "pipe", -EINVAL, "named pipe" },
		{ "sub", -EINVAL, "folder" },
		{ "large", -EFBIG, "more than the 4" },
		{ "../x", -ELOOP, "leads out" },
	};
	uint8_t digest[SHA256_BYTES];
	char text[8] = "", hex[SHA256_HEX_BYTES], expected[SHA256_HEX_BYTES];
	int fd = -1;

	write_text("file", "text");
	write_text("large", "more than four");
	assert_int_equal(mkdir(in_folder("sub"), 0755), 0);
	assert_int_equal(mkfifo(in_folder("pipe"), 0644), 0);
	assert_int_equal(symlink("file", in_folder("link")), 0);
	assert_int_equal(symlink(".", in_folder("way")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		assert_int_equal(files_get(folder, refused[i].path, 4, &fd, digest, &error),
				refused[i].code);
		assert_has(error.message, refused[i].says);
		assert_int_equal(fd, -1);
	}
	assert_done(files_get(folder, "file", 4, &fd, digest, &error));
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_string_equal(text, "text");
	assert_int_equal(fcntl(fd, F_GET_SEALS) & GUEST_SEALS, GUEST_SEALS);
	assert_true(write(fd, "x", 1) < 0);
	close(fd);
	assert_done(sha256_file(in_folder("file"), expected, &error));
	sha256_hex(digest, hex);
	assert_string_equal(hex, expected);
}

/* A sparse file is copied with its holes, and takes only the disk space and time of its data. */
static void test_get_sparse(void **state)
{
	static const off_t size = 1LL << 40;
	uint8_t empty[SHA256_BYTES], one[SHA256_BYTES], other[SHA256_BYTES];
	auto_close int file = open(in_folder("sparse"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	auto_close int copy = -1, again = -1, third = -1;
	char byte = 0;
	struct stat st;

	assert_int_equal(ftruncate(file, size), 0);
	assert_done(files_get(folder, "sparse", (uint64_t)size, &copy, empty, &error));
	assert_int_equal(fstat(copy, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_true(st.st_blocks * 512 < 1 << 20);
	assert_int_equal(pwrite(file, "x", 1, size / 2), 1);
	assert_done(files_get(folder, "sparse", (uint64_t)size, &again, one, &error));
	assert_int_equal(pread(again, &byte, 1, size / 2), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(pwrite(file, "\0x", 2, size / 2), 2); /* moves the x by a byte */
	assert_done(files_get(folder, "sparse", (uint64_t)size, &third, other, &error));
	assert_memory_not_equal(empty, one, sizeof(empty));
	assert_memory_not_equal(one, other, sizeof(one));
}

/* Files that are put into a sandbox belong to the agent. Outside of a sandbox, only root can give
 * files away. */
static void test_put(void **state)
{
	auto_buf struct buf text = BUF_INIT(64);
	auto_close int from = -1;
	struct stat st;

	if (geteuid() != 0) {
		print_message("skip test_put: only root can give files to another user\n");
		skip();
	}
	write_text("source", "put");
	from = open(in_folder("source"), O_RDONLY | O_CLOEXEC);
	assert_done(files_put(folder, "a/b/file", 0640, from, &error));
	assert_done(fd_read_file(in_folder("a/b/file"), &text, &error));
	assert_string_equal(buf_str(&text), "put");
	assert_int_equal(stat(in_folder("a/b"), &st), 0);
	assert_int_equal(st.st_uid, GUEST_AGENT_ID);
	assert_int_equal(symlink("/tmp", in_folder("out")), 0);
	assert_true(files_put(folder, "out/file", 0640, from, &error) < 0);
	assert_true(files_put(folder, "a/b", 0640, from, &error) < 0);
}

static void test_layer(void **state)
{
	char source[2 * FOLDER_MAX];
	const struct layer_entry entries[] = {
		{ .target = "workspace/empty" },
		{ .source = source, .target = "workspace/tree" },
		{ .source = "/nowhere/at/all", .target = "workspace/none" },
	};
	struct layer layer = { .name = "l", .entries = entries, .n_entries = 2 };
	auto_close int to = -1;
	struct stat st;

	if (geteuid() != 0) {
		print_message("skip test_layer: only root can give files to another user\n");
		skip();
	}
	assert_int_equal(mkdir(in_folder("made"), 0755), 0);
	assert_int_equal(mkdir(in_folder("tree"), 0700), 0);
	write_text("tree/file", "x");
	to = open(in_folder("made"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(source, sizeof(source), "%s/tree", folder);
	assert_done(layer_copy(to, &layer, &error));
	assert_int_equal(stat(in_folder("made/workspace/tree/file"), &st), 0);
	assert_int_equal(st.st_uid, NURSERY_ID(GUEST_AGENT_ID));
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(stat(in_folder("made/workspace/empty"), &st), 0);
	layer.n_entries = 3;
	assert_true(layer_copy(to, &layer, &error) < 0);
	assert_has(error.message, "/nowhere/at/all");
}

/* --- packing ---------------------------------------------------------------------------------- */

/* Reads an archive that pack() wrote. Gives a line for each entry: kind, path, and content or the
 * link's target. */
static void read_packed(FILE *from, struct buf *out)
{
	static const char kinds[] = "fdl.";
	struct pack_entry entry;
	char path[GUEST_PATH_MAX], content[64];

	while (fread(&entry, sizeof(entry), 1, from) == 1) {
		assert_true(entry.kind <= PACK_END && entry.path_bytes < sizeof(path));
		assert_true(entry.bytes < sizeof(content) && !(entry.mode & ~0777UL));
		assert_int_equal(fread(path, 1, entry.path_bytes, from), entry.path_bytes);
		assert_int_equal(fread(content, 1, entry.bytes, from), entry.bytes);
		buf_printf(out, "%c %.*s %.*s\n", kinds[entry.kind], (int)entry.path_bytes, path,
				(int)entry.bytes, content);
	}
}

static void pack_into(struct buf *out, const char *top, const char *const *left_out)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(pack_write(top, left_out, fileno(file)), 0);
	rewind(file);
	read_packed(file, out);
	fclose(file);
}

static void make_things_to_pack(void)
{
	static const char *const folders[] = { "pack", "pack/data", "pack/deep", "pack/deep/data" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdir(in_folder(folders[i]), 0755), 0);
	write_text("pack/file", "text");
	write_text("pack/data/hidden", "answers");
	write_text("pack/deep/data/mine", "mine");
	assert_int_equal(chmod(in_folder("pack/file"), 04755), 0);
	assert_int_equal(mkfifo(in_folder("pack/pipe"), 0644), 0);
	assert_int_equal(symlink("/etc", in_folder("pack/link")), 0);
	assert_int_equal(symlink("pack", in_folder("way-to-pack")), 0);
}

static void test_pack(void **state)
{
	static const char *const left_out[] = { "data", NULL };
	static const char *const lines[] = { "f file text\n", "d deep \n", "d deep/data \n",
		"f deep/data/mine mine\n", "l link /etc\n", ".  \n" };
	auto_buf struct buf packed = BUF_INIT(4096);
	size_t n = 0;

	make_things_to_pack();
	pack_into(&packed, in_folder("pack"), left_out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_has(buf_str(&packed), lines[i]);
		n += strlen(lines[i]);
	}
	assert_int_equal(packed.len, n);
	assert_true(strstr(buf_str(&packed), lines[1]) < strstr(buf_str(&packed), lines[3]));
	assert_true(str_ends(buf_str(&packed), lines[5]));
	assert_int_equal(pack_write(in_folder("way-to-pack"), left_out, -1), -ELOOP);
	assert_int_equal(pack_write(in_folder("nowhere"), left_out, -1), -ENOENT);
	assert_int_equal(pack_write(in_folder("pack/file"), left_out, -1), -ENOTDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_get, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_get_sparse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_put, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_layer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pack, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
