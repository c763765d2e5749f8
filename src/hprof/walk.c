/*
 * hprof/walk.c - walks over a whole file; see walk.h.
 *
 * The quick path handles instances and arrays that are within the view's window and end inside
 * their segment. Everything else (roots, classes, segment ends, damage) takes the slow path. Once
 * per heap record, salvage.c decides whether the record's length can be trusted.
 */
#include "hprof/walk.h"

#include "base/bytes.h"
#include "hprof/emptied.h"
#include "hprof/parse.h"
#include "hprof/quick.h"
#include "hprof/walk_steps.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* Maximum size of a string that is trusted without looking for zero bytes. */
#define SUSPICIOUS_TEXT 256

void hprof_walk_init(struct hprof_walk *walk, const struct hprof_file *file)
{
	assert(file->id_size == 4 || file->id_size == 8);
	assert(file->first_record <= file->source->size);
	memset(walk, 0, sizeof(*walk));
	walk->file = file;
	walk->view.src = file->source;
	walk->next_record = walk->position = file->first_record;
	walk->state = STATE_TOP;
	hprof_salvage_init(&walk->salvage, file, &walk->view);
}

void hprof_walk_release(struct hprof_walk *walk)
{
	hprof_salvage_release(&walk->salvage);
	base_view_release(&walk->view);
}

/*
 * Returns whether a transfer in text mode converted line ends: there are many LF bytes near the
 * start of the file, and each follows a CR.
 */
static bool lines_converted(struct hprof_walk *walk)
{
	const uint64_t whole = hprof_walk_file_size(walk);
	const uint64_t size = whole < 1u << 20 ? whole : 1u << 20;
	const uint8_t *p = base_view_at(&walk->view, 0, size, NULL);
	unsigned count = 0;

	if (!p)
		return false;
	for (uint64_t i = 1; i < size; i++) {
		if (p[i] != '\n')
			continue;
		if (p[i - 1] != '\r')
			return false;
		count++;
	}
	return count >= 8;
}

int hprof_walk_problem(struct hprof_walk *walk, enum hprof_event *event,
		       const struct hprof_loss *loss, const char *format, ...)
{
	const size_t size = sizeof(walk->problem.message);
	va_list args;
	int used;

	*event = HPROF_EVENT_PROBLEM;
	walk->problem.kind = loss->kind;
	walk->problem.offset = loss->offset;
	walk->problem.lost_bytes = loss->bytes;
	va_start(args, format);
	used = vsnprintf(walk->problem.message, size, format, args);
	va_end(args);
	if (!walk->has_reported && used > 0 && (size_t)used < size && lines_converted(walk))
		snprintf(walk->problem.message + used, size - (size_t)used,
			 " (a transfer in text mode inserted a CR before each LF)");
	walk->has_reported = true;
	return HDB_OK;
}

/* ---- top-level records ---- */

/* Returns 1 if the body of the record looks like sub-records, 0 if not, or a failure. */
static int holds_subs(struct hprof_walk *walk, unsigned need, struct hdb_error *err)
{
	const struct hprof_record *rec = &walk->record;

	return rec->body_size ? hprof_chain_strength(&walk->salvage, rec->body_offset,
						     rec->body_offset + rec->body_size, need, err) :
				0;
}

/*
 * Returns 1 if the record can be skipped by its length, as other readers do: its tag is unknown,
 * its length leads to valid records, and its contents do not look like a heap. Returns 0 if the tag
 * is known or another problem exists.
 */
static int unknown_record(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const struct hprof_record *rec = &walk->record;
	int rc;

	if (!hprof_tag_unknown(rec->tag))
		return 0;
	rc = hprof_walk_unknown_record_at(walk, rec->offset, err);
	if (rc <= 0)
		return rc;
	rc = holds_subs(walk, HPROF_STRENGTH_LIKELY, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	hprof_walk_go_on(walk, rec->body_offset + rec->body_size);
	*event = HPROF_EVENT_RECORD;
	return 1;
}

/* Handles an offset, walk->next_record, at which no valid record begins. */
static int no_record(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const uint64_t at = walk->next_record, size = hprof_walk_file_size(walk);
	struct hprof_search found;
	int rc;

	rc = hprof_walk_unknown_record_at(walk, at, err);
	if (rc > 0) {
		/* the record may be a heap record with a damaged tag */
		rc = holds_subs(walk, HPROF_STRENGTH_SURE, err);
		found.is_record = rc == 0;
		rc = rc < 0 ? rc : 1;
	}
	TRY_ERRORS(rc);
	if (rc > 0 && !found.is_record) {
		hprof_walk_go_on(walk, walk->record.body_offset);
		walk->state = STATE_OPEN;
		return hprof_walk_problem(walk, event,
					  &(struct hprof_loss){ HPROF_PROBLEM_UNKNOWN_TAG, at, 9 },
					  "unknown record 0x%02x at offset %" PRIu64
					  " was read as a heap dump segment",
					  walk->record.tag, at);
	}
	if (rc > 0) {
		hprof_walk_go_on(walk, walk->record.body_offset + walk->record.body_size);
		return hprof_walk_problem(walk, event,
					  &(struct hprof_loss){ HPROF_PROBLEM_UNKNOWN_TAG, at,
								walk->next_record - at },
					  "skipped unknown record 0x%02x of %" PRIu64
					  " bytes at offset %" PRIu64,
					  walk->record.tag, walk->record.body_size, at);
	}
	rc = hprof_walk_search_all(walk, at + 1, &found, err);
	TRY_ERRORS(rc);
	if (rc == 0) {
		hprof_walk_go_on(walk, size);
		return hprof_walk_problem(
			walk, event,
			&(struct hprof_loss){ HPROF_PROBLEM_TRAILING_BYTES, at, size - at },
			"the last %" PRIu64 " bytes, starting at offset %" PRIu64 ", are not "
			"HPROF records",
			size - at, at);
	}
	hprof_walk_go_on(walk, found.offset);
	if (!found.is_record)
		walk->state = STATE_OPEN;
	return hprof_walk_problem(
		walk, event,
		&(struct hprof_loss){ HPROF_PROBLEM_RECORD_LENGTH, at, found.offset - at },
		"no record at offset %" PRIu64 "; reading resumed at the %s at offset %" PRIu64, at,
		found.is_record ? "record" : "heap sub-record", found.offset);
}

/* Opens a heap record for sub-records that a search found outside any heap record. */
static int open_headless(struct hprof_walk *walk, enum hprof_event *event)
{
	walk->record = (struct hprof_record){
		.offset = walk->next_record,
		.body_offset = walk->next_record,
		.tag = HPROF_HEAP_DUMP_SEGMENT,
	};
	walk->segment_end = walk->next_record;
	walk->following = walk->excused = true;
	walk->end_known = false;
	return hprof_walk_open_heap(walk, event);
}

/* Corrects the length of a heap record whose arrays have no elements. */
static int measure_emptied(struct hprof_walk *walk, struct hdb_error *err)
{
	struct hprof_record *rec = &walk->record;
	struct hprof_emptied measured;
	const int rc = hprof_emptied_measure(&walk->salvage, rec, &measured, err);

	if (rc > 0)
		rec->body_size = measured.end - rec->body_offset;
	return rc;
}

/* Begins a heap record, and decides whether to trust its length. */
static int begin_heap(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	struct hprof_record *rec = &walk->record;
	const uint64_t size = hprof_walk_file_size(walk), left = size - rec->body_offset;
	int rc = 0;

	walk->following = walk->excused = false;
	if (walk->file->is_emptied)
		TRY_ERRORS(measure_emptied(walk, err));
	rc = 0;
	walk->segment_end = rec->body_offset + rec->body_size;
	if (walk->segment_end <= size)
		rc = hprof_record_follows(&walk->salvage, walk->segment_end, 4, err);
	TRY_ERRORS(rc);
	walk->end_known = rc > 0;
	if (rc == 0 && left > UINT32_MAX && (uint32_t)left == rec->body_size) {
		rec->body_size = left;
		walk->segment_end = size;
		walk->end_known = true;
	}
	if (walk->end_known || left == 0)
		return hprof_walk_open_heap(walk, event);
	rc = hprof_chain_strength(&walk->salvage, rec->body_offset, size, HPROF_STRENGTH_ANY, err);
	TRY_ERRORS(rc);
	return rc > 0 ? hprof_walk_open_heap(walk, event) : no_record(walk, event, err);
}

/*
 * Handles a record that extends beyond the end of the file, because either the file is truncated or
 * the length is wrong.
 */
static int overlong(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const struct hprof_record *rec = &walk->record;
	const uint64_t size = hprof_walk_file_size(walk);
	struct hprof_search found;
	int rc;

	if (!hprof_size_fits(rec->tag, rec->body_size, walk->file->id_size))
		return no_record(walk, event, err);
	rc = hprof_walk_search_all(walk, rec->body_offset, &found, err);
	TRY_ERRORS(rc);
	if (rc > 0)
		return no_record(walk, event, err);
	hprof_walk_go_on(walk, size);
	walk->problem.missing_bytes = rec->body_offset + rec->body_size - size;
	return hprof_walk_problem(
		walk, event,
		&(struct hprof_loss){ HPROF_PROBLEM_TRUNCATED, rec->offset, size - rec->offset },
		"the file ends inside the %s record at offset %" PRIu64 ": %" PRIu64
		" bytes are missing",
		hprof_tag_name(rec->tag), rec->offset, rec->body_offset + rec->body_size - size);
}

/*
 * Checks a record that is within bounds but not followed by a valid record. Returns 1 if the length
 * of the record is wrong because another record begins inside it. The walk then continues at that
 * other record. Returns 0 if the record is valid.
 */
static int length_wrong(struct hprof_walk *walk, uint64_t end, enum hprof_event *event,
			struct hdb_error *err)
{
	const struct hprof_record *rec = &walk->record;
	struct hprof_search found;
	int rc;

	rc = hprof_size_proven(&walk->salvage, rec, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	found = (struct hprof_search){
		.from = rec->body_offset,
		.until = end,
		.limit = end,
		.with_records = true,
	};
	rc = hprof_search(&walk->salvage, &found, err);
	if (rc <= 0)
		return rc;
	hprof_walk_go_on(walk, found.offset);
	hprof_walk_problem(walk, event,
			   &(struct hprof_loss){ HPROF_PROBLEM_RECORD_LENGTH, rec->offset,
						 found.offset - rec->offset },
			   "%s record at offset %" PRIu64 " has an invalid length (%" PRIu64 "): "
			   "reading resumed at offset %" PRIu64,
			   hprof_tag_name(rec->tag), rec->offset, rec->body_size, found.offset);
	return 1;
}

/* Returns whether the body is large enough for this kind of record. */
static bool body_readable(struct hprof_walk *walk)
{
	const struct hprof_record *rec = &walk->record;
	const struct hprof_file *file = walk->file;
	union {
		struct hprof_trace trace;
		struct hprof_cpu_samples samples;
	} u;

	switch (rec->tag) {
	case HPROF_UTF8:
		return rec->body_size >= file->id_size;
	case HPROF_LOAD_CLASS:
		return rec->body_size >= 8 + 2 * (uint64_t)file->id_size;
	case HPROF_FRAME:
	case HPROF_START_THREAD:
		return rec->body_size >= 8 + 4 * (uint64_t)file->id_size;
	case HPROF_TRACE:
		return hprof_read_trace(file, &walk->view, rec, &u.trace, NULL) == HDB_OK;
	case HPROF_ALLOC_SITES:
		return rec->body_size >= 34;
	case HPROF_HEAP_SUMMARY:
		return rec->body_size >= 24;
	case HPROF_CPU_SAMPLES:
		return hprof_read_cpu_samples(file, &walk->view, rec, &u.samples, NULL) == HDB_OK;
	case HPROF_CONTROL_SETTINGS:
		return rec->body_size >= 6;
	case HPROF_UNLOAD_CLASS:
	case HPROF_END_THREAD:
		return rec->body_size >= 4;
	default:
		return true;
	}
}

/* Emits the record, and stores the data that the walk itself needs from the record. */
static int emit_record(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const struct hprof_record *rec = &walk->record;

	*event = HPROF_EVENT_RECORD;
	if (rec->tag == HPROF_HEAP_DUMP_END && walk->dump_open) {
		walk->ended_count++;
		walk->dump_open = false;
	}
	if (rec->tag == HPROF_LOAD_CLASS) {
		struct hprof_load_class load;

		TRY(hprof_read_load_class(walk->file, &walk->view, rec, &load, err));
		return hprof_salvage_add_class(&walk->salvage, load.class_id, err);
	}
	return HDB_OK;
}

/*
 * Returns 1 if a long string is valid, 0 if not, or an error. Modified UTF-8 contains no zero
 * bytes. A string with a damaged length may extend over other records, which contain many zero
 * bytes.
 */
static int text_believable(struct hprof_walk *walk, struct hdb_error *err)
{
	const uint8_t *p =
		base_view_at(&walk->view, walk->record.body_offset + 8, SUSPICIOUS_TEXT - 8, err);

	if (!p)
		return hprof_view_failed(err);
	return memchr(p, 0, SUSPICIOUS_TEXT - 8) == NULL;
}

/* Handles the last bytes of the file: a record with a truncated header, or garbage. */
static int cut_head(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const uint64_t at = walk->next_record, left = hprof_walk_file_size(walk) - at;
	const uint8_t *p = base_view_at(&walk->view, at, 1, err);

	if (!p)
		return hprof_view_failed(err);
	hprof_walk_go_on(walk, hprof_walk_file_size(walk));
	if (!hprof_tag_known(p[0]))
		return hprof_walk_problem(
			walk, event, &(struct hprof_loss){ HPROF_PROBLEM_TRAILING_BYTES, at, left },
			"the last %" PRIu64 " bytes, starting at offset %" PRIu64 ", are not an "
			"HPROF record",
			left, at);
	walk->problem.missing_bytes = 9 - left;
	return hprof_walk_problem(
		walk, event, &(struct hprof_loss){ HPROF_PROBLEM_TRUNCATED, at, left },
		"the file ends inside the header of the %s record at offset %" PRIu64
		": at least %" PRIu64 " bytes are missing",
		hprof_tag_name(p[0]), at, 9 - left);
}

/* Performs one step outside heap records. */
static int step_top(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	struct hprof_record *rec = &walk->record;
	const uint64_t at = walk->next_record, size = hprof_walk_file_size(walk);
	const uint8_t *p;
	uint64_t end;
	int rc;

	if (at >= size) {
		walk->state = STATE_DONE;
		return HDB_END;
	}
	if (size - at < 9)
		return cut_head(walk, event, err);
	p = base_view_at(&walk->view, at, 9, err);
	if (!p)
		return hprof_view_failed(err);
	*rec = (struct hprof_record){
		.offset = at,
		.body_offset = at + 9,
		.body_size = be32(p + 5),
		.time_us = be32(p + 1),
		.tag = p[0],
	};
	if (hprof_tag_is_heap(rec->tag))
		return begin_heap(walk, event, err);
	if (!hprof_tag_known(rec->tag)) {
		rc = unknown_record(walk, event, err);
		TRY_ERRORS(rc);
		return rc > 0 ? HDB_OK : no_record(walk, event, err);
	}
	if (rec->body_size > size - rec->body_offset)
		return overlong(walk, event, err);
	end = rec->body_offset + rec->body_size;
	rc = hprof_record_follows(&walk->salvage, end, 1, err);
	if (rc > 0 && rec->tag == HPROF_UTF8 && rec->body_size > SUSPICIOUS_TEXT)
		rc = text_believable(walk, err);
	if (rc == 0) {
		rc = length_wrong(walk, end, event, err);
		if (rc > 0)
			return HDB_OK;
	}
	TRY_ERRORS(rc);
	hprof_walk_go_on(walk, end);
	if (body_readable(walk))
		return emit_record(walk, event, err);
	return hprof_walk_problem(
		walk, event, &(struct hprof_loss){ HPROF_PROBLEM_BAD_RECORD, at, end - at },
		"%s record at offset %" PRIu64 ": cannot parse the body of %" PRIu64 " bytes",
		hprof_tag_name(rec->tag), at, rec->body_size);
}

/* ---- the quick path ---- */

/*
 * Reads an instance or array that is inside the window and ends at or before the limit. Returns
 * false if the slow path is needed. Inlined once per ID size.
 */
static inline bool quick_sub(struct hprof_walk *walk, const unsigned id_size)
{
	const uint64_t at = walk->position;
	const struct base_view *view = &walk->view;

	if (at < view->start || at > view->end)
		return false;
	if (!hprof_quick_sub(view, (struct hprof_range){ at, walk->limit }, id_size, &walk->sub) ||
	    (walk->file->is_emptied && walk->sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP))
		return false;
	walk->position = walk->sub.end;
	return true;
}

/* Returns whether the first HPROF_TEXT_LOOK bytes of a string contain no zero byte. */
static inline bool lacks_zero(const uint8_t *p, uint64_t size)
{
	for (unsigned i = 0; i < HPROF_TEXT_LOOK; i += 8) {
		const uint64_t v = load64(p + i);
		/* The lowest set bit marks the first zero byte. */
		const uint64_t zeros = (v - 0x0101010101010101) & ~v & 0x8080808080808080;

		if (zeros)
			return i + (unsigned)__builtin_ctzll(zeros) / 8 >= size;
	}
	return true;
}

/*
 * Reads a short string record that another string record follows. A dump begins with hundreds of
 * thousands of such records. Returns false to leave the record to step_top, which would give the
 * same result.
 */
static inline bool quick_text(struct hprof_walk *walk)
{
	const struct base_view *view = &walk->view;
	const unsigned id = walk->file->id_size;
	const uint64_t at = walk->next_record;
	const uint8_t *p, *next;
	uint64_t size, next_size, left;

	if (at < view->start || at > view->end || view->end - at < 9 + SUSPICIOUS_TEXT)
		return false;
	p = view->data + (at - view->start);
	size = be32(p + 5);
	if (p[0] != HPROF_UTF8 || size < id || size > SUSPICIOUS_TEXT)
		return false;
	next = p + 9 + size;
	left = view->end - (at + 9 + size);
	if (left < 9 + id + HPROF_TEXT_LOOK || next[0] != HPROF_UTF8)
		return false;
	next_size = be32(next + 5);
	/* Everything in the window is inside the file, so no further check is needed. */
	if (next_size < id || next_size > left - 9 || next_size > HPROF_TEXT_MAX ||
	    !lacks_zero(next + 9 + id, next_size - id))
		return false;
	walk->record = (struct hprof_record){
		.offset = at,
		.body_offset = at + 9,
		.body_size = size,
		.time_us = be32(p + 1),
		.tag = HPROF_UTF8,
	};
	hprof_walk_go_on(walk, at + 9 + size);
	return true;
}

bool hprof_walk_would_meet(const struct hprof_walk *walk, uint64_t start,
			   const struct hprof_sub *last)
{
	return walk->state == STATE_HEAP && walk->position == start && last->end <= walk->limit;
}

void hprof_walk_skip(struct hprof_walk *walk, const struct hprof_sub *last)
{
	assert(last->end > walk->position);
	walk->sub = *last;
	walk->position = last->end;
}

int hprof_walk_next(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	switch (walk->state) {
	case STATE_HEAP:
		if (walk->file->id_size == 8 ? quick_sub(walk, 8) : quick_sub(walk, 4)) {
			*event = HPROF_EVENT_SUB;
			return HDB_OK;
		}
		return hprof_walk_step_heap(walk, event, err);
	case STATE_TOP:
		if (quick_text(walk)) {
			*event = HPROF_EVENT_RECORD;
			return HDB_OK;
		}
		return step_top(walk, event, err);
	case STATE_OPEN:
		return open_headless(walk, event);
	case STATE_CLOSE:
		return hprof_walk_emit_heap_end(walk, event);
	default:
		return HDB_END;
	}
}
