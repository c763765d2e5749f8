/*
 * oql/oql_heap.c - accesses the heap: MAT's object numbers, counts by class, fields of classes,
 * related objects.
 */
#include "oql/oql_eval.h"

#include "base/sort.h"

/* ---- numbers and counts ---- */

static void count_object(struct oql_eval *ev, uint32_t ix, uint32_t class_no, uint64_t bytes)
{
	base_ranks_put_alone(&ev->reachable, ix);
	ev->class_sizes[class_no]++;
	ev->reachable_bytes += bytes;
}

static int add_stand_in(struct oql_eval *ev, uint32_t ix)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	int is_reachable = 0;

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	if (!facts.is_real)
		TRY(hdb_reachable_at(ev->db, ix, &is_reachable, ev->err));
	if (is_reachable)
		ev->stand_ins[ev->stand_in_count++] = (struct oql_stand_in){ ix, facts.class_no };
	return HDB_OK;
}

int oql_find_stand_ins(struct oql_eval *ev)
{
	const uint32_t count = hdb_class_count(ev->db);
	struct hdb_class class = { .struct_size = sizeof(class) };

	if (ev->stand_ins)
		return HDB_OK;
	TRY(OQL_TAKE(ev->stand_ins, &ev->keep, (size_t)count + 1, ev->err));
	if (hdb_object_count(ev->db))
		TRY(add_stand_in(ev, 0));
	for (uint32_t no = 0; no < count; no++) {
		TRY(hdb_class_at(ev->db, no, &class, ev->err));
		if (!class.is_real && class.object_ix != HDB_NONE && class.object_ix != 0)
			TRY(add_stand_in(ev, class.object_ix));
	}
	return HDB_OK;
}

/* Counts the objects that are not in the dump, because MAT also counts them. */
static int count_stand_ins(struct oql_eval *ev)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(oql_find_stand_ins(ev));
	for (size_t i = 0; i < ev->stand_in_count; i++) {
		TRY(hdb_object_at(ev->db, ev->stand_ins[i].ix, &facts, ev->err));
		count_object(ev, facts.ix, facts.class_no, facts.shallow_bytes);
	}
	return HDB_OK;
}

static int count_all(struct oql_eval *ev)
{
	const struct hdb_scan_options options = { .struct_size = sizeof(options), .population = 1 };
	struct hdb_scan *scan = NULL;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	int r;

	TRY(hdb_scan_open(ev->db, &options, &scan, ev->err));
	while ((r = hdb_scan_next(scan, &batch, ev->err)) == HDB_OK)
		for (size_t i = 0; i < batch.count; i++)
			count_object(ev, batch.ix[i], batch.class_no[i], batch.shallow_bytes[i]);
	hdb_scan_close(scan);
	TRY_ERRORS(r);
	TRY(count_stand_ins(ev));
	base_ranks_rank(&ev->reachable);
	return HDB_OK;
}

int oql_survey(struct oql_eval *ev)
{
	if (ev->is_surveyed)
		return HDB_OK;
	base_work_init(&ev->work, ev->budget.most_bytes, 1, &ev->progress);
	TRY(base_ranks_init(&ev->reachable, hdb_object_count(ev->db), &ev->work, "a set of objects",
			    ev->err));
	TRY(OQL_TAKE(ev->class_sizes, &ev->keep, (size_t)hdb_class_count(ev->db) + 1, ev->err));
	TRY(count_all(ev));
	ev->is_surveyed = true;
	return HDB_OK;
}

bool oql_is_reachable(const struct oql_eval *ev, uint32_t ix)
{
	return base_ranks_has(&ev->reachable, ix);
}

int oql_number_of(struct oql_eval *ev, uint32_t ix, int64_t *number)
{
	*number = -1;
	TRY(oql_survey(ev));
	if (oql_is_reachable(ev, ix))
		*number = base_ranks_before(&ev->reachable, ix);
	return HDB_OK;
}

int oql_object_of(struct oql_eval *ev, int64_t number, uint32_t *ix)
{
	uint32_t low = 0, high = hdb_object_count(ev->db);

	*ix = HDB_NONE;
	TRY(oql_survey(ev));
	if (number < 0 || (uint64_t)number >= ev->reachable.count)
		return HDB_OK;
	while (low + 1 < high) { /* find the last object that has at most `number` objects before
				  * it */
		const uint32_t middle = low + (high - low) / 2;

		if (base_ranks_before(&ev->reachable, middle) <= (uint64_t)number)
			low = middle;
		else
			high = middle;
	}
	*ix = low;
	return HDB_OK;
}

/* ---- classes ---- */

static struct oql_class *class_of(struct oql_eval *ev, uint32_t class_no)
{
	if (!ev->classes)
		ev->classes = calloc((size_t)hdb_class_count(ev->db) + 1, sizeof(ev->classes[0]));
	if (!ev->classes) {
		hdb_fail(ev->err, HDB_ENOMEM, "cannot allocate memory for a list of classes");
		return NULL;
	}
	return &ev->classes[class_no];
}

int oql_class_fields(struct oql_eval *ev, uint32_t class_no, bool is_static,
		     const struct hdb_fields **fields, size_t *count)
{
	struct oql_class *class = class_of(ev, class_no);

	if (!class)
		return HDB_ENOMEM;
	if (!class->has_fields[is_static])
		TRY_ERRORS((is_static ? hdb_class_statics : hdb_class_fields)(
			ev->db, class_no, &class->fields[is_static], &class->counts[is_static],
			ev->err));
	class->has_fields[is_static] = true;
	*fields = class->fields[is_static];
	*count = class->counts[is_static];
	return HDB_OK;
}

bool oql_is_a(struct oql_eval *ev, uint32_t class_no, const char *name)
{
	struct hdb_class class = { .struct_size = sizeof(class) };

	/* a damaged dump may have a cycle of superclasses */
	for (uint32_t n = hdb_class_count(ev->db); n > 0 && class_no != HDB_NONE; n--) {
		if (strcmp(hdb_class_name(ev->db, class_no), name) == 0)
			return true;
		if (hdb_class_at(ev->db, class_no, &class, NULL) < 0)
			return false;
		class_no = class.super_no;
	}
	return false;
}

/* ---- relatives ---- */

int oql_add_number(struct oql_eval *ev, struct oql_numbers *numbers, uint32_t ix)
{
	if (!oql_room(&numbers->vec, sizeof(ix), ev->budget.most_bytes))
		return hdb_fail(ev->err, HDB_ELIMIT,
				"cannot allocate memory for a list of more than %zu objects",
				numbers->count);
	numbers->ixs[numbers->count++] = ix;
	return HDB_OK;
}

static int read_list(struct oql_eval *ev, enum hdb_list_kind kind, uint32_t ix,
		     struct oql_numbers *numbers)
{
	struct hdb_list **list = &ev->lists[kind];
	const uint32_t *ixs;
	size_t count = 1;
	int r = HDB_OK;

	assert((size_t)kind < BASE_COUNT(ev->lists));
	if (!*list)
		TRY(hdb_list_open(ev->db, kind, list, ev->err));
	TRY(hdb_list_begin(*list, ix, NULL, ev->err));
	while (count && (r = hdb_list_next(*list, &ixs, &count, ev->err)) == HDB_OK) {
		for (size_t i = 0; i < count; i++)
			TRY(oql_add_number(ev, numbers, ixs[i]));
		TRY(oql_tick(ev));
	}
	return r < 0 ? r : HDB_OK;
}

/* Adds the instances of a class, because instances refer to the class object. */
static int add_instances(struct oql_eval *ev, uint32_t class_no, struct oql_numbers *numbers)
{
	BASE_FREED uint8_t *marks = NULL;
	struct hdb_scan_options options = { .struct_size = sizeof(options), .population = 1 };
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	int r;

	TRY(BASE_ALLOC(marks, (size_t)hdb_class_count(ev->db) + 1, "a set of classes", ev->err));
	marks[class_no] = 1;
	options.classes = marks;
	TRY(hdb_scan_open(ev->db, &options, &scan, ev->err));
	while ((r = hdb_scan_next(scan, &batch, ev->err)) == HDB_OK)
		for (size_t i = 0; i < batch.count && r == HDB_OK; i++)
			r = oql_add_number(ev, numbers, batch.ix[i]);
	hdb_scan_close(scan);
	return r > 0 ? HDB_OK : r;
}

/* Sorts the numbers from index `from` on and removes duplicates. */
static void sort_numbers(struct oql_numbers *numbers, size_t from)
{
	size_t kept = from;

	assert(from <= numbers->count);
	if (numbers->count > from)
		qsort(numbers->ixs + from, numbers->count - from, sizeof(uint32_t),
		      base_compare_u32);
	for (size_t i = from; i < numbers->count; i++)
		if (kept == from || numbers->ixs[kept - 1] != numbers->ixs[i])
			numbers->ixs[kept++] = numbers->ixs[i];
	numbers->count = kept;
}

/* Removes later occurrences of the first number. */
static void keep_first_once(struct oql_numbers *numbers)
{
	size_t kept = 1;

	assert(numbers->count > 0);
	for (size_t i = 1; i < numbers->count; i++)
		if (numbers->ixs[i] != numbers->ixs[0])
			numbers->ixs[kept++] = numbers->ixs[i];
	numbers->count = kept;
}

/* Lists referents. The class comes first, and only once. */
static int add_referents(struct oql_eval *ev, uint32_t ix, uint32_t class_no,
			 struct oql_numbers *numbers)
{
	struct hdb_class class = { .struct_size = sizeof(class) };
	size_t first;

	TRY(hdb_class_at(ev->db, class_no, &class, ev->err));
	if (class.object_ix != HDB_NONE)
		TRY(oql_add_number(ev, numbers, class.object_ix));
	first = numbers->count;
	TRY(read_list(ev, HDB_REFERENCES, ix, numbers));
	sort_numbers(numbers, first);
	if (first)
		keep_first_once(numbers);
	return HDB_OK;
}

static int add_referrers(struct oql_eval *ev, uint32_t ix, const struct hdb_object_facts *facts,
			 struct oql_numbers *numbers)
{
	size_t kept = 0;

	TRY(read_list(ev, HDB_REFERRERS, ix, numbers));
	TRY(oql_survey(ev));
	for (size_t i = 0; i < numbers->count; i++) /* MAT has no unreachable objects */
		if (oql_is_reachable(ev, numbers->ixs[i]))
			numbers->ixs[kept++] = numbers->ixs[i];
	numbers->count = kept;
	if (facts->kind == HDB_KIND_CLASS)
		TRY(add_instances(ev, facts->stands_for, numbers));
	sort_numbers(numbers, 0);
	return HDB_OK;
}

int oql_relatives(struct oql_eval *ev, enum hdb_list_kind kind, uint32_t ix,
		  struct oql_arena *arena, struct oql_value *out)
{
	BASE_SCOPED(oql_numbers_release) struct oql_numbers numbers = { 0 };
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	if (kind == HDB_REFERENCES)
		TRY(add_referents(ev, ix, facts.class_no, &numbers));
	else if (kind == HDB_REFERRERS)
		TRY(add_referrers(ev, ix, &facts, &numbers));
	else
		TRY(read_list(ev, kind, ix, &numbers));
	return oql_make_ids(ev, arena, numbers.ixs, numbers.count, out);
}

int oql_instances(struct oql_eval *ev, uint32_t class_no, struct oql_arena *arena,
		  struct oql_value *out)
{
	BASE_SCOPED(oql_numbers_release) struct oql_numbers numbers = { 0 };

	TRY(add_instances(ev, class_no, &numbers));
	return oql_make_ids(ev, arena, numbers.ixs, numbers.count, out);
}

/* ---- names ---- */

int oql_put_technical(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	const char *name;
	size_t size;

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	name = hdb_class_name(ev->db, facts.class_no);
	if (facts.kind == HDB_KIND_CLASS) {
		bytes_string(out, "class ");
		name = hdb_class_name(ev->db, facts.stands_for);
	}
	size = strlen(name);
	if (facts.kind == HDB_KIND_OBJECT_ARRAY || facts.kind == HDB_KIND_PRIMITIVE_ARRAY) {
		const char *brackets = strstr(name, "[]");

		size = brackets ? (size_t)(brackets - name) : size;
		bytes_add(out, name, size);
		bytes_format(out, "[%" PRIu64 "]", facts.length);
		bytes_string(out, brackets ? brackets + 2 : "");
	} else {
		bytes_add(out, name, size);
	}
	bytes_format(out, " @ 0x%" PRIx64, facts.id);
	return HDB_OK;
}

int oql_put_label(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	size_t size;
	bool has;

	TRY(oql_put_technical(ev, ix, out));
	bytes_string(out, "  ");
	size = out->size;
	TRY(oql_display(ev, ix, out, &has));
	if (out->size == size)
		out->size -= 2;
	return HDB_OK;
}
