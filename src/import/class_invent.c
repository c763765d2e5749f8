/*
 * import/class_invent.c - adds classes that the dump lacks: classes to which objects refer, and
 * classes that exist in every heap.
 */
#include "import/classes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns the greatest common divisor of the distances between adjacent IDs. The search stops when
 * the divisor is 8, the smallest possible result.
 */
unsigned import_mat_alignment(const struct import *im)
{
	uint64_t ids[1024], previous = 0, align = 0;
	uint32_t ix = 0;

	while (ix < im->ids.count) {
		const uint32_t n =
			im->ids.count - ix < 1024 ? (uint32_t)(im->ids.count - ix) : 1024;

		import_idset_scan(&im->ids, ix, n, ids);
		ix += n;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t a = ids[i] - previous, b = align;

			if (ids[i] == 0)
				continue;
			if (previous == 0) {
				previous = ids[i];
				continue;
			}
			previous = ids[i];
			while (b) {
				const uint64_t rest = a % b;
				a = b;
				b = rest;
			}
			align = a;
			if (align <= 8)
				return 8;
		}
	}
	return align > 256 ? 256 : align < 8 ? 8 : (unsigned)align;
}

/*
 * Invents the next ID that does not belong to an object or a class. IDs that have been or will be
 * invented are looked up in class_map, because im->ids does not contain them until it is finished
 * again.
 */
static int add_next_id(struct import *im, uint64_t *next_id, struct hdb_error *err)
{
	int r;

	do
		*next_id += im->evidence.mat_align_bytes;
	while (import_idset_has(&im->ids, *next_id) ||
	       base_idmap_get(&im->class_map, *next_id) != BASE_IDMAP_NONE);
	r = import_idset_add(&im->ids, *next_id, err);
	assert(r != HDB_END);
	return r;
}

/* Adds a class with an invented ID and the given name. */
static int invent_class(struct import *im, const char *name, uint64_t *next_id, uint32_t *no,
			struct hdb_error *err)
{
	struct import_class *class;

	TRY(add_next_id(im, next_id, err));
	TRY(import_class_of(im, *next_id, no, err));
	class = import_class_at(im, *no);
	class->out.flags |= STORE_CLASS_INVENTED;
	class->out.element_type = import_class_name(name, strlen(name), (char[64]){ 0 }, 64);
	if (class->out.element_type)
		class->out.flags |= STORE_CLASS_ARRAY;
	return import_put_class_name(im, class, name, err);
}

/* Adds a class to which objects refer but that has no CLASS_DUMP record. */
static int invent_used(struct import *im, uint32_t no, uint64_t *next_id, struct hdb_error *err)
{
	struct import_class *class = import_class_at(im, no);
	const uint64_t id = class->out.class_id;
	int r = import_problem(
		im,
		&(struct import_trouble){ .kind = STORE_PROBLEM_MISSING_CLASS, .object_id = id },
		err, "class 0x%" PRIx64 " has objects but is missing from the dump", id);

	class->out.flags |= STORE_CLASS_INVENTED;
	TRY_ERRORS(r);
	if (id && !import_idset_has(&im->ids, id)) {
		r = import_idset_add(&im->ids, id, err);
		assert(r != HDB_END);
		return r;
	}
	TRY(import_problem(
		im, &(struct import_trouble){ .kind = STORE_PROBLEM_CLASS_ID, .object_id = id },
		err, "class 0x%" PRIx64 " has the ID of an object that is not a class", id));
	TRY(add_next_id(im, next_id, err));
	class->out.class_id = *next_id;
	return HDB_OK;
}

int import_invent_classes(struct import *im, struct hdb_error *err)
{
	const uint32_t count = (uint32_t)im->classes.count;
	uint64_t next_id = 0;
	char name[16];

	if (im->known.class_no == STORE_NONE)
		TRY(invent_class(im, "java.lang.Class", &next_id, &im->known.class_no, err));
	if (im->known.loader_no == STORE_NONE)
		TRY(invent_class(im, "java.lang.ClassLoader", &next_id, &im->known.loader_no, err));
	for (unsigned t = HPROF_BOOLEAN; t <= HPROF_LONG; t++) {
		if (!im->records.primitive_used[t] || im->known.primitive_no[t] != STORE_NONE)
			continue;
		(void)snprintf(name, sizeof(name), "%s[]", hprof_type_name((uint8_t)t));
		TRY(invent_class(im, name, &next_id, &im->known.primitive_no[t], err));
	}
	for (uint32_t no = 0; no < count; no++) {
		if (import_class_at(im, no)->has_dump)
			continue;
		TRY(invent_used(im, no, &next_id, err));
	}
	return HDB_OK;
}
