/*
 * hprof/walk_heap.c - the slow path of the walk inside a heap record: roots and classes, the end of
 * the record, and resuming after damage. See walk_steps.h.
 */
#include "hprof/walk_steps.h"

#include "base/bytes.h"
#include "hprof/parse.h"

#include <assert.h>

/* Maximum length of a run of fixed-size sub-records that may turn out to be garbage. */
#define SUSPECT_AGE_MAX 4

/* Opens a heap record with the body of walk->record, and emits HEAP_BEGIN. */
int hprof_walk_open_heap(struct hprof_walk *walk, enum hprof_event *event)
{
	const uint64_t size = hprof_walk_file_size(walk);

	assert(walk->position <= walk->segment_end);
	walk->state = STATE_HEAP;
	walk->position = walk->record.body_offset;
	walk->sub.end = 0; /* this heap record has no sub-records yet */
	walk->suspect_age = 0;
	walk->limit = size;
	if (!walk->following && walk->segment_end < size)
		walk->limit = walk->segment_end;
	walk->snapshot = walk->ended_count + 1;
	*event = HPROF_EVENT_HEAP_BEGIN;
	return HDB_OK;
}

/* Ends the open heap record without reporting a problem. */
int hprof_walk_emit_heap_end(struct hprof_walk *walk, enum hprof_event *event)
{
	walk->state = STATE_TOP;
	if (walk->record.tag == HPROF_HEAP_DUMP) {
		walk->ended_count++;
		walk->dump_open = false;
	} else {
		walk->dump_open = true;
	}
	*event = HPROF_EVENT_HEAP_END;
	return HDB_OK;
}

/*
 * Ends the current heap record at `offset`, where its sub-records end. Reports a wrong length, but
 * not one that wrapped around: the stored u4 plus a multiple of 4 GiB.
 */
static int close_heap(struct hprof_walk *walk, uint64_t offset, enum hprof_event *event)
{
	struct hprof_record *rec = &walk->record;
	const uint64_t stored = walk->segment_end - rec->body_offset;
	const uint64_t actual = offset - rec->body_offset;
	const bool excused = walk->excused;

	rec->body_size = actual;
	hprof_walk_go_on(walk, offset);
	walk->state = STATE_CLOSE;
	if (excused || actual == stored || (actual > stored && (actual - stored) << 32 == 0))
		return hprof_walk_emit_heap_end(walk, event);
	walk->problem.missing_bytes = walk->segment_end - offset;
	if (walk->segment_end > hprof_walk_file_size(walk) && offset == hprof_walk_file_size(walk))
		return hprof_walk_problem(
			walk, event, &(struct hprof_loss){ HPROF_PROBLEM_TRUNCATED, offset, 0 },
			"the file ends at offset %" PRIu64 " inside a %s: %" PRIu64
			" bytes are missing",
			offset, hprof_tag_name(rec->tag), walk->segment_end - offset);
	if (stored == 0)
		return hprof_walk_problem(
			walk, event,
			&(struct hprof_loss){ HPROF_PROBLEM_SEGMENT_LENGTH, rec->offset, 0 },
			"%s at offset %" PRIu64 " has length 0 but contains %" PRIu64
			" bytes: the process that wrote it was interrupted",
			hprof_tag_name(rec->tag), rec->offset, actual);
	return hprof_walk_problem(
		walk, event, &(struct hprof_loss){ HPROF_PROBLEM_SEGMENT_LENGTH, rec->offset, 0 },
		"%s at offset %" PRIu64 " records a length of %" PRIu64
		" bytes but contains %" PRIu64,
		hprof_tag_name(rec->tag), rec->offset, stored, actual);
}

/* Returns whether the sub-record contains a length, possibly damaged, that determines its end. */
static bool has_length(const struct hprof_sub *sub)
{
	return sub->tag != HPROF_CLASS_DUMP && sub->tag != HPROF_HEAP_DUMP_INFO &&
	       !hprof_sub_is_root(sub->tag) && sub->body_size > 0;
}

/*
 * Remembers the last object before a short run of roots, because the object's length may be
 * damaged.
 */
static void note_suspect(struct hprof_walk *walk, const struct hprof_sub *next)
{
	if (has_length(next)) {
		walk->suspect_age = 0;
	} else if (walk->sub.end == next->offset && has_length(&walk->sub)) {
		walk->suspect = walk->sub.offset;
		walk->suspect_end = walk->sub.end;
		walk->suspect_age = 1;
	} else if (walk->suspect_age > 0 && ++walk->suspect_age > SUSPECT_AGE_MAX) {
		walk->suspect_age = 0;
	}
}

static int emit_sub(struct hprof_walk *walk, const struct hprof_sub *sub, enum hprof_event *event,
		    struct hdb_error *err)
{
	assert(sub->end > sub->offset);
	note_suspect(walk, sub);
	walk->sub = *sub;
	walk->position = sub->end;
	*event = HPROF_EVENT_SUB;
	if (sub->tag == HPROF_CLASS_DUMP)
		return hprof_salvage_add_class(&walk->salvage, sub->id, err);
	return HDB_OK;
}

/* Continues beyond the nominal end, to the actual end of the sub-records. */
static void follow(struct hprof_walk *walk)
{
	walk->following = true;
	walk->end_known = false;
	walk->limit = hprof_walk_file_size(walk);
}

/*
 * Finds where to resume after damage at `at`. First searches the body of the last object, because
 * its length may be damaged and bytes of its body may have been mistaken for roots.
 */
static int search_on(struct hprof_walk *walk, uint64_t at, struct hprof_search *search,
		     struct hdb_error *err)
{
	const struct hprof_sub *last = &walk->sub;

	search->limit = walk->end_known ? walk->segment_end : hprof_walk_file_size(walk);
	search->with_subs = true;
	search->with_records = !walk->end_known;
	search->from = search->until = at;
	if (last->end == at && has_length(last)) {
		search->from = last->offset + 1;
	} else if (last->end == at && walk->suspect_age > 0) {
		search->from = walk->suspect + 1;
		search->until = walk->suspect_end;
	}
	if (search->from < search->until) {
		const int rc = hprof_search(&walk->salvage, search, err);

		if (rc != 0)
			return rc;
	}
	search->from = at + 1;
	search->until = search->limit;
	return hprof_search(&walk->salvage, search, err);
}

/* Reports damage at `sub`, after which the walk resumes at `resume`. */
static int report_damage(struct hprof_walk *walk, int parsed, const struct hprof_sub *sub,
			 uint64_t resume, enum hprof_event *event)
{
	const uint64_t lost = resume > sub->offset ? resume - sub->offset : 0;
	const char *name = hprof_sub_name(sub->tag);

	walk->position = resume;
	walk->sub.end = 0;
	walk->suspect_age = 0;
	if (parsed == HPROF_PARSE_BAD_TAG)
		return hprof_walk_problem(
			walk, event,
			&(struct hprof_loss){ HPROF_PROBLEM_UNKNOWN_SUB_TAG, sub->offset, lost },
			"unknown heap sub-record 0x%02x at offset %" PRIu64
			"; reading resumed at offset %" PRIu64,
			sub->tag, sub->offset, resume);
	if (parsed == HPROF_PARSE_BAD_TYPE)
		return hprof_walk_problem(
			walk, event,
			&(struct hprof_loss){ HPROF_PROBLEM_UNKNOWN_SUB_TAG, sub->offset, lost },
			"%s with an unknown basic type at offset %" PRIu64
			"; reading resumed at offset %" PRIu64,
			name, sub->offset, resume);
	return hprof_walk_problem(
		walk, event, &(struct hprof_loss){ HPROF_PROBLEM_SUB_OVERRUN, sub->offset, lost },
		"%s at offset %" PRIu64
		" runs past the end of its %s; reading resumed at offset %" PRIu64,
		name, sub->offset, hprof_tag_name(walk->record.tag), resume);
}

/* Returns the minimum number of bytes missing from a file that ends inside `sub`. */
static uint64_t bytes_missing(const struct hprof_walk *walk, const struct hprof_sub *sub)
{
	const uint64_t size = hprof_walk_file_size(walk);
	const uint64_t end = walk->segment_end > sub->end ? walk->segment_end : sub->end;

	return end > size ? end - size : 1;
}

/*
 * Handles damage at `sub`. Resumes at the next plausible sub-record, or else at the end of the
 * record.
 */
static int damaged(struct hprof_walk *walk, int parsed, const struct hprof_sub *sub,
		   enum hprof_event *event, struct hdb_error *err)
{
	const uint64_t size = hprof_walk_file_size(walk);
	const bool past_file = !walk->end_known && parsed == HPROF_PARSE_OVERRUN;
	const uint64_t limit = walk->end_known ? walk->segment_end : size;
	struct hprof_search found;
	uint64_t resume = limit;
	int rc;

	rc = search_on(walk, sub->offset, &found, err);
	TRY_ERRORS(rc);
	if (rc > 0)
		resume = found.offset;
	if (!walk->end_known && (resume > walk->segment_end || walk->segment_end > size)) {
		/* The correct length is now unknown. */
		walk->excused = true;
		follow(walk);
	}
	if (rc == 0 && past_file) {
		walk->excused = true;
		walk->position = size;
		walk->sub.end = 0;
		walk->problem.missing_bytes = bytes_missing(walk, sub);
		return hprof_walk_problem(walk, event,
					  &(struct hprof_loss){ HPROF_PROBLEM_TRUNCATED,
								sub->offset, size - sub->offset },
					  "the file ends inside the %s at offset %" PRIu64
					  ": at least %" PRIu64 " bytes are missing",
					  hprof_sub_name(sub->tag), sub->offset,
					  bytes_missing(walk, sub));
	}
	return report_damage(walk, parsed, sub, resume, event);
}

/*
 * Returns 1 if a top-level record at `offset` would be truncated by the end of the file, 0 if not,
 * or a failure.
 */
static int cut_record_at(struct hprof_walk *walk, uint64_t offset, struct hdb_error *err)
{
	const uint64_t left = hprof_walk_file_size(walk) - offset;
	const uint8_t *p = base_view_at(&walk->view, offset, left < 9 ? left : 9, err);

	if (!p)
		return hprof_view_failed(err);
	if (left < 9)
		return 1;
	return hprof_tag_known(p[0]) && be32(p + 5) > left - 9 &&
	       (hprof_tag_is_heap(p[0]) || hprof_size_fits(p[0], be32(p + 5), walk->file->id_size));
}

int hprof_walk_unknown_record_at(struct hprof_walk *walk, uint64_t offset, struct hdb_error *err)
{
	const uint64_t left = hprof_walk_file_size(walk) - offset;
	const uint8_t *p;
	uint64_t size;

	if (left < 9)
		return 0;
	p = base_view_at(&walk->view, offset, 9, err);
	if (!p)
		return hprof_view_failed(err);
	size = be32(p + 5);
	if (hprof_tag_known(p[0]) || size > left - 9)
		return 0;
	return hprof_record_follows(&walk->salvage, offset + 9 + size, 3, err);
}

int hprof_walk_search_all(struct hprof_walk *walk, uint64_t from, struct hprof_search *found,
			  struct hdb_error *err)
{
	const uint64_t size = hprof_walk_file_size(walk);

	assert(from <= walk->file->source->size);
	*found = (struct hprof_search){
		.from = from,
		.until = size,
		.limit = size,
		.with_subs = true,
		.with_records = true,
	};
	return hprof_search(&walk->salvage, found, err);
}

/*
 * Decides whether more sub-records follow. Called at the nominal end of a heap record if no record
 * begins there.
 */
static int past_nominal_end(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const uint64_t at = walk->position, size = hprof_walk_file_size(walk);
	struct hprof_search found;
	int rc;

	rc = hprof_chain_strength(
		&walk->salvage, at, size,
		at == walk->record.body_offset ? HPROF_STRENGTH_ANY : HPROF_STRENGTH_LIKELY, err);
	TRY_ERRORS(rc);
	if (rc > 0) {
		follow(walk);
		return hprof_walk_step_heap(walk, event, err);
	}
	rc = cut_record_at(walk, at, err);
	if (rc == 0)
		rc = hprof_walk_unknown_record_at(walk, at, err);
	TRY_ERRORS(rc);
	if (rc > 0)
		return close_heap(walk, at, event);
	rc = hprof_walk_search_all(walk, at, &found, err);
	TRY_ERRORS(rc);
	if (rc == 0 || found.is_record)
		return close_heap(walk, at, event);
	follow(walk);
	walk->excused = true;
	walk->position = found.offset;
	walk->sub.end = 0;
	return hprof_walk_problem(
		walk, event,
		&(struct hprof_loss){ HPROF_PROBLEM_RECORD_LENGTH, at, found.offset - at },
		"no record at offset %" PRIu64
		"; reading resumed at the heap sub-record at offset %" PRIu64,
		at, found.offset);
}

/*
 * Handles a valid sub-record that extends beyond the nominal end. If a record begins exactly at the
 * nominal end, the length of the sub-record is wrong. Exception: if the segment's length may have
 * wrapped around and more sub-records follow this one, the apparent record may be HPROF data in an
 * array.
 */
static int crosses_end(struct hprof_walk *walk, const struct hprof_sub *sub,
		       enum hprof_event *event, struct hdb_error *err)
{
	int rc = 1;

	if (walk->end_known) {
		rc = 0;
		if (hprof_walk_file_size(walk) - walk->record.body_offset > UINT32_MAX)
			rc = hprof_chain_strength(&walk->salvage, sub->end,
						  hprof_walk_file_size(walk), HPROF_STRENGTH_SURE,
						  err);
		TRY_ERRORS(rc);
	}
	if (rc == 0)
		return damaged(walk, HPROF_PARSE_OVERRUN, sub, event, err);
	follow(walk);
	return emit_sub(walk, sub, event, err);
}

/*
 * Returns 1 to close the heap record here, because a top-level record seems to begin inside this
 * record; 0 to continue; or a failure.
 */
static int record_in_heap(struct hprof_walk *walk, uint64_t at, struct hdb_error *err)
{
	const uint8_t *p = base_view_at(&walk->view, at, 1, err);
	bool is_shared;
	int rc;

	if (!p)
		return hprof_view_failed(err);
	if (!hprof_tag_known(p[0]))
		return 0;
	is_shared = hprof_sub_is_root(p[0]);
	/* If the end is known, a tag that exists on both levels means a sub-record. */
	if (is_shared && walk->end_known)
		return 0;
	rc = hprof_record_plausible(&walk->salvage, at, 4, err);
	if (rc <= 0 || !is_shared)
		return rc;
	/* With 4-byte IDs, frame roots of thread 4 have the same bytes as UNLOAD CLASS records. */
	rc = hprof_chain_strength(&walk->salvage, at, hprof_walk_file_size(walk),
				  HPROF_STRENGTH_LIKELY, err);
	return rc < 0 ? rc : rc == 0;
}

/* Performs one step inside a heap record on the slow path. */
int hprof_walk_step_heap(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err)
{
	const uint64_t at = walk->position, size = hprof_walk_file_size(walk);
	struct hprof_sub sub = { .offset = 0 };
	int parsed, rc;

	if (at == size || (at == walk->segment_end && walk->end_known))
		return close_heap(walk, at, event);
	rc = record_in_heap(walk, at, err);
	TRY_ERRORS(rc);
	if (rc > 0)
		return close_heap(walk, at, event);
	if (at == walk->segment_end && !walk->following)
		return past_nominal_end(walk, event, err);
	parsed = hprof_sub_parse(walk->file, &walk->view, (struct hprof_range){ at, size }, &sub,
				 err);
	if (parsed < 0)
		return parsed;
	/* these bytes are a run of 0xff bytes, not roots */
	if (sub.tag == HPROF_ROOT_UNKNOWN && parsed == HDB_OK &&
	    sub.id == (walk->file->id_size == 8 ? UINT64_MAX : UINT32_MAX))
		parsed = HPROF_PARSE_BAD_TAG;
	if (parsed == HDB_OK && (walk->following || sub.end <= walk->segment_end))
		return emit_sub(walk, &sub, event, err);
	if (parsed == HDB_OK)
		return crosses_end(walk, &sub, event, err);
	return damaged(walk, parsed, &sub, event, err);
}
