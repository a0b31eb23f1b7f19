/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/scope.h"
#include "base/sha256.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void hash_in_pieces(const char *text, size_t n, size_t piece, char hex[SHA256_HEX_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	for (size_t at = 0; at < n; at += piece)
		sha256_add(&h, text + at, n - at < piece ? n - at : piece);
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
}

/* Messages and SHA-256 hashes from NIST's examples and byte-oriented test vectors. */
static const struct {
	const char *text;
	const char *hex;
} vectors[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
	  "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	{ "\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
};

static void test_vectors(void **state)
{
	static const size_t pieces[] = { 1, 3, 63, 64, 65, 1000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(pieces); j++) {
			char hex[SHA256_HEX_BYTES];

			hash_in_pieces(vectors[i].text, strlen(vectors[i].text), pieces[j], hex);
			assert_string_equal(hex, vectors[i].hex);
		}
	}
}

static void test_a_million(void **state)
{
	auto_free char *text = malloc(1000000);
	char hex[SHA256_HEX_BYTES];

	(void)state;
	memset(text, 'a', 1000000);
	hash_in_pieces(text, 1000000, 4099, hex);
	assert_string_equal(
			hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_strings_keep_apart(void **state)
{
	static const char *const parts[][2] = { { "ab", "c" }, { "a", "bc" }, { "abc", "" },
		{ "abc", NULL } };
	uint8_t digests[ARRAY_SIZE(parts)][SHA256_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct sha256 h;

		sha256_init(&h);
		sha256_add_str(&h, parts[i][0]);
		sha256_add_str(&h, parts[i][1]);
		sha256_end(&h, digests[i]);
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(digests[i], digests[j], SHA256_BYTES);
	}
}

/* Test cases 1 to 4, 6 and 7 of RFC 4231. A key of one byte stands for that byte repeated. */
static const struct {
	const char *key;
	size_t n_key;
	const char *message;
	const char *hex;
} hmac_vectors[] = {
	{ "\x0b", 20, "Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ "Jefe", 4, "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ "\xaa", 20,
			"\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd"
			"\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd"
			"\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd\xdd",
			"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
	{ "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15"
	  "\x16\x17\x18\x19",
			25,
			"\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd"
			"\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd"
			"\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd",
			"82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
	{ "\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First",
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
	{ "\xaa", 131,
			"This is a test using a larger than block-size key and a larger than "
			"block-size data. The key needs to be hashed before being used by the HMAC "
			"algorithm.",
			"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
};

static void test_hmac(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hmac_vectors); i++) {
		const char *one = hmac_vectors[i].key;
		uint8_t key[131], digest[SHA256_BYTES];
		char hex[SHA256_HEX_BYTES];
		struct hmac h;

		for (size_t k = 0; k < hmac_vectors[i].n_key; k++)
			key[k] = (uint8_t)one[k % strlen(one)];
		hmac_init(&h, key, hmac_vectors[i].n_key);
		sha256_add(&h.inner, hmac_vectors[i].message, strlen(hmac_vectors[i].message));
		hmac_end(&h, digest);
		sha256_hex(digest, hex);
		assert_string_equal(hex, hmac_vectors[i].hex);
	}
}

static void test_files(void **state)
{
	char dir[] = "/tmp/test_base_sha256.XXXXXX";
	char hex[SHA256_HEX_BYTES] = "";
	char path[100], fifo[100];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/abc", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(fd_write_file(path, "abc", 3, 0600, NULL), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(sha256_file(path, hex, NULL), 0);
	assert_string_equal(hex, vectors[1].hex);
	assert_int_equal(sha256_file(fifo, hex, NULL), -EINVAL);
	assert_int_equal(sha256_file(dir, hex, NULL), -EISDIR);
	assert_string_equal(hex, vectors[1].hex);
	unlink(path);
	unlink(fifo);
	rmdir(dir);
	assert_int_equal(sha256_file(path, hex, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_a_million),
		cmocka_unit_test(test_strings_keep_apart),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
