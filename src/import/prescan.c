/*
 * import/prescan.c - reading a chunk of the dump before the walk gets there; see ahead.h.
 */
#include "import/prescan.h"

/* How far into a chunk a first sub-record is looked for: behind it lies a long array. */
#define SYNC_BYTES (128u << 10)
/* Headers in a row that make it believable: by chance, three tags of 256 each time. */
#define SYNC_CHAIN 8u
/* Runs of a chunk; a file that has more of them is better walked. */
#define RUNS_MAX 2048u
/* Bytes of a top-level record's head. */
#define RECORD_HEAD 9u

void ahead_release(struct ahead *a)
{
	base_view_release(&a->view);
	base_view_release(&a->beside);
	base_vec_release(&a->runs);
	base_vec_release(&a->ids);
	base_vec_release(&a->classes);
	base_vec_release(&a->pieces);
}

static inline bool quick(const struct ahead *a, unsigned id_size, uint64_t at,
			 struct hprof_sub *sub)
{
	const struct base_view *view = &a->view;
	/* Where the heap record ends is the walk's to know. */
	const struct hprof_range range = { at, view->src->size };

	if (at < view->start || at > view->end)
		return false;
	return id_size == 8 ? hprof_quick_sub(view, range, 8, sub) :
			      hprof_quick_sub(view, range, 4, sub);
}

/* ---- the first sub-record ---- */

/*
 * Whether SYNC_CHAIN sub-records follow one another from `at` on, which may lead out of the chunk:
 * a long array is no evidence.
 */
static bool is_chain(const struct ahead *a, unsigned id_size, uint64_t at)
{
	for (unsigned i = 0; i < SYNC_CHAIN; i++) {
		struct hprof_sub sub;

		if (!quick(a, id_size, at, &sub) || sub.id == 0)
			return false;
		at = sub.end;
	}
	return true;
}

/* Sets *at to the first place in [*at, until) where sub-records seem to begin. */
static bool find_start(const struct ahead *a, unsigned id_size, uint64_t *at, uint64_t until)
{
	const uint64_t end = until - *at > SYNC_BYTES ? *at + SYNC_BYTES : until;

	for (; *at < end && *at < a->view.end; (*at)++) {
		const uint8_t tag = a->view.data[*at - a->view.start];

		if (tag >= HPROF_INSTANCE_DUMP && tag <= HPROF_PRIMITIVE_ARRAY_DUMP &&
		    is_chain(a, id_size, *at))
			return true;
	}
	return false;
}

/* ---- one run ---- */

/* The class of an object, which is a new one of the run's unless it has met it. */
static inline int class_of(struct ahead *a, struct ahead_run *run, uint64_t class_id,
			   struct ahead_class **out, struct hdb_error *err)
{
	size_t *no = &a->class_no[import_id_hash(class_id) % AHEAD_CACHE];
	const struct ahead_class fresh = { .class_id = class_id };
	int r;

	/* What the run does not have is another one's, or an earlier chunk's. */
	if (*no - run->first_class >= run->class_count ||
	    base_vec_at(&a->classes, struct ahead_class, *no)->class_id != class_id) {
		if ((r = base_vec_push(&a->classes, &fresh, sizeof(fresh), err)) != HDB_OK)
			return r;
		*no = a->classes.count - 1;
		run->class_count++;
	}
	*out = base_vec_at(&a->classes, struct ahead_class, *no);
	return HDB_OK;
}

static void note_array(struct ahead_run *run, uint64_t id, uint32_t length)
{
	if (run->count[1] == 1)
		run->first_array = id;
	else if (id > run->last_array && id < run->last_array_end)
		run->array_overlap++;
	run->last_array = id;
	run->last_array_end = ahead_array_end(id, length);
}

/* Counts an object, and notes what its class needs to know. */
static inline int note_object(struct ahead *a, struct ahead_run *run, const struct hprof_sub *sub,
			      struct hdb_error *err)
{
	const unsigned kind = sub->tag - HPROF_INSTANCE_DUMP;
	struct ahead_class *class;
	int r;

	run->count[kind]++;
	run->bytes[kind] += sub->end - sub->offset;
	if (kind == 2) {
		run->primitive_used |= 1u << (sub->element_type & 15);
		return HDB_OK;
	}
	if ((r = class_of(a, run, sub->class_id, &class, err)) != HDB_OK)
		return r;
	if (kind == 1) {
		note_array(run, sub->id, sub->length);
		class->is_array = true;
	} else if (sub->length > class->max_body) {
		class->max_body = sub->length;
	}
	return HDB_OK;
}

/* Keeps a piece of the run that ends at `end`. */
static int keep_piece(struct ahead *a, struct ahead_run *run, struct places_piece *piece,
		      uint64_t end, struct hdb_error *err)
{
	if (!piece->count)
		return HDB_OK;
	piece->end = end;
	run->piece_count++;
	return base_vec_push(&a->pieces, piece, sizeof(*piece), err);
}

/* Ends a run at `end`, whose last object is at `last`; drops it if it is empty. */
static int keep_run(struct ahead *a, unsigned id_size, struct ahead_run *run, uint64_t last,
		    struct hdb_error *err)
{
	if (!run->id_count || !quick(a, id_size, last, &run->last))
		return HDB_OK;
	a->ids.count += run->id_count;
	return base_vec_push(&a->runs, run, sizeof(*run), err);
}

/*
 * Reads on from *at until the run is full or `until` is reached, HDB_OK, or something else comes,
 * HDB_END; keeps the run unless it is empty.
 */
static int read_run(struct ahead *a, unsigned id_size, uint64_t *at, uint64_t until,
		    struct hdb_error *err)
{
	struct ahead_run run = {
		.start = *at,
		.first_id = a->ids.count,
		.first_class = a->classes.count,
		.first_piece = a->pieces.count,
	};
	const uint64_t stop = until - *at < AHEAD_RUN_BYTES ? until : *at + AHEAD_RUN_BYTES;
	struct places_piece piece = { 0 };
	uint64_t next = *at, last = *at;
	bool is_other = false;
	uint64_t *ids;
	int r = base_vec_reserve(&a->ids, AHEAD_RUN_OBJECTS, sizeof(uint64_t), err);

	if (r < 0)
		return r;
	ids = base_vec_at(&a->ids, uint64_t, run.first_id);
	while (next < stop && run.id_count < AHEAD_RUN_OBJECTS) {
		struct hprof_sub sub = { .element_type = 0 };

		is_other = !quick(a, id_size, next, &sub) || sub.id == 0;
		if (is_other)
			break;
		ids[run.id_count++] = sub.id;
		if ((r = note_object(a, &run, &sub, err)) < 0)
			return r;
		if (!piece.count || !places_continues(&piece, sub.id)) {
			if ((r = keep_piece(a, &run, &piece, next, err)) < 0)
				return r;
			piece = (struct places_piece){ .first_id = sub.id, .offset = next };
		}
		piece.last_id = sub.id;
		piece.count++;
		last = next;
		next = sub.end;
	}
	*at = next;
	if ((r = keep_piece(a, &run, &piece, next, err)) < 0)
		return r;
	if ((r = keep_run(a, id_size, &run, last, err)) < 0)
		return r;
	return is_other ? HDB_END : HDB_OK;
}

/* ---- a chunk ---- */

/* Steps over what is no instance and no array: false if it cannot be told what it is. */
static bool skip_other(struct ahead *a, const struct hprof_file *file, uint64_t *at)
{
	struct hprof_sub sub;
	const uint8_t *p = base_view_at(&a->beside, *at, 1, NULL);

	if (!p)
		return false;
	if (*p == HPROF_HEAP_DUMP_SEGMENT) {
		*at += RECORD_HEAD;
		return true;
	}
	if (hprof_sub_read(file, &a->beside, *at, &sub, NULL) < 0)
		return false;
	*at = sub.end;
	return true;
}

int ahead_read(struct ahead *a, const struct hprof_file *file, uint64_t from, uint64_t until,
	       struct hdb_error *err)
{
	uint64_t at = from;
	int r;

	a->view.src = a->beside.src = file->source;
	a->runs.count = a->ids.count = a->classes.count = a->pieces.count = 0;
	if (file->is_emptied)
		return HDB_OK; /* quick reading is for arrays with elements */
	/* What is mapped can be asked for early (hprof_quick_of). */
	if (file->source->touch)
		file->source->touch(file->source, from, until - from);
	if (!base_view_at(&a->view, from, until - from, err))
		return HDB_ETRUNC;
	if (!find_start(a, file->id_size, &at, until))
		return HDB_OK;
	while (at < until && a->runs.count < RUNS_MAX) {
		r = read_run(a, file->id_size, &at, until, err);
		if (r < 0)
			return r;
		if (r == HDB_END && !skip_other(a, file, &at)) {
			at++;
			if (at >= until || !find_start(a, file->id_size, &at, until))
				break;
		}
	}
	return HDB_OK;
}
