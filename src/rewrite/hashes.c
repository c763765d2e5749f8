/* rewrite/hashes.c - writes hashes in place of contents. */
#include "rewrite/hashes.h"

#include "base/bytes.h"
#include "base/sha1.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Maximum size of a key file. A larger file was probably named by mistake. */
#define KEY_FILE_MAX 4096u
#define CHUNK_BYTES (256u << 10)
/*
 * Letters of a hash: ten of six bits from each of the two words. The last four bits of each are not
 * used.
 */
#define LETTERS 20u

static int read_key(struct rewrite_hashes *h, const char *path, struct hdb_error *err)
{
	uint8_t bytes[KEY_FILE_MAX + 1], digest[BASE_SHA1_BYTES];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	while (used < sizeof(bytes) && (n = read(fd, bytes + used, sizeof(bytes) - used)) > 0)
		used += (size_t)n;
	(void)close(fd);
	if (n < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if (used < BASE_SIPHASH_KEY_BYTES || used > KEY_FILE_MAX)
		return hdb_fail(err, HDB_EUSAGE, "%s: the key must be %u to %u bytes long", path,
				BASE_SIPHASH_KEY_BYTES, KEY_FILE_MAX);
	/*
	 * Hashing the file uses all of its randomness, wherever it is, e.g. if the key is
	 * hexadecimal.
	 */
	base_sha1(bytes, used, digest);
	memcpy(h->key, digest, sizeof(h->key));
	explicit_bzero(bytes, sizeof(bytes));
	return HDB_OK;
}

int rewrite_hashes_open(struct rewrite_hashes *h, const char *path, struct hdb_error *err)
{
	if (path)
		return read_key(h, path, err);
	if (getrandom(h->key, sizeof(h->key), 0) != sizeof(h->key))
		return hdb_fail_errno(err, errno, "cannot generate a random key");
	return HDB_OK;
}

static bool is_zero(const uint8_t *p, uint64_t size)
{
	return !size || (!p[0] && memcmp(p, p + 1, size - 1) == 0);
}

/* What replaces the contents of an array. */
struct hashed {
	char letters[LETTERS]; /* the hash */
	bool is_zero;          /* all elements are zero: they stay zero */
};

static int hash_array(const struct rewrite_hashes *h, struct rewriter *w,
		      const struct hprof_sub *sub, struct hashed *hashed, struct hdb_error *err)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	struct base_siphash sip;
	uint64_t out[2];

	hashed->is_zero = true;
	base_siphash_init(&sip, h->key);
	base_siphash_add(&sip, &sub->element_type, 1);
	for (uint64_t at = 0; at < sub->body_size; at += CHUNK_BYTES) {
		const uint64_t left = sub->body_size - at;
		const uint64_t n = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		const uint8_t *p = base_view_at(&w->view, sub->body_offset + at, n, err);

		if (!p)
			return HDB_EIO;
		hashed->is_zero = hashed->is_zero && is_zero(p, n);
		base_siphash_add(&sip, p, n);
	}
	base_siphash_end(&sip, out);
	for (unsigned i = 0; i < LETTERS; i++)
		hashed->letters[i] = alphabet[out[i / 10] >> i % 10 * 6 & 63];
	return HDB_OK;
}

int rewrite_hashes_array(const struct rewrite_hashes *h, struct rewriter *w,
			 const struct hprof_sub *sub, struct hdb_error *err)
{
	const unsigned width = hprof_type_size(sub->element_type, w->file.id_size);
	const uint64_t some = LETTERS * 64, most = sub->body_size < some ? sub->body_size : some;
	uint8_t out[LETTERS * 64];
	struct hashed hashed = { 0 };

	assert(sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP);
	TRY(hash_array(h, w, sub, &hashed, err));
	TRY(rewriter_begin(w, sub->end - sub->offset, err));
	TRY(rewriter_copy(w, sub->offset, sub->body_offset - sub->offset, err));
	w->result.changed_count++;
	w->result.changed_bytes += sub->body_size;
	if (hashed.is_zero)
		return rewriter_zeros(w, sub->body_size, err);
	/*
	 * Chars are big-endian, so the letter is the last byte of an element; the others are zero.
	 */
	memset(out, 0, most);
	for (size_t i = width - 1, letter = 0; i < most; i += width) {
		out[i] = (uint8_t)hashed.letters[letter++];
		letter = letter == LETTERS ? 0 : letter;
	}
	for (uint64_t left = sub->body_size; left;) {
		const uint64_t n = left < most ? left : most;

		TRY(rewriter_put(w, out, n, err));
		left -= n;
	}
	return HDB_OK;
}
