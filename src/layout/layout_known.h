/*
 * layout/layout_known.h - what HotSpot knows of its own classes and no dump lists: injected fields,
 * @Contended, fixed order.
 *
 * One table of data, by VM version. Only classes of the boot loader are meant.
 */
#ifndef LAYOUT_LAYOUT_KNOWN_H
#define LAYOUT_LAYOUT_KNOWN_H

#include "layout/layout.h"

/* A class of which nothing is known. */
#define LAYOUT_UNKNOWN 0u

/* Most fields that are injected into one class. */
#define LAYOUT_INJECTED_MAX 16

/*
 * Number of the class of this name in the table, or LAYOUT_UNKNOWN. `java.lang.Class` as people
 * write it.
 */
unsigned layout_known(const char *class_name);

/* Traits of a known class in this VM (model->java 0: those of the newest). */
void layout_known_traits(const struct layout_model *model, unsigned known,
			 struct layout_traits *out);

/* Group of a field of a known class: enum LAYOUT_GROUP_*. */
uint8_t layout_known_group(const struct layout_model *model, unsigned known,
			   const char *field_name);

/*
 * Whether any field of it is @Contended in some version: its fields' names must then be looked at.
 */
bool layout_known_names_fields(unsigned known);

/* Whether it, or a field of it, is @Contended in some version. */
bool layout_known_may_contend(unsigned known);

/*
 * Injected fields of a known class, in the order in which HotSpot adds them behind the class
 * file's: sets type and group of at most LAYOUT_INJECTED_MAX fields, and `names` (static) unless
 * that is NULL. Returns how many. A field that the class library declares itself under that name is
 * not injected: the caller leaves it out.
 */
size_t layout_known_injected(const struct layout_model *model, unsigned known,
			     struct layout_field *out, const char **names);

/* The class with stacks behind its fields: jdk.internal.vm.StackChunk. */
bool layout_known_is_stack_chunk(unsigned known);

/* java.lang.String. */
bool layout_known_is_string(unsigned known);

/*
 * A field that ART's dumps list for what is no field of the object: a string's characters, a
 * loader's table. Other versions have a field of that name: it is made up only if the recorded size
 * has no room for it.
 */
bool layout_known_is_made_up(unsigned known, const char *field_name);

/* A class that keeps the version of the class library in a static field "java_version". */
bool layout_known_has_version(unsigned known);

/*
 * First VM version that has a class, for dumps that do not name theirs: 0 for a class that tells
 * nothing. The largest over all classes is a lower bound of the version.
 */
unsigned layout_known_since(unsigned known);

#endif
