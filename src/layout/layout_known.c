/*
 * layout/layout_known.c - a table of the classes that HotSpot treats specially.
 *
 * Sources: OpenJDK, classfile/javaClasses.hpp (INJECTED_FIELDS) of JDK 7 to 25, ClassFileParser
 * (the classes with fixed order), and @Contended in the sources of java.base.
 */
#include "layout/layout_known.h"

#include "base/search.h"

#include <string.h>

/* What a row states about its class. */
enum what {
	SINCE,  /* the class exists from this version on */
	INJECT, /* a field of this type is injected */
	CONTENDED_CLASS,
	CONTENDED_FIELD,  /* all @Contended fields of a class are in one named group */
	REFERENCES_FIRST, /* fixed order */
	STACK_CHUNK,
	MIRROR,
	STRING,
	VERSION,
	/* a synthetic field that ART's dumps list although objects have no space for it */
	MADE_UP
};

/* Type of an injected field that has the width of an address. */
#define POINTER 0xffu
#define BOOLEAN 4u
#define BYTE 8u
#define SHORT 9u
#define INT 10u
#define LONG 11u
/* Value of `until` in a row that applies to all later versions. */
#define EVER 255u

struct row {
	const char *class_name;
	const char *field; /* or NULL */
	uint8_t what;      /* enum what */
	uint8_t type;
	uint8_t since, until; /* feature versions, both inclusive */
};

/*
 * The rows, sorted by class name, and for each class by the order in which HotSpot adds the fields.
 */
static const struct row rows[] = {
	{ "java.lang.AssertionStatusDirectives", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.BaseVirtualThread", NULL, SINCE, 0, 19, EVER },
	{ "java.lang.Boolean", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Byte", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Character", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Class", NULL, MIRROR, 0, 1, EVER },
	{ "java.lang.Class", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Class", "klass", INJECT, LAYOUT_REFERENCE, 1, 7 },
	{ "java.lang.Class", "array_klass", INJECT, LAYOUT_REFERENCE, 1, 7 },
	{ "java.lang.Class", "resolved_constructor", INJECT, LAYOUT_REFERENCE, 1, 7 },
	{ "java.lang.Class", "klass", INJECT, POINTER, 8, EVER },
	{ "java.lang.Class", "array_klass", INJECT, POINTER, 8, EVER },
	{ "java.lang.Class", "oop_size", INJECT, INT, 7, EVER },
	{ "java.lang.Class", "static_oop_field_count", INJECT, INT, 7, EVER },
	{ "java.lang.Class", "protection_domain", INJECT, LAYOUT_REFERENCE, 8, 24 },
	{ "java.lang.Class", "init_lock", INJECT, LAYOUT_REFERENCE, 8, 8 },
	{ "java.lang.Class", "signers", INJECT, LAYOUT_REFERENCE, 8, 24 },
	{ "java.lang.Class", "source_file", INJECT, LAYOUT_REFERENCE, 11, EVER },
	{ "java.lang.Class", "init_lock", INJECT, LAYOUT_REFERENCE, 21, EVER },
	{ "java.lang.ClassLoader", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.ClassLoader", "runtimeInternalObjects", MADE_UP, 0, 1, EVER },
	{ "java.lang.ClassLoader", "loader_data", INJECT, POINTER, 8, EVER },
	{ "java.lang.Double", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Float", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Integer", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.InternalError", "during_unsafe_access", INJECT, BOOLEAN, 17, EVER },
	{ "java.lang.Iterable", NULL, SINCE, 0, 5, EVER },
	{ "java.lang.Long", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.Module", NULL, SINCE, 0, 9, EVER },
	{ "java.lang.Module", "module_entry", INJECT, POINTER, 9, EVER },
	{ "java.lang.Record", NULL, SINCE, 0, 14, EVER },
	{ "java.lang.Short", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.StackFrameInfo", "version", INJECT, SHORT, 9, EVER },
	{ "java.lang.StackTraceElement", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.String", NULL, STRING, 0, 1, EVER },
	{ "java.lang.String", "value", MADE_UP, 0, 1, EVER },
	{ "java.lang.String", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.String", "flags", INJECT, BYTE, 17, EVER },
	{ "java.lang.Thread", "threadLocalRandomProbe", CONTENDED_FIELD, 0, 8, 18 },
	{ "java.lang.Thread", "threadLocalRandomSecondarySeed", CONTENDED_FIELD, 0, 8, 18 },
	{ "java.lang.Thread", "threadLocalRandomSeed", CONTENDED_FIELD, 0, 8, 18 },
	{ "java.lang.Thread", "jvmti_thread_state", INJECT, POINTER, 19, EVER },
	{ "java.lang.Thread", "jvmti_VTMS_transition_disable_count", INJECT, INT, 20, EVER },
	{ "java.lang.Thread", "jvmti_is_in_VTMS_transition", INJECT, BOOLEAN, 20, EVER },
	{ "java.lang.Thread", "jfr_epoch", INJECT, SHORT, 19, EVER },
	{ "java.lang.Throwable", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.VersionProps", NULL, VERSION, 0, 9, EVER },
	{ "java.lang.VirtualThread", "objectWaiter", INJECT, POINTER, 24, EVER },
	{ "java.lang.constant.ConstantDesc", NULL, SINCE, 0, 12, EVER },
	{ "java.lang.invoke.CallSite", "vmdependencies", INJECT, POINTER, 21, EVER },
	{ "java.lang.invoke.CallSite", "last_cleanup", INJECT, LONG, 21, EVER },
	{ "java.lang.invoke.MemberName", "vmloader", INJECT, LAYOUT_REFERENCE, 8, 10 },
	{ "java.lang.invoke.MemberName", "vmindex", INJECT, POINTER, 8, EVER },
	{ "java.lang.invoke.MemberName", "vmtarget", INJECT, POINTER, 8, 10 },
	{ "java.lang.invoke.MethodHandle", NULL, SINCE, 0, 7, EVER },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", "vmdependencies", INJECT, POINTER,
	  9, 20 },
	{ "java.lang.invoke.MethodHandleNatives$CallSiteContext", "last_cleanup", INJECT, LONG, 12,
	  20 },
	{ "java.lang.invoke.ResolvedMethodName", "vmholder", INJECT, LAYOUT_REFERENCE, 11, EVER },
	{ "java.lang.invoke.ResolvedMethodName", "vmtarget", INJECT, POINTER, 11, EVER },
	{ "java.lang.invoke.ResolvedMethodName", NULL, SINCE, 0, 11, EVER },
	{ "java.lang.ref.Reference", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.ref.SoftReference", NULL, REFERENCES_FIRST, 0, 1, 14 },
	{ "java.lang.reflect.RecordComponent", NULL, SINCE, 0, 14, EVER },
	{ "java.util.NavigableMap", NULL, SINCE, 0, 6, EVER },
	{ "java.util.SequencedCollection", NULL, SINCE, 0, 21, EVER },
	{ "java.util.concurrent.ConcurrentHashMap$CounterCell", NULL, CONTENDED_CLASS, 0, 8, EVER },
	{ "java.util.concurrent.Exchanger$Node", NULL, CONTENDED_CLASS, 0, 8, 20 },
	{ "java.util.concurrent.Exchanger$Slot", NULL, CONTENDED_CLASS, 0, 8, EVER },
	{ "java.util.concurrent.ForkJoinPool", NULL, CONTENDED_CLASS, 0, 8, 8 },
	{ "java.util.concurrent.ForkJoinPool", "ctl", CONTENDED_FIELD, 0, 9, EVER },
	{ "java.util.concurrent.ForkJoinPool", "parallelism", CONTENDED_FIELD, 0, 19, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", NULL, CONTENDED_CLASS, 0, 8, 16 },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "top", CONTENDED_FIELD, 0, 17, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "source", CONTENDED_FIELD, 0, 17, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "nsteals", CONTENDED_FIELD, 0, 17, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "access", CONTENDED_FIELD, 0, 19, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "phase", CONTENDED_FIELD, 0, 19, EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "stackPred", CONTENDED_FIELD, 0, 19,
	  EVER },
	{ "java.util.concurrent.ForkJoinPool$WorkQueue", "parking", CONTENDED_FIELD, 0, 19, EVER },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", NULL, CONTENDED_CLASS, 0,
	  9, EVER },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", "demand",
	  CONTENDED_FIELD, 0, 9, EVER },
	{ "java.util.concurrent.SubmissionPublisher$BufferedSubscription", "waiting",
	  CONTENDED_FIELD, 0, 9, EVER },
	{ "java.util.concurrent.atomic.Striped64$Cell", NULL, CONTENDED_CLASS, 0, 8, EVER },
	{ "java.util.function.Function", NULL, SINCE, 0, 8, EVER },
	{ "jdk.internal.vm.StackChunk", NULL, STACK_CHUNK, 0, 19, EVER },
	{ "jdk.internal.vm.StackChunk", "cont", INJECT, LAYOUT_REFERENCE, 19, EVER },
	{ "jdk.internal.vm.StackChunk", "flags", INJECT, BYTE, 19, EVER },
	{ "jdk.internal.vm.StackChunk", "pc", INJECT, POINTER, 19, EVER },
	{ "jdk.internal.vm.StackChunk", "maxThawingSize", INJECT, INT, 19, EVER },
	{ "jdk.internal.vm.StackChunk", "lockStackSize", INJECT, BYTE, 24, EVER },
	{ "sun.misc.Version", NULL, VERSION, 0, 1, 8 },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

unsigned layout_known(const char *class_name)
{
	struct base_search search = base_search_in(ROWS);

	while (base_search_next(&search))
		base_search_step(&search, strcmp(rows[search.mid].class_name, class_name) < 0);
	return search.low < ROWS && strcmp(rows[search.low].class_name, class_name) == 0 ?
		       (unsigned)search.low + 1 :
		       LAYOUT_UNKNOWN;
}

/*
 * Returns the next row of a known class, from *at on, that applies to this version, or NULL if
 * there is none.
 */
static const struct row *next_row(const struct layout_model *model, unsigned known, size_t *at)
{
	const unsigned java = model && model->java ? model->java : EVER;

	if (known == LAYOUT_UNKNOWN || known > ROWS)
		return NULL;
	while (known - 1 + *at < ROWS) {
		const struct row *row = &rows[known - 1 + (*at)++];

		if (strcmp(row->class_name, rows[known - 1].class_name) != 0)
			return NULL;
		if (!model || (java >= row->since && java <= row->until))
			return row;
	}
	return NULL;
}

static bool has(const struct layout_model *model, unsigned known, enum what what)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(model, known, &at)))
		if (row->what == (uint8_t)what)
			return true;
	return false;
}

void layout_known_traits(const struct layout_model *model, unsigned known,
			 struct layout_traits *out)
{
	out->is_contended = model->contended_bytes && has(model, known, CONTENDED_CLASS);
	out->references_first = has(model, known, REFERENCES_FIRST);
}

uint8_t layout_known_group(const struct layout_model *model, unsigned known, const char *field_name)
{
	const struct row *row;
	size_t at = 0;

	while (model->contended_bytes && (row = next_row(model, known, &at)))
		if (row->what == CONTENDED_FIELD && strcmp(row->field, field_name) == 0)
			return LAYOUT_GROUP_NAMED;
	return LAYOUT_GROUP_NONE;
}

bool layout_known_names_fields(unsigned known)
{
	return has(NULL, known, CONTENDED_FIELD);
}

bool layout_known_may_contend(unsigned known)
{
	return has(NULL, known, CONTENDED_CLASS) || has(NULL, known, CONTENDED_FIELD);
}

size_t layout_known_injected(const struct layout_model *model, unsigned known,
			     struct layout_field *out, const char **names)
{
	const struct row *row;
	size_t at = 0, count = 0;

	if (model->rules == LAYOUT_ART)
		return 0;
	while (count < LAYOUT_INJECTED_MAX && (row = next_row(model, known, &at))) {
		if (row->what != INJECT)
			continue;
		if (names)
			names[count] = row->field;
		out[count++] = (struct layout_field){
			.type = row->type != POINTER   ? row->type :
				model->word_bytes == 8 ? LONG :
							 INT,
		};
	}
	return count;
}

bool layout_known_is_stack_chunk(unsigned known)
{
	return has(NULL, known, STACK_CHUNK);
}

bool layout_known_is_string(unsigned known)
{
	return has(NULL, known, STRING);
}

bool layout_known_is_made_up(unsigned known, const char *field_name)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(NULL, known, &at)))
		if (row->what == MADE_UP && strcmp(row->field, field_name) == 0)
			return true;
	return false;
}

bool layout_known_has_version(unsigned known)
{
	return has(NULL, known, VERSION);
}

unsigned layout_known_since(unsigned known)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(NULL, known, &at)))
		if (row->what == SINCE)
			return row->since;
	return 0;
}
