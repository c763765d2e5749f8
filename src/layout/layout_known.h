/*
 * layout/layout_known.h - what HotSpot knows about its own classes and dumps do not list: injected
 * fields, @Contended, and fixed order.
 *
 * One table of data by VM version. It applies only to classes of the boot loader.
 */
#ifndef LAYOUT_LAYOUT_KNOWN_H
#define LAYOUT_LAYOUT_KNOWN_H

#include "layout/layout.h"

/* Number of a class that is not in the table. */
#define LAYOUT_UNKNOWN 0u

/* Maximum number of fields injected into one class. */
#define LAYOUT_INJECTED_MAX 16

/*
 * Returns the number of the named class in the table, or LAYOUT_UNKNOWN. Names have the form
 * java.lang.Class.
 */
unsigned layout_known(const char *class_name);

/* Traits of a known class in this VM; of the newest version if model->java is 0. */
void layout_known_traits(const struct layout_model *model, unsigned known,
			 struct layout_traits *out);

/* Group of a field of a known class: enum LAYOUT_GROUP_*. */
uint8_t layout_known_group(const struct layout_model *model, unsigned known,
			   const char *field_name);

/*
 * Whether any field of the class is @Contended in some version, so that the names of its fields
 * must be compared.
 */
bool layout_known_names_fields(unsigned known);

/* Whether the class or one of its fields is @Contended in some version. */
bool layout_known_may_contend(unsigned known);

/*
 * Injected fields of a known class, in the order in which HotSpot adds them after the class file's.
 * Sets the type and group of at most LAYOUT_INJECTED_MAX fields, and `names` (static) unless it is
 * NULL. Returns their number. The caller must leave out a field if the class library itself
 * declares one of that name.
 */
size_t layout_known_injected(const struct layout_model *model, unsigned known,
			     struct layout_field *out, const char **names);

/* jdk.internal.vm.StackChunk, whose objects have a stack after their fields. */
bool layout_known_is_stack_chunk(unsigned known);

/* java.lang.String. */
bool layout_known_is_string(unsigned known);

/*
 * Whether this is a field that ART's dumps list although the object does not have it, such as a
 * string's characters or a loader's table. Other versions have a real field of that name: treat it
 * as synthetic only if the recorded size has no room for it.
 */
bool layout_known_is_made_up(unsigned known, const char *field_name);

/* The class that keeps the version of the class library in a static field "java_version". */
bool layout_known_has_version(unsigned known);

/*
 * First VM version that has the class, used for dumps that do not state theirs; 0 for classes that
 * give no hint. The maximum over all classes is a lower bound of the version.
 */
unsigned layout_known_since(unsigned known);

#endif
