/*
 * import/prescan.c - reads a chunk of the dump before the walk reaches it; see prescan.h.
 *
 * The format has no synchronisation marks, so the first sub-record of a chunk is found by trial: a
 * position is accepted if SYNC_CHAIN headers follow one another from there. A wrong guess only
 * costs time, because the walk checks where each run begins. From that position, the chunk is read
 * as runs of objects. Other sub-records between them are skipped.
 */
#include "import/prescan.h"

#include <assert.h>

/*
 * Number of bytes of a chunk that are searched for the first sub-record. If these bytes contain no
 * sub-record, the chunk is probably part of a long array.
 */
#define SYNC_BYTES (128u << 10)
/*
 * Number of consecutive headers that are accepted as proof. The probability that a random byte is
 * one of the three tags is 1/85.
 */
#define SYNC_CHAIN 8u
/*
 * Maximum number of runs in a chunk. If a file has more runs, the walk is faster without a prescan.
 */
#define RUNS_MAX 2048u
/* Size of the header of a top-level record. */
#define RECORD_HEAD 9u

void import_prescan_release(struct import_prescan *a)
{
	base_view_release(&a->view);
	base_view_release(&a->beside);
	base_vec_release(&a->runs);
	base_vec_release(&a->ids);
	base_vec_release(&a->classes);
	base_vec_release(&a->pieces);
}

static inline bool quick(const struct import_prescan *a, unsigned id_size, uint64_t at,
			 struct hprof_sub *sub)
{
	const struct base_view *view = &a->view;
	/*
	 * The end of the heap record is known only to the walk, so the limit is the end of the
	 * file.
	 */
	const struct hprof_range range = { at, view->src->size };

	if (at < view->start || at > view->end)
		return false;
	return id_size == 8 ? hprof_quick_sub(view, range, 8, sub) :
			      hprof_quick_sub(view, range, 4, sub);
}

/* ---- finding the first sub-record ---- */

/*
 * Returns whether SYNC_CHAIN sub-records follow one another from `at`. All must begin inside the
 * chunk, because random bytes give large lengths, which lead out of the chunk.
 */
static bool is_chain(const struct import_prescan *a, unsigned id_size, uint64_t at)
{
	for (unsigned i = 0; i < SYNC_CHAIN; i++) {
		struct hprof_sub sub;

		if (!quick(a, id_size, at, &sub) || sub.id == 0)
			return false;
		at = sub.end;
	}
	return true;
}

/* Sets *at to the first position in [*at, until) at which sub-records seem to begin. */
static bool find_start(const struct import_prescan *a, unsigned id_size, uint64_t *at,
		       uint64_t until)
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

/* ---- classes of a run ---- */

static inline struct import_prescan_slot *slot_of(struct import_prescan *a, uint64_t class_id)
{
	return &a->slots[import_id_hash(class_id) % PRESCAN_CACHE];
}

/*
 * Frees a slot. A free slot contains the ID of a class that belongs in a different slot, so a
 * lookup only compares IDs and need not check whether the slot is free.
 */
static void free_slot(struct import_prescan *a, struct import_prescan_slot *slot)
{
	const uint64_t other = slot == slot_of(a, 0);

	*slot = (struct import_prescan_slot){ .class = { .class_id = other }, .no = SIZE_MAX };
}

static void free_slots(struct import_prescan *a)
{
	assert(slot_of(a, 0) != slot_of(a, 1));
	for (unsigned i = 0; i < PRESCAN_CACHE; i++)
		free_slot(a, &a->slots[i]);
}

/* Stores the data of a slot in the run's list of classes. */
static void keep_class(struct import_prescan *a, const struct import_prescan_slot *slot)
{
	if (slot->no != SIZE_MAX)
		*base_vec_at(&a->classes, struct import_prescan_class, slot->no) = slot->class;
}

/* Assigns a slot to a class, after storing the previous class of the slot. */
static int enter_class(struct import_prescan *a, struct import_prescan_slot *slot,
		       uint64_t class_id, struct hdb_error *err)
{
	const struct import_prescan_class fresh = { .class_id = class_id };

	assert(slot == slot_of(a, class_id));
	assert(slot->class.class_id != class_id);
	TRY(base_vec_push(&a->classes, &fresh, sizeof(fresh), err));
	keep_class(a, slot);
	*slot = (struct import_prescan_slot){ .class = fresh, .no = a->classes.count - 1 };
	return HDB_OK;
}

/* Stores the data of the classes from number `first` on, and frees the slots of these classes. */
static void keep_classes(struct import_prescan *a, size_t first)
{
	for (size_t i = first; i < a->classes.count; i++) {
		struct import_prescan_slot *slot = slot_of(
			a, base_vec_at(&a->classes, struct import_prescan_class, i)->class_id);

		if (slot->no == i) {
			keep_class(a, slot);
			free_slot(a, slot);
		}
	}
}

/* ---- one run ---- */

/* State of a run that is being read. */
struct reading {
	struct import_prescan_run run;
	uint64_t limit;      /* sub-records must not extend beyond this offset */
	uint64_t last, next; /* offset of the last object read, and of the next object */
	uint64_t *ids;
	uint32_t count; /* number of entries in ids */
	/*
	 * number of the piece's first object, and number of the first object that would make the
	 * piece too large
	 */
	uint32_t piece_first, piece_limit;
	uint64_t piece_offset; /* offset in the file */
	uint64_t last_id;
};

/* Ends the current piece before w->next. Drops the piece if it contains no objects. */
static int keep_piece(struct import_prescan *a, struct reading *w, struct hdb_error *err)
{
	struct import_piece piece;

	assert(w->count >= w->piece_first);
	if (w->count == w->piece_first)
		return HDB_OK;
	piece = (struct import_piece){
		.first_id = w->ids[w->piece_first],
		.last_id = w->last_id,
		.offset = w->piece_offset,
		.end = w->next,
		.count = w->count - w->piece_first,
	};
	w->run.piece_count++;
	return base_vec_push(&a->pieces, &piece, sizeof(piece), err);
}

/* Begins a piece at w->next. */
static int next_piece(struct import_prescan *a, struct reading *w, struct hdb_error *err)
{
	const int r = keep_piece(a, w, err);

	w->piece_first = w->count;
	w->piece_limit = w->count + IMPORT_PIECE_OBJECTS;
	w->piece_offset = w->next;
	return r;
}

/*
 * Collects MAT's evidence within the run. scan.c combines it with the evidence from the previous
 * run.
 */
static inline void note_array(struct import_prescan_run *run, const struct hprof_sub *sub)
{
	if (run->count[1] == 1)
		run->first_array = sub->id;
	else if (sub->id > run->last_array && sub->id < run->last_array_end)
		run->array_overlap++;
	run->last_array = sub->id;
	run->last_array_end = import_wide_array_end(sub->id, sub->length);
}

/* Reads an instance or array. Returns HDB_END if there is no complete object. */
static inline int read_one(struct import_prescan *a, struct reading *w, const unsigned id_size,
			   struct hdb_error *err)
{
	struct import_prescan_slot *slot;
	struct hprof_sub sub;
	int r;

	if (!hprof_quick_sub(&a->view, (struct hprof_range){ w->next, w->limit }, id_size, &sub) ||
	    !sub.id)
		return HDB_END;
	if ((!import_piece_follows(w->last_id, sub.id) || w->count == w->piece_limit) &&
	    (r = next_piece(a, w, err)) < 0)
		return r;
	if (sub.tag != HPROF_INSTANCE_DUMP) {
		/* Only arrays are counted here; keep_run computes the number of instances. */
		w->run.count[sub.tag - HPROF_INSTANCE_DUMP]++;
		w->run.bytes[sub.tag - HPROF_INSTANCE_DUMP] += sub.end - sub.offset;
	}
	if (sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP) {
		w->run.primitive_used |= 1u << (sub.element_type & 15);
	} else {
		slot = slot_of(a, sub.class_id);
		if (slot->class.class_id != sub.class_id)
			TRY(enter_class(a, slot, sub.class_id, err));
		if (sub.tag == HPROF_OBJECT_ARRAY_DUMP) {
			note_array(&w->run, &sub);
			slot->class.is_array = true;
		} else if (sub.length > slot->class.max_body) {
			slot->class.max_body = (uint32_t)sub.length;
		}
	}
	assert(w->count < PRESCAN_RUN_OBJECTS);
	w->ids[w->count++] = sub.id;
	w->last_id = sub.id;
	w->last = w->next;
	w->next = sub.end;
	return HDB_OK;
}

/*
 * Reads the objects that begin before `stop`, up to the maximum for a run. Returns HDB_END if what
 * follows is not a complete instance or array.
 */
static inline int read_objects(struct import_prescan *a, struct reading *w, uint64_t stop,
			       const unsigned id_size, struct hdb_error *err)
{
	while (w->next < stop && w->count < PRESCAN_RUN_OBJECTS)
		TRY(read_one(a, w, id_size, err));
	return HDB_OK;
}

/* Ends a run, and drops it if it is empty. */
static int keep_run(struct import_prescan *a, unsigned id_size, struct reading *w,
		    struct hdb_error *err)
{
	struct import_prescan_run *run = &w->run;

	keep_classes(a, run->first_class);
	TRY(keep_piece(a, w, err));
	if (!w->count || !quick(a, id_size, w->last, &run->last))
		return HDB_OK;
	assert(run->last.end == w->next);
	run->id_count = w->count;
	run->class_count = a->classes.count - run->first_class;
	run->count[0] = w->count - run->count[1] - run->count[2];
	run->bytes[0] = w->next - run->start - run->bytes[1] - run->bytes[2];
	a->ids.count += w->count;
	return base_vec_push(&a->runs, run, sizeof(*run), err);
}

/*
 * Reads a run from *at. Returns HDB_OK if the run is full or `until` is reached, and HDB_END if
 * what follows is not a complete instance or array. Drops an empty run.
 */
static int read_run(struct import_prescan *a, unsigned id_size, uint64_t *at, uint64_t until,
		    struct hdb_error *err)
{
	struct reading w = {
		.run = { .start = *at,
			 .first_id = a->ids.count,
			 .first_class = a->classes.count,
			 .first_piece = a->pieces.count },
		/* the end of the heap record is known only to the walk */
		.limit = a->view.src->size,
		.next = *at,
	};
	const uint64_t stop = until - *at < PRESCAN_RUN_BYTES ? until : *at + PRESCAN_RUN_BYTES;
	int r = base_vec_reserve(&a->ids, PRESCAN_RUN_OBJECTS, sizeof(uint64_t), err), kept;

	assert(*at >= a->view.start && until <= a->view.end);
	TRY_ERRORS(r);
	w.ids = base_vec_at(&a->ids, uint64_t, w.run.first_id);
	r = id_size == 8 ? read_objects(a, &w, stop, 8, err) : read_objects(a, &w, stop, 4, err);
	*at = w.next;
	kept = keep_run(a, id_size, &w, err);
	return r < 0 || kept == HDB_OK ? r : kept;
}

/* ---- reading a chunk ---- */

/*
 * Skips a sub-record that is neither an instance nor an array. Returns false if it is not
 * recognised.
 */
static bool skip_other(struct import_prescan *a, const struct hprof_file *file, uint64_t *at)
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

int import_prescan_read(struct import_prescan *a, const struct hprof_file *file, uint64_t from,
			uint64_t until, struct hdb_error *err)
{
	uint64_t at = from;
	int r;

	a->view.src = a->beside.src = file->source;
	a->runs.count = a->ids.count = a->classes.count = a->pieces.count = 0;
	free_slots(a);
	if (file->is_emptied)
		return HDB_OK; /* the fast parser cannot read arrays without elements */
	/* Maps all pages of the range in one call, so that reading them causes no page faults. */
	if (file->source->touch)
		file->source->touch(file->source, from, until - from);
	if (!base_view_at(&a->view, from, until - from, err))
		return HDB_ETRUNC;
	if (!find_start(a, file->id_size, &at, until))
		return HDB_OK;
	while (at < until && a->runs.count < RUNS_MAX) {
		r = read_run(a, file->id_size, &at, until, err);
		TRY_ERRORS(r);
		if (r == HDB_END && !skip_other(a, file, &at)) {
			at++;
			if (at >= until || !find_start(a, file->id_size, &at, until))
				break;
		}
	}
	return HDB_OK;
}
