/*
 * gen_base.c - see gen_base.h. The object arrays planned here lie back to back, as they do in any
 * real heap: from them a reader can tell how wide references were.
 */
#include "gen_base.h"

#include <assert.h>
#include <stdio.h>

#define BACK_TO_BACK 4u
#define BACK_TO_BACK_LENGTH 16u
#define RUNNABLE 5u /* JVMTI's bits: alive, runnable */

static const struct gen_declaration base_classes[] = {
	[GEN_OBJECT_CLASS] = { "java/lang/Object", GEN_NONE, GEN_BOOT, "", "" },
	[GEN_CLASS_CLASS] = { "java/lang/Class", GEN_OBJECT_CLASS, GEN_BOOT,
			      "LcachedConstructor Lname Lmodule LpackageName LcomponentType "
			      "LreflectionData IclassRedefinedCount LgenericInfo LenumConstants "
			      "LenumConstantDirectory LannotationData LannotationType LclassValueMap",
			      "" },
	[GEN_STRING] = { "java/lang/String", GEN_OBJECT_CLASS, GEN_BOOT,
			 "Lvalue Ihash Bcoder ZhashIsZero", "JserialVersionUID ZCOMPACT_STRINGS" },
	[GEN_LOADER_CLASS] = { "java/lang/ClassLoader", GEN_OBJECT_CLASS, GEN_BOOT,
			       "Lparent Lname Lclasses LunnamedModule LnameAndId LparallelLockMap "
			       "Lpackages ZdefaultAssertionStatus",
			       "Lscl" },
	[GEN_BUILTIN_LOADER] = { "jdk/internal/loader/BuiltinClassLoader", GEN_LOADER_CLASS,
				 GEN_BOOT, "", "" },
	[GEN_APP_LOADER] = { "jdk/internal/loader/ClassLoaders$AppClassLoader", GEN_BUILTIN_LOADER,
			     GEN_BOOT, "", "" },
	[GEN_PLATFORM_LOADER] = { "jdk/internal/loader/ClassLoaders$PlatformClassLoader",
				  GEN_BUILTIN_LOADER, GEN_BOOT, "", "" },
	[GEN_THREAD_GROUP] = { "java/lang/ThreadGroup", GEN_OBJECT_CLASS, GEN_BOOT,
			       "Lparent Lname ImaxPriority Zdaemon", "" },
	[GEN_THREAD] = { "java/lang/Thread", GEN_OBJECT_CLASS, GEN_BOOT,
			 "Lname Lgroup LcontextClassLoader Jtid Ipriority Jeetop LthreadLocals "
			 "Linherited IthreadStatus Zdaemon",
			 "" },
	[GEN_NUMBER] = { "java/lang/Number", GEN_OBJECT_CLASS, GEN_BOOT, "", "JserialVersionUID" },
	[GEN_INTEGER] = { "java/lang/Integer", GEN_NUMBER, GEN_BOOT, "Ivalue",
			  "IMIN_VALUE IMAX_VALUE" },
	[GEN_INTEGER_CACHE] = { "java/lang/Integer$IntegerCache", GEN_OBJECT_CLASS, GEN_BOOT, "",
				"Icache_high Lcache" },
	[GEN_LONG_CLASS] = { "java/lang/Long", GEN_NUMBER, GEN_BOOT, "Jvalue", "JMIN_VALUE" },
	[GEN_ABSTRACT_COLLECTION] = { "java/util/AbstractCollection", GEN_OBJECT_CLASS, GEN_BOOT,
				      "", "" },
	[GEN_ABSTRACT_LIST] = { "java/util/AbstractList", GEN_ABSTRACT_COLLECTION, GEN_BOOT,
				"ImodCount", "" },
	[GEN_ARRAY_LIST] = { "java/util/ArrayList", GEN_ABSTRACT_LIST, GEN_BOOT,
			     "LelementData Isize", "" },
	[GEN_SYSTEM] = { "java/lang/System", GEN_OBJECT_CLASS, GEN_BOOT, "",
			 "Lprops LlineSeparator" },
};

void gen_base_declare(struct gen_world *w)
{
	static const char *const arrays[] = { "[Z",
					      "[C",
					      "[F",
					      "[D",
					      "[B",
					      "[S",
					      "[I",
					      "[J",
					      "[Ljava/lang/Object;",
					      "[Ljava/lang/String;",
					      "[Ljava/lang/Class;",
					      "[Ljava/lang/Integer;" };

	static_assert(sizeof(base_classes) / sizeof(*base_classes) == GEN_BASE_CLASSES,
		      "all of them");
	gen_classes(w, base_classes, GEN_BASE_CLASSES);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		(void)gen_class(w, &(struct gen_declaration){ arrays[i], GEN_OBJECT_CLASS, GEN_BOOT,
							      "", "" });
	assert(w->class_count == GEN_FIRST_OWN_CLASS);
}

uint32_t gen_plan_list(struct gen_batch *b, const uint64_t *elements, uint32_t count, uint32_t room)
{
	const uint32_t list = gen_plan_instance(b, GEN_ARRAY_LIST);
	const uint32_t array = gen_plan_array(b, GEN_OBJECT_ARRAY_CLASS, room);

	assert(count <= room);
	gen_link(b, list, GEN_LIST_ELEMENTS, array);
	*gen_planned_value(b, list, GEN_LIST_SIZE) = count;
	for (uint32_t i = 0; i < count; i++)
		*gen_planned_value(b, array, i) = elements[i];
	return list;
}

uint32_t gen_plan_thread(struct gen_batch *b, const struct gen_base *base, const char *name,
			 unsigned loader)
{
	const uint32_t thread = gen_plan_instance(b, GEN_THREAD);
	const uint32_t text = gen_plan_text(b, name);

	gen_link(b, thread, GEN_THREAD_NAME, text);
	*gen_planned_value(b, thread, GEN_THREAD_GROUP_FIELD) = base->group;
	*gen_planned_value(b, thread, GEN_THREAD_LOADER) = b->world->loader_ids[loader];
	*gen_planned_value(b, thread, GEN_THREAD_TID) = b->world->thread_count + 1;
	*gen_planned_value(b, thread, GEN_THREAD_PRIORITY) = 5;
	*gen_planned_value(b, thread, GEN_THREAD_STATUS) = RUNNABLE;
	return thread;
}

void gen_plan_loader(struct gen_batch *b, unsigned loader, uint32_t loader_class, const char *name)
{
	struct gen_world *w = b->world;
	const uint32_t object = gen_plan_instance(b, loader_class);
	const uint32_t text = gen_plan_text(b, name);
	uint32_t count = 0, list, array;

	w->loader_ids[loader] = gen_planned_id(b, object);
	for (uint32_t i = 0; i < w->class_count; i++)
		count += w->classes[i].loader == loader;
	list = gen_plan_list(b, NULL, 0, count);
	array = list + 1;
	*gen_planned_value(b, list, GEN_LIST_SIZE) = count;
	for (uint32_t i = 0, at = 0; i < w->class_count; i++)
		if (w->classes[i].loader == loader)
			*gen_planned_value(b, array, at++) = w->classes[i].id;
	if (loader != GEN_PLATFORM)
		*gen_planned_value(b, object, GEN_LOADER_PARENT) =
			w->loader_ids[loader == GEN_APP ? GEN_PLATFORM : GEN_APP];
	gen_link(b, object, GEN_LOADER_NAME, text);
	gen_link(b, object, GEN_LOADER_CLASSES, list);
}

static void plan_integers(struct gen_batch *b, struct gen_base *base)
{
	const uint32_t cache = gen_plan_array(b, GEN_INTEGER_ARRAY_CLASS, GEN_SMALL_INTEGERS);

	for (uint32_t i = 0; i < GEN_SMALL_INTEGERS; i++) {
		const uint32_t integer = gen_plan_instance(b, GEN_INTEGER);

		*gen_planned_value(b, integer, 0) = (uint64_t)i - 128;
		gen_link(b, cache, i, integer);
		base->integers[i] = gen_planned_id(b, integer);
	}
	gen_class_static(b->world, GEN_INTEGER_CACHE, "cache", gen_planned_id(b, cache));
	gen_class_static(b->world, GEN_INTEGER_CACHE, "cache_high", 127);
}

static void plan_properties(struct gen_batch *b)
{
	const uint32_t all = gen_plan_array(b, GEN_OBJECT_ARRAY_CLASS, BACK_TO_BACK);
	uint32_t parts[BACK_TO_BACK];

	for (unsigned i = 0; i < BACK_TO_BACK; i++) {
		parts[i] = gen_plan_array(b, GEN_STRING_ARRAY_CLASS, BACK_TO_BACK_LENGTH);
		gen_link(b, all, i, parts[i]);
	}
	for (unsigned i = 0; i < BACK_TO_BACK; i++) {
		for (unsigned k = 0; k < BACK_TO_BACK_LENGTH; k++) {
			const uint32_t text = gen_plan_letters(b, 8 + k, gen_hash(i, k));

			gen_link(b, parts[i], k, text);
		}
	}
	gen_class_static(b->world, GEN_SYSTEM, "props", gen_planned_id(b, all));
	gen_class_static(b->world, GEN_SYSTEM, "lineSeparator",
			 gen_planned_id(b, gen_plan_text(b, "\n")));
}

void gen_base_plan(struct gen_batch *b, struct gen_base *base)
{
	struct gen_world *w = b->world;
	uint32_t group, thread;

	gen_plan_loader(b, GEN_PLATFORM, GEN_PLATFORM_LOADER, "platform");
	gen_plan_loader(b, GEN_APP, GEN_APP_LOADER, "app");
	gen_class_static(w, GEN_LOADER_CLASS, "scl", w->loader_ids[GEN_APP]);
	group = gen_plan_instance(b, GEN_THREAD_GROUP);
	gen_link(b, group, 1, gen_plan_text(b, "main"));
	base->group = gen_planned_id(b, group);
	thread = gen_plan_thread(b, base, "main", GEN_APP);
	base->main_thread = gen_thread(w, gen_planned_id(b, thread));
	gen_thread_frame(w, base->main_thread, GEN_THREAD, "sleep", UINT32_MAX - 2);
	gen_thread_frame(w, base->main_thread, GEN_THREAD, "run", 833);
	plan_integers(b, base);
	plan_properties(b);
}
