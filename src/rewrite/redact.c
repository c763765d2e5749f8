/*
 * rewrite/redact.c - writes dumps without secrets. Contents of arrays and primitive values are
 * removed, except for the fields (see `kept`) that determine the sizes and states of platform
 * classes.
 */
#include "base/bytes.h"
#include "base/glob.h"
#include "base/sha1.h"
#include "base/siphash.h"
#include "rewrite/blank.h"
#include "rewrite/kept.h"
#include "rewrite/renames.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewriter.h"
#include "rewrite/secret_report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * Replaces contents with letters of the same length. Under the same key, equal contents produce
 * equal letters, so duplicates can still be found.
 */

struct rewrite_hashes {
	uint8_t key[BASE_SIPHASH_KEY_BYTES];
};

/* Maximum size of a key file. A larger file was probably given by mistake. */
#define KEY_FILE_MAX 4096u
#define HASHED_BYTES (256u << 10)
/*
 * Length of a hash: ten 6-bit characters from each of its two words. The last four bits of each
 * word are unused.
 */
#define LETTERS 20u

static int read_key(struct rewrite_hashes *h, const char *path, struct hdb_error *err)
{
	uint8_t bytes[KEY_FILE_MAX + 1], digest[BASE_SHA1_BYTES];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return hdb_fail_open(err, errno, path);
	while (used < sizeof(bytes) && (n = read(fd, bytes + used, sizeof(bytes) - used)) > 0)
		used += (size_t)n;
	(void)close(fd);
	if (n < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if (used < BASE_SIPHASH_KEY_BYTES || used > KEY_FILE_MAX)
		return hdb_fail(err, HDB_EUSAGE, "%s: the key must be %u to %u bytes long", path,
				BASE_SIPHASH_KEY_BYTES, KEY_FILE_MAX);
	/*
	 * Hashing uses all of the file's entropy, even if it is spread thin, as in a hexadecimal
	 * key.
	 */
	base_sha1(bytes, used, digest);
	memcpy(h->key, digest, sizeof(h->key));
	explicit_bzero(bytes, sizeof(bytes));
	return HDB_OK;
}

/*
 * Reads the key from a file of at least 16 bytes. If `path` is NULL, generates a random key, whose
 * hashes nobody can reproduce.
 */
static int rewrite_hashes_open(struct rewrite_hashes *h, const char *path, struct hdb_error *err)
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

/* The replacement for the contents of an array. */
struct hashed {
	char letters[LETTERS]; /* the hash */
	bool is_zero;          /* whether all elements are zero; such an array is not changed */
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
	for (uint64_t at = 0; at < sub->body_size; at += HASHED_BYTES) {
		const uint64_t left = sub->body_size - at;
		const uint64_t n = left < HASHED_BYTES ? left : HASHED_BYTES;
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

/*
 * Writes a primitive array that repeats the 20 letters of its hash. An array of zeros is written
 * unchanged.
 */
static int rewrite_hashes_array(const struct rewrite_hashes *h, struct rewriter *w,
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
	/* Elements are big-endian, so the letter goes into the last byte. */
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

/*
 * Fields whose values are always kept: the number of entries in a collection, the encoding of a
 * string, and the state of a thread or Android object. These values reveal nothing about the
 * program's data. Hash codes do reveal something, so they are not listed.
 */
static const struct {
	const char *class_name; /* glob pattern */
	const char *fields;     /* separated by | */
} kept[] = {
	{ "java.util.*",
	  "size|count|elementCount|head|tail|takeIndex|putIndex|capacity|baseCount|threshold" },
	{ "java.lang.String", "coder|offset|count" },
	{ "java.lang.AbstractStringBuilder", "coder|count" },
	{ "java.lang.Thread*", "threadStatus|daemon|priority|tid" },
	{ "java.nio.*", "capacity|limit|position" },
	{ "android.*",
	  "mDestroyed|mFinished|mWindowAttachCount|mWidth|mHeight|mRemoved|mDetached" },
	{ "androidx.*", "mDestroyed|mRemoved|mDetached|mCleared|isCleared" },
};

struct redact {
	const struct hdb_redact_options *opt;
	struct rewrite_shapes shapes;
	struct rewrite_kept strings;    /* strings for HDB_REDACT_TEXTS */
	struct rewrite_hashes hashes;   /* hashes for opt->hash */
	struct rewrite_renames renames; /* new names from opt->names_path */
	struct rewrite_named named;
	struct rewrite_secrets *secrets; /* secrets for opt->report_path; NULL means no report */
};

/*
 * Returns whether `wanted` matches a field. "CLASS" matches all fields of a class, and
 * "CLASS:FIELD" one field. If field_name is NULL, tests the class only.
 */
static bool is_meant(const char *wanted, const char *class_name, const char *field_name)
{
	const char *colon = strrchr(wanted, ':');
	char pattern[REWRITE_NAME_MAX];
	const size_t n = colon ? (size_t)(colon - wanted) : strlen(wanted);

	if (n >= sizeof(pattern))
		return false;
	memcpy(pattern, wanted, n);
	pattern[n] = '\0';
	if (!base_glob(pattern, class_name))
		return false;
	return !colon || (field_name && base_glob(colon + 1, field_name));
}

static bool is_wanted(const struct redact *d, const char *class_name, const char *field_name)
{
	for (const char *const *k = d->opt->keep; k && *k; k++)
		if (is_meant(*k, class_name, field_name))
			return true;
	return false;
}

/* rewrite_shapes.selects: selects the fields whose values are removed. */
static bool selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	if (type == HPROF_OBJECT || rewrite_blank_spares(class_name, field_name))
		return false;
	for (size_t i = 0; i < BASE_COUNT(kept); i++)
		if (base_glob(kept[i].class_name, class_name) &&
		    base_is_among(kept[i].fields, field_name))
			return false;
	return !is_wanted(ctx, class_name, field_name);
}

/* ---- arrays ---- */

/* Minimum number of consecutive printable characters that count as text. */
#define TEXT_UNITS 4u
/* Number of bytes to examine at a time. */
#define CHUNK_BYTES (64u << 10)

static bool is_printable(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Returns the number of bytes that follow the first byte of a UTF-8 character outside ASCII, or 0
 * if the byte does not begin such a character.
 */
static unsigned utf8_more(const uint8_t *p, uint64_t size)
{
	const unsigned more = p[0] < 0xc2 || p[0] > 0xf4 ? 0 : 1u + (p[0] >= 0xe0) + (p[0] >= 0xf0);

	for (unsigned i = 1; i <= more; i++)
		if (i >= size || (p[i] & 0xc0) != 0x80)
			return 0;
	return more;
}

/*
 * Returns whether the bytes contain text: consecutive printable bytes, possibly each followed by a
 * zero byte as in UTF-16. run[] holds the current run length for both encodings, and must be kept
 * between chunks of an array.
 */
static bool has_text(const uint8_t *p, uint64_t size, unsigned run[2])
{
	for (uint64_t i = 0; i < size; i++) {
		const unsigned more = utf8_more(p + i, size - i);
		const bool is_one = is_printable(p[i]) || more;

		run[0] = is_one ? run[0] + 1 : 0;
		/* In UTF-16, a zero byte neither ends a string nor counts as a character. */
		run[1] = is_one ? run[1] + 1 : p[i] == 0 ? run[1] : 0;
		if (run[0] >= TEXT_UNITS || run[1] >= TEXT_UNITS)
			return true;
		i += more;
	}
	return false;
}

/*
 * Sets *out to whether the array holds text. Char arrays, the arrays of strings and the bytes of
 * cryptographic keys always count as text. Other byte arrays count as text if their contents look
 * like text.
 */
static int holds_text(const struct redact *d, struct rewriter *w, const struct hprof_sub *sub,
		      bool *out, struct hdb_error *err)
{
	unsigned run[2] = { 0, 0 };

	*out = sub->element_type == HPROF_CHAR || rewrite_kept_has(&d->strings, sub->id);
	if (*out || sub->element_type != HPROF_BYTE)
		return HDB_OK;
	for (uint64_t at = 0; at < sub->body_size && !*out; at += CHUNK_BYTES) {
		const uint64_t left = sub->body_size - at;
		const uint64_t n = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		const uint8_t *p = base_view_at(&w->view, sub->body_offset + at, n, err);

		if (!p)
			return HDB_EIO;
		*out = has_text(p, n, run);
	}
	return HDB_OK;
}

/* Sets *out to whether to remove the contents of the array. */
static int goes(struct redact *d, struct rewriter *w, const struct hprof_sub *sub, bool *out,
		struct hdb_error *err)
{
	const char *type = hprof_type_name(sub->element_type);
	char name[32] = "";

	if (type)
		(void)snprintf(name, sizeof(name), "%s[]", type);
	*out = !is_wanted(d, name, NULL);
	if (!*out || d->opt->arrays == HDB_REDACT_ARRAYS)
		return HDB_OK;
	if (d->opt->arrays == HDB_REDACT_TEXTS)
		return holds_text(d, w, sub, out, err);
	*out = sub->element_type == HPROF_CHAR || sub->element_type == HPROF_BYTE;
	return HDB_OK;
}

static int take_array(struct redact *d, struct rewriter *w, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	bool is_gone;

	assert(sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP);
	TRY(goes(d, w, sub, &is_gone, err));
	if (d->secrets)
		TRY(rewrite_secrets_array(d->secrets, w, sub, !is_gone, err));
	if (!is_gone)
		return rewriter_keep(w, sub, err);
	if (d->opt->hash && (sub->element_type == HPROF_CHAR || sub->element_type == HPROF_BYTE))
		return rewrite_hashes_array(&d->hashes, w, sub, err);
	return rewrite_blank_array(w, sub, err);
}

/* ---- the whole dump ---- */

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct redact *d = ctx;

	switch (sub->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		return take_array(d, w, sub, err);
	case HPROF_INSTANCE_DUMP:
		return rewrite_blank_instance(&d->shapes, sub, err);
	case HPROF_CLASS_DUMP:
		return rewrite_blank_class(&d->shapes, sub, err);
	default:
		return rewriter_keep(w, sub, err);
	}
}

static int take_record(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		       struct hdb_error *err)
{
	struct redact *d = ctx;
	struct hprof_record cut = *rec;
	bool stays;

	TRY(rewrite_named_stays(&d->named, &cut, &stays, err));
	if (d->secrets)
		TRY(rewrite_secrets_record(d->secrets, w, rec, stays, err));
	if (!stays)
		return HDB_OK;
	return rewrite_renames_record(&d->renames, w, &cut, &w->result.renamed_count, err);
}

static int redact(struct redact *d, struct rewriter *w, struct hdb_error *err)
{
	const struct hdb_redact_options *opt = d->opt;
	const struct rewrite_policy policy = {
		.ctx = d,
		.sub = take_sub,
		.record = take_record,
		.marker = opt->hash ? HPROF_HASHED : HPROF_REDACTED,
	};

	if (opt->hash)
		TRY(rewrite_hashes_open(&d->hashes, opt->key_path, err));
	if (opt->names_path)
		TRY(rewrite_renames_read(&d->renames, opt->names_path, err));
	if (opt->report_path)
		TRY(rewrite_secrets_open(opt->report_path, opt->output->force != 0, &d->secrets,
					 err));
	if (opt->arrays == HDB_REDACT_TEXTS)
		TRY(rewrite_kept_load(&d->strings, err));
	TRY(rewrite_shapes_load(&d->shapes, err));
	TRY(rewriter_run(w, &policy, err));
	return d->secrets ? rewrite_secrets_finish(d->secrets, &w->result.secret_count, err) :
			    HDB_OK;
}

static void release(struct redact *d)
{
	explicit_bzero(&d->hashes, sizeof(d->hashes));
	rewrite_kept_release(&d->strings);
	rewrite_secrets_close(d->secrets);
	rewrite_renames_release(&d->renames);
	rewrite_named_release(&d->named);
	rewrite_shapes_release(&d->shapes);
}

int rewrite_redact(struct rewrite_paths paths, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	BASE_SCOPED(rewriter_close) struct rewriter w = { 0 };
	BASE_SCOPED(release)
	struct redact d = {
		.opt = opt,
		.shapes = { .w = &w,
			    .selects = selects,
			    .ctx = &d,
			    .has_names = true,
			    .named = &d.named },
		.named = { .w = &w },
		.strings = { .w = &w, .what = HDB_KEEP_STRINGS, .has_keys = true },
	};

	if (opt->report_path)
		TRY(rewriter_check_output(paths.in, opt->report_path, err));
	TRY(rewriter_open(&w, paths, opt->output, work, err));
	TRY(redact(&d, &w, err));
	return rewriter_finish(&w, out, err);
}
