/*
 * hprof/salvage.c - distinguishes records from garbage; see salvage.h.
 *
 * Evidence is measured in bits: the negative logarithm of the probability that garbage would look
 * the same. An instance of a known class is the strongest evidence. A root is the weakest, because
 * small numbers and 0xff bytes look like root tags.
 */
#include "hprof/salvage.h"

#include "base/bytes.h"
#include "base/idmap.h"
#include "hprof/parse.h"

#include <assert.h>

/* Number of bytes searched between checks of the cancel flag. */
#define CANCEL_BYTES 1024u

/*
 * Maximum number of classes. No VM loads as many classes, and the limit keeps the table below 32 MB
 * for any dump.
 */
#define CLASS_LIMIT (1u << 21)

/* Maximum number of sub-records to follow for evidence. */
#define CHAIN_MAX 64

/*
 * Evidence, in bits, if a chain of sub-records ends at the limit, before a top-level record, or at
 * a truncated sub-record at the end of the file.
 */
enum { BITS_END = 10, BITS_RECORD = 20, BITS_CUT = 8 };

/*
 * Maximum number of consecutive records with unknown tags to skip before a known one. If this many
 * lengths in a row each lead to another record inside the file, that is sufficient evidence.
 */
#define UNKNOWN_ROW_MAX 64u

/* Result of a check that neither confirms a record (result 1) nor rejects it (result 0). */
#define UNDECIDED 2

void hprof_salvage_init(struct hprof_salvage *s, const struct hprof_file *file,
			struct base_view *view)
{
	assert(file->id_size == 4 || file->id_size == 8);
	*s = (struct hprof_salvage){ .file = file, .view = view };
	/* A search takes a few steps per byte, and searches each byte only a few times. */
	s->budget = file->source->size / 4 > UINT64_MAX / 64 ? UINT64_MAX :
							       file->source->size * 16 + (1u << 20);
}

void hprof_salvage_release(struct hprof_salvage *s)
{
	base_idmap_release(&s->classes);
}

static bool class_known(const struct hprof_salvage *s, uint64_t id)
{
	return base_idmap_get(&s->classes, id) != BASE_IDMAP_NONE;
}

int hprof_salvage_add_class(struct hprof_salvage *s, uint64_t class_id, struct hdb_error *err)
{
	return class_id == 0 || s->classes.count >= CLASS_LIMIT ?
		       HDB_OK :
		       base_idmap_put(&s->classes, class_id, 0, err);
}

bool hprof_tag_known(uint8_t tag)
{
	return (tag >= HPROF_UTF8 && tag <= HPROF_HEAP_SUMMARY) ||
	       (tag >= HPROF_START_THREAD && tag <= HPROF_CONTROL_SETTINGS) ||
	       tag == HPROF_HEAP_DUMP_SEGMENT || tag == HPROF_HEAP_DUMP_END ||
	       tag == HPROF_REDACTION_MARK;
}

static bool sub_tag_known(uint8_t tag)
{
	return hprof_sub_is_root(tag) ||
	       (tag >= HPROF_CLASS_DUMP && tag <= HPROF_PRIMITIVE_ARRAY_DUMP) ||
	       tag == HPROF_PRIMITIVE_ARRAY_NODATA || tag == HPROF_HEAP_DUMP_INFO;
}

bool hprof_tag_unknown(uint8_t tag)
{
	return tag && !hprof_tag_known(tag) && !sub_tag_known(tag);
}

bool hprof_size_fits(uint8_t tag, uint64_t body_size, unsigned id_size)
{
	switch (tag) {
	case HPROF_UTF8:
		return body_size >= id_size;
	case HPROF_LOAD_CLASS:
		return body_size == 8 + 2 * (uint64_t)id_size;
	case HPROF_FRAME:
	case HPROF_START_THREAD:
		return body_size == 8 + 4 * (uint64_t)id_size;
	case HPROF_TRACE:
		return body_size >= 12 && (body_size - 12) % id_size == 0;
	case HPROF_ALLOC_SITES:
		return body_size >= 34 && (body_size - 34) % HPROF_ALLOC_SITE_SIZE == 0;
	case HPROF_HEAP_SUMMARY:
		return body_size == 24;
	case HPROF_UNLOAD_CLASS:
	case HPROF_END_THREAD:
		return body_size == 4;
	case HPROF_CPU_SAMPLES:
		return body_size >= 8 && (body_size - 8) % 8 == 0;
	case HPROF_CONTROL_SETTINGS:
		return body_size == 6;
	case HPROF_HEAP_DUMP_END:
		return body_size == 0;
	case HPROF_REDACTION_MARK:
		return body_size >= sizeof(HPROF_REDACTED_BY_ANALYZER) - 1 && body_size <= 256;
	default:
		return false;
	}
}

static bool spend(struct hprof_salvage *s, uint64_t steps)
{
	if (s->budget < steps) {
		s->budget = 0;
		return false;
	}
	s->budget -= steps;
	return true;
}

/*
 * Returns whether a VM may have written this string. Such strings contain no zero byte, because
 * Modified UTF-8 encodes U+0000 in two bytes.
 */
static int text_plausible(struct hprof_salvage *s, uint64_t offset, uint64_t size,
			  struct hdb_error *err)
{
	const uint64_t look = size < HPROF_TEXT_LOOK ? size : HPROF_TEXT_LOOK;
	const uint8_t *p;

	if (size > HPROF_TEXT_MAX)
		return 0;
	if (look == 0)
		return 1;
	p = base_view_at(s->view, offset, look, err);
	if (!p)
		return hprof_view_failed(err);
	return !memchr(p, 0, (size_t)look);
}

/*
 * Returns 1 if the counts inside a record are consistent with its size, or if this kind of record
 * has none, and otherwise 0.
 */
static int counts_plausible(struct hprof_salvage *s, uint8_t tag, uint64_t body, uint64_t size,
			    struct hdb_error *err)
{
	const unsigned id = s->file->id_size;
	const uint8_t *p;

	if (tag == HPROF_UTF8)
		return text_plausible(s, body + id, size - id, err);
	if (tag != HPROF_TRACE && tag != HPROF_ALLOC_SITES && tag != HPROF_CPU_SAMPLES)
		return 1;
	p = base_view_at(s->view, body,
			 tag == HPROF_ALLOC_SITES ? 34 : 8 + 4 * (tag == HPROF_TRACE), err);
	if (!p)
		return hprof_view_failed(err);
	if (tag == HPROF_TRACE)
		return be32(p + 8) == (size - 12) / id;
	if (tag == HPROF_CPU_SAMPLES)
		return be32(p + 4) == (size - 8) / 8;
	return be32(p + 30) == (size - 34) / HPROF_ALLOC_SITE_SIZE;
}

/*
 * Checks the header of a top-level record. If it is plausible, sets *end and returns 1; otherwise
 * returns 0. Does not examine the contents of a heap dump record, whose end may be beyond the end
 * of the file.
 */
static int head_plausible(struct hprof_salvage *s, uint64_t offset, uint64_t *end, bool *is_heap,
			  struct hdb_error *err)
{
	const uint64_t file_size = s->file->source->size;
	const uint8_t *p;
	uint64_t size, body = offset + 9;
	uint8_t tag;

	if (offset > file_size || file_size - offset < 9)
		return 0;
	p = base_view_at(s->view, offset, 9, err);
	if (!p)
		return hprof_view_failed(err);
	tag = p[0];
	size = be32(p + 5);
	*end = body + size;
	*is_heap = hprof_tag_is_heap(tag);
	if (*is_heap) {
		if (size == 0 || body == file_size)
			return 1;
		p = base_view_at(s->view, body, 1, err);
		if (!p)
			return hprof_view_failed(err);
		return sub_tag_known(p[0]);
	}
	if (!hprof_size_fits(tag, size, s->file->id_size) || size > file_size - body)
		return 0;
	return counts_plausible(s, tag, body, size, err);
}

int hprof_size_proven(struct hprof_salvage *s, const struct hprof_record *rec,
		      struct hdb_error *err)
{
	if (rec->tag == HPROF_UTF8 || !hprof_size_fits(rec->tag, rec->body_size, s->file->id_size))
		return 0;
	return counts_plausible(s, rec->tag, rec->body_offset, rec->body_size, err);
}

/*
 * Judges a heap record by its sub-records, which are better evidence than the data after the
 * record: the record's length may be wrong, or 0 if the writer was stopped before filling it in.
 * Returns UNDECIDED if only the data after the record can decide.
 */
static int heap_plausible(struct hprof_salvage *s, uint64_t body, uint64_t end, unsigned need,
			  struct hdb_error *err)
{
	const uint64_t size = s->file->source->size;
	const uint64_t limit = end == body || end > size ? size : end;
	int rc = hprof_chain_strength(s, body, limit, need, err);

	if (rc != 0)
		return rc;
	if (end > size)
		return 0;
	if (need >= HPROF_STRENGTH_SURE && end > body) {
		rc = hprof_chain_strength(s, body, end, HPROF_STRENGTH_LIKELY, err);
		if (rc <= 0)
			return rc;
	}
	return UNDECIDED;
}

/*
 * Skips at most *left records with unknown tags. Returns 1 if a known record may follow, 0 if no
 * known record can, and a negative value if the source cannot be read.
 */
static int pass_unknown(struct hprof_salvage *s, uint64_t *offset, unsigned *left,
			struct hdb_error *err)
{
	const uint64_t size = s->file->source->size;

	while (*left && *offset < size && size - *offset >= 9) {
		const uint8_t *p = base_view_at(s->view, *offset, 9, err);

		if (!p)
			return hprof_view_failed(err);
		if (!hprof_tag_unknown(p[0]))
			return 1;
		if (be32(p + 5) > size - *offset - 9)
			return 0;
		*offset += 9 + (uint64_t)be32(p + 5);
		--*left;
	}
	return 1;
}

/* The evidence required of a record (hprof_record_plausible). */
struct evidence {
	unsigned depth;   /* number of consecutive records */
	unsigned need;    /* required strength of a heap record's sub-records */
	unsigned unknown; /* maximum number of records with unknown tags in between */
};

static int records_at(struct hprof_salvage *s, uint64_t offset, struct evidence evidence,
		      struct hdb_error *err)
{
	const bool passes_unknown = evidence.unknown > 0;
	const uint64_t size = s->file->source->size;

	for (unsigned i = 0; i < evidence.depth; i++) {
		uint64_t end;
		bool is_heap;
		int rc;

		rc = passes_unknown ? pass_unknown(s, &offset, &evidence.unknown, err) : 1;
		if (rc <= 0)
			return rc;
		if (offset == size || (passes_unknown && !evidence.unknown))
			return 1;
		rc = head_plausible(s, offset, &end, &is_heap, err);
		if (rc <= 0)
			return rc;
		if (is_heap && i == 0 && offset + 9 == size && evidence.need >= HPROF_STRENGTH_SURE)
			return 0; /* the tag alone is not evidence */
		if (is_heap && offset + 9 < size) {
			rc = heap_plausible(s, offset + 9, end, evidence.need, err);
			if (rc != UNDECIDED)
				return rc;
		}
		offset = end;
	}
	return 1;
}

int hprof_record_plausible(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			   struct hdb_error *err)
{
	return records_at(s, offset, (struct evidence){ depth, HPROF_STRENGTH_LIKELY, 0 }, err);
}

int hprof_record_follows(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			 struct hdb_error *err)
{
	return records_at(s, offset,
			  (struct evidence){ depth, HPROF_STRENGTH_LIKELY, UNKNOWN_ROW_MAX }, err);
}

/*
 * Returns the evidence provided by a root, in bits, or a negative value if it cannot be a root. A
 * run of plain roots read from a wrong offset still looks like roots. Their IDs must therefore
 * belong to a class or look like addresses: aligned, with zeros in the high bytes.
 */
static int root_strength(const struct hprof_salvage *s, const struct hprof_sub *sub)
{
	const bool small_serial = sub->thread_serial < (1u << 20);

	if (sub->id == 0 || sub->id == UINT32_MAX || sub->id >> 48 != 0)
		return -1;
	switch (sub->tag) {
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
	case HPROF_ROOT_JNI_MONITOR:
		return small_serial && (sub->frame_number < (1u << 20) ||
					sub->frame_number == UINT32_MAX) ?
			       12 :
			       -1;
	case HPROF_ROOT_THREAD_OBJECT:
		return small_serial && (sub->trace_serial < (1u << 24) ||
					sub->trace_serial == UINT32_MAX) ?
			       12 :
			       -1;
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		return small_serial ? 8 : -1;
	default:
		if (sub->tag == HPROF_ROOT_STICKY_CLASS && class_known(s, sub->id))
			return 40;
		return sub->id % 4 == 0 ? 3 : 0;
	}
}

/* Checks the header of a class dump. All known writers set the two reserved identifiers to zero. */
static int class_plausible(struct hprof_salvage *s, uint64_t offset, uint64_t limit,
			   struct hdb_error *err)
{
	const unsigned id = s->file->id_size;
	const uint8_t *p;
	uint64_t super;

	if (limit - offset < 9 + 7 * (uint64_t)id)
		return 1;
	p = base_view_at(s->view, offset + 1, 8 + 7 * (uint64_t)id, err);
	if (!p)
		return hprof_view_failed(err);
	super = be_id(p + id + 4, id);
	return be_id(p + 5 * id + 4, id) == 0 && be_id(p + 6 * id + 4, id) == 0 &&
	       (super == 0 || class_known(s, super) || s->classes.count == 0);
}

/*
 * Returns the evidence provided by a parsed sub-record, in bits. Sets *ok to false if it cannot be
 * a sub-record.
 */
static unsigned sub_strength(const struct hprof_salvage *s, const struct hprof_sub *sub, bool *ok)
{
	*ok = true;
	if (hprof_sub_is_root(sub->tag)) {
		const int bits = root_strength(s, sub);

		*ok = bits >= 0;
		return bits > 0 ? (unsigned)bits : 0;
	}
	if (sub->tag == HPROF_HEAP_DUMP_INFO) {
		*ok = sub->id < (1u << 16);
		return 12;
	}
	*ok = sub->id != 0;
	switch (sub->tag) {
	case HPROF_CLASS_DUMP:
		return 50;
	case HPROF_INSTANCE_DUMP:
	case HPROF_OBJECT_ARRAY_DUMP:
		return class_known(s, sub->class_id) ? 40 : 0;
	default:
		return 12;
	}
}

/*
 * Parses one sub-record as evidence. Returns 1 if the sub-record is valid, 0 if not, and 2 if it
 * extends beyond the limit.
 */
static int chain_step(struct hprof_salvage *s, uint64_t offset, uint64_t limit,
		      struct hprof_sub *sub, struct hdb_error *err)
{
	const uint8_t *p = base_view_at(s->view, offset, 1, err);
	int rc;

	if (!p)
		return hprof_view_failed(err);
	if (!spend(s, 4))
		return 0;
	if (p[0] == HPROF_CLASS_DUMP) {
		rc = class_plausible(s, offset, limit, err);
		if (rc <= 0)
			return rc;
	}
	rc = hprof_sub_parse(s->file, s->view, (struct hprof_range){ offset, limit }, sub, err);
	TRY_ERRORS(rc);
	if (sub->tag == HPROF_CLASS_DUMP && !spend(s, (sub->end - offset) / 2))
		return 0;
	return rc == HDB_OK ? 1 : rc == HPROF_PARSE_OVERRUN ? 2 : 0;
}

int hprof_chain_strength(struct hprof_salvage *s, uint64_t offset, uint64_t limit, unsigned need,
			 struct hdb_error *err)
{
	const bool limit_is_eof = limit == s->file->source->size;
	unsigned bits = 0, roots = 0, n;
	struct hprof_sub sub;
	int rc = 0;

	assert(limit <= s->file->source->size);
	for (n = 0; n < CHAIN_MAX && offset < limit; n++) {
		bool ok;

		rc = chain_step(s, offset, limit, &sub, err);
		if (rc != 1)
			break;
		bits += sub_strength(s, &sub, &ok);
		if (need <= HPROF_STRENGTH_ANY)
			return 1;
		if (!ok)
			return 0;
		roots += n == roots && hprof_sub_is_root(sub.tag);
		/*
		 * A single root is not enough even if valid sub-records follow, because garbage
		 * before valid sub-records would look the same.
		 */
		if (need >= HPROF_STRENGTH_SURE &&
		    ((n == 0 && bits == 0) || (n < 4 && roots > 0 && roots <= n)))
			return 0;
		if (bits >= need && (n >= 3 || need < HPROF_STRENGTH_SURE))
			return 1;
		offset = sub.end;
	}
	TRY_ERRORS(rc);
	if (need >= HPROF_STRENGTH_SURE && roots == n && n < 4)
		return 0;
	if (offset == limit)
		return n > 0 && bits + BITS_END >= need;
	if (rc == 2 && limit_is_eof) /* the file ends inside the sub-record */
		return bits + BITS_CUT >= need;
	if (rc == 0 && n > 0) {
		uint64_t end;
		bool is_heap;

		rc = head_plausible(s, offset, &end, &is_heap, err);
		return rc < 0 ? rc : rc == 1 && bits + BITS_RECORD >= need;
	}
	return bits >= need && n > 0;
}

int hprof_search(struct hprof_salvage *s, struct hprof_search *search, struct hdb_error *err)
{
	const uint64_t limit = search->limit;

	assert(search->until <= search->limit);
	assert(search->with_subs || search->with_records);
	for (uint64_t at = search->from; at < search->until; at++) {
		const uint8_t *p = base_view_at(s->view, at, 1, err);
		int rc = 0;

		if (!p)
			return hprof_view_failed(err);
		if (!spend(s, 1))
			return 0;
		/*
		 * Examining an offset takes longer than reading a byte, so this also checks the
		 * cancel flag.
		 */
		if (at % CANCEL_BYTES == 0 && base_flag_is_set(s->file->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		search->offset = at;
		search->is_record = false;
		if (search->with_subs && sub_tag_known(p[0])) {
			rc = hprof_chain_strength(s, at, limit, HPROF_STRENGTH_SURE, err);
			if (rc != 0)
				return rc;
			p = base_view_at(s->view, at, 1, err);
			if (!p)
				return hprof_view_failed(err);
		}
		search->is_record = true;
		if (search->with_records && hprof_tag_known(p[0]) && limit - at >= 9) {
			rc = records_at(s, at, (struct evidence){ 4, HPROF_STRENGTH_SURE, 0 }, err);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}
