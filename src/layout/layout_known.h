/*
 * layout/layout_known.h - facts that HotSpot knows about its own classes and that dumps do not
 * contain: injected fields, @Contended, and fixed field order.
 *
 * The data is a table by VM version, and applies only to classes of the boot loader.
 */
#ifndef LAYOUT_LAYOUT_KNOWN_H
#define LAYOUT_LAYOUT_KNOWN_H

#include "layout/layout.h"

/* Number of a class that is not in the table. */
#define LAYOUT_UNKNOWN 0u

/* Maximum number of fields injected into one class. */
#define LAYOUT_INJECTED_MAX 16

/* Returns the number of a class, with a name such as java.lang.Class, or LAYOUT_UNKNOWN. */
unsigned layout_known(const char *class_name);

/* Returns the traits of a known class in this VM, or in the newest version if model->java is 0. */
void layout_known_traits(const struct layout_model *model, unsigned known,
			 struct layout_traits *out);

/* Returns the @Contended group of a field of a known class: enum LAYOUT_GROUP_*. */
uint8_t layout_known_group(const struct layout_model *model, unsigned known,
			   const char *field_name);

/*
 * Returns whether any field of the class is @Contended in some version, so field names must be
 * checked.
 */
bool layout_known_names_fields(unsigned known);

/* Returns whether the class or one of its fields is @Contended in some version. */
bool layout_known_may_contend(unsigned known);

/*
 * Returns the number of injected fields of a known class, in the order in which HotSpot appends
 * them to those of the class file. Sets the type and group of at most LAYOUT_INJECTED_MAX of them,
 * and `names` (static) unless it is NULL. The caller must omit a field if the class declares one
 * with the same name.
 */
size_t layout_known_injected(const struct layout_model *model, unsigned known,
			     struct layout_field *out, const char **names);

/*
 * Returns whether the class is jdk.internal.vm.StackChunk, whose objects have a stack after the
 * fields.
 */
bool layout_known_is_stack_chunk(unsigned known);

/* Returns whether the class is java.lang.String. */
bool layout_known_is_string(unsigned known);

/*
 * Returns whether ART's dumps list this field although objects do not have it, such as a string's
 * characters or a class loader's table. In other versions, a real field has this name, so it is
 * synthetic only if the recorded size leaves no room for it.
 */
bool layout_known_is_made_up(unsigned known, const char *field_name);

/* Returns whether the static field "java_version" of this class contains the JDK version. */
bool layout_known_has_version(unsigned known);

/*
 * Returns the first VM version with this class, or 0 if unknown. The maximum over all classes of a
 * dump is a lower bound for a version that the dump does not record.
 */
unsigned layout_known_since(unsigned known);

#endif
