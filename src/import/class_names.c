/*
 * import/class_names.c - names the classes, and marks the classes that the import treats specially.
 */
#include "import/classes.h"

#include "import/mapped_names.h"
#include "layout/layout_known.h"

#include <stdio.h>
#include <string.h>

/* Maximum size of a class name; the JVM's own limit is 65,535 bytes. */
#define NAME_MAX_BYTES 65536

/*
 * Finds the name of a class through its LOAD CLASS record, as HPROF requires, and converts it to
 * the displayed form.
 */
static int name_class(struct import *im, struct import_class *class, char *name,
		      struct hdb_error *err)
{
	const uint32_t load = base_idmap_get(&im->records.load_map, class->out.class_id);
	BASE_VIEW(view, im->source);
	const struct import_text_place *place = NULL;
	struct import_text raw;

	class->mapping_no = BASE_IDMAP_NONE;
	if (load != BASE_IDMAP_NONE) {
		const struct hprof_load_class *l =
			base_vec_at(&im->records.loads, struct hprof_load_class, load);

		class->out.class_serial = l->class_serial;
		place = import_text_place(im, l->name_string_id);
	}
	if (!place) {
		(void)snprintf(name, NAME_MAX_BYTES, "unknown-name@0x%" PRIx64,
			       class->out.class_id);
		/*
		 * A class without a CLASS_DUMP record is reported as another kind of problem
		 * (class_invent.c).
		 */
		return class->has_dump ? import_problem(im,
							&(struct import_trouble){
								.kind = STORE_PROBLEM_MISSING_NAME,
								.offset = class->out.file_offset,
								.object_id = class->out.class_id },
							err, "class 0x%" PRIx64 " has no name",
							class->out.class_id) :
					 HDB_OK;
	}
	TRY(import_text_read(im, place, &view, &raw, err));
	class->out.element_type = import_class_name(raw.bytes, raw.size, name, NAME_MAX_BYTES);
	if (class->out.element_type)
		class->out.flags |= STORE_CLASS_ARRAY;
	return import_map_class(im, class, name, NAME_MAX_BYTES, err);
}

/*
 * Classes of references that do not hold their referents strongly. Their subclasses do not hold
 * their referents strongly either. The last entries, which in most dumps are subclasses of the
 * first entries, are listed because a class in between may be missing, and because Android's
 * FinalizerReference extends Reference directly.
 */
static const struct {
	const char *name;
	uint8_t strength;
} strengths[] = {
	{ "java.lang.ref.SoftReference", STORE_SOFT },
	{ "java.lang.ref.WeakReference", STORE_WEAK },
	{ "java.lang.ref.PhantomReference", STORE_PHANTOM },
	{ "java.lang.ref.FinalReference", STORE_FINALIZER },
	{ "java.lang.ref.FinalizerReference", STORE_FINALIZER },
	{ "java.lang.ref.Finalizer", STORE_FINALIZER },
	{ "sun.misc.Cleaner", STORE_PHANTOM },
	{ "jdk.internal.ref.Cleaner", STORE_PHANTOM },
	{ "leakcanary.KeyedWeakReference", STORE_WEAK },
};

/*
 * Names of the classes with which HotSpot fills dead areas of the heap, by version: FillerObject
 * since JDK 19, and arrays called FillerArray, later FillerElement[] (memory/universe.cpp).
 * services/heapDumper.cpp currently writes these arrays as int[], and as object arrays full of
 * nulls once JDK-8391761 is integrated.
 */
static const char *const fillers[] = {
	"jdk.internal.vm.FillerObject",
	"jdk.internal.vm.FillerArray",
	"jdk.internal.vm.FillerElement",
	"jdk.internal.vm.FillerElement[]",
};

/*
 * Records the classes that the import treats specially. If several classes have the same name, the
 * first one in the file is used.
 */
static void note_class(struct import *im, uint32_t no, const char *name)
{
	struct import_class *class = import_class_at(im, no);
	const size_t s = BASE_INDEX(strengths, name);
	uint32_t *slot = NULL;

	if (!class->out.loader_id && BASE_HAS(fillers, name))
		class->out.flags |= STORE_CLASS_FILLER;
	if (!class->has_dump)
		return;
	class->known = (uint8_t)layout_known(name);
	if (s < BASE_COUNT(strengths))
		class->out.strength = strengths[s].strength;
	if (strcmp(name, "java.lang.Class") == 0)
		slot = &im->known.class_no;
	else if (strcmp(name, "java.lang.ClassLoader") == 0)
		slot = &im->known.loader_no;
	else if (strcmp(name, "java.lang.Object") == 0)
		slot = &im->known.object_no;
	else if (class->out.element_type > HPROF_OBJECT)
		slot = &im->known.primitive_no[class->out.element_type & 15];
	if (slot && (*slot == STORE_NONE ||
		     import_class_at(im, *slot)->out.file_offset > class->out.file_offset))
		*slot = no;
}

int import_put_class_name(struct import *im, struct import_class *class, const char *name,
			  struct hdb_error *err)
{
	return import_text_put(im, name, strlen(name), &class->out.name_text, err);
}

/*
 * Marks the classes of UNLOAD CLASS records. A serial number refers to the last class that was
 * loaded with this number.
 */
static void mark_unloaded(struct import *im)
{
	for (size_t i = 0; i < im->records.unloaded.count; i++) {
		const uint32_t load = base_idmap_get(
			&im->records.serial_map, *base_vec_at(&im->records.unloaded, uint32_t, i));
		uint32_t no;

		if (load == BASE_IDMAP_NONE)
			continue;
		no = base_idmap_get(
			&im->class_map,
			base_vec_at(&im->records.loads, struct hprof_load_class, load)->class_id);
		if (no != BASE_IDMAP_NONE)
			import_class_at(im, no)->out.flags |= STORE_CLASS_UNLOADED;
	}
}

int import_name_classes(struct import *im, struct hdb_error *err)
{
	BASE_FREED char *name = NULL;

	TRY(BASE_ALLOC(name, NAME_MAX_BYTES, "class names", err));
	im->known.class_no = im->known.loader_no = im->known.object_no = STORE_NONE;
	for (unsigned t = 0; t < 16; t++)
		im->known.primitive_no[t] = STORE_NONE;
	for (uint32_t no = 0; no < im->classes.count; no++) {
		struct import_class *class = import_class_at(im, no);

		TRY(name_class(im, class, name, err));
		TRY(import_put_class_name(im, class, name, err));
		note_class(im, no, name);
	}
	mark_unloaded(im);
	return HDB_OK;
}
