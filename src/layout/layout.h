/*
 * layout/layout.h - computes where a VM places fields, and how large objects are.
 *
 * The functions work on plain numbers and do not depend on a dump, a file or a table. The layout of
 * a class depends on its superclass's shape, its own fields, and the choices of the VM in struct
 * layout_model. Sources: OpenJDK, classfile/fieldLayoutBuilder.cpp (JDK 15 and later) and
 * ClassFileParser::layout_fields (earlier); oops/arrayOop.hpp; ART, runtime/class_linker.cc,
 * LinkFields.
 */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_rules {
	/* HotSpot since JDK 15: best fit, largest primitives first, references last */
	LAYOUT_BUILDER,
	/* HotSpot before JDK 15: fields in order of size; only the gap before longs is filled */
	LAYOUT_CLASSIC,
	/* references first, then by size; only gaps of the class itself are filled */
	LAYOUT_ART
};

/* Padding before and after @Contended fields and classes, in bytes (-XX:ContendedPaddingWidth). */
#define LAYOUT_CONTENDED_BYTES 128u

/* The properties in which VMs differ. */
struct layout_model {
	enum layout_rules rules;
	unsigned word_bytes; /* word size of the VM: 4 or 8 */
	/* header size of an instance: 8, 12 or 16; in an array, the length follows directly */
	unsigned header_bytes;
	unsigned reference_bytes; /* 4 or 8 */
	unsigned align_bytes;     /* object alignment, a power of two */
	unsigned contended_bytes; /* padding of @Contended, or 0 if none */
	unsigned java;            /* feature version of the VM, such as 8 or 17, or 0 if unknown */
	/* builder: whether gaps in superclasses remain empty (-UseEmptySlotsInSupers) */
	bool keeps_super_gaps;
	/* classic: whether the gap before longs remains empty (-CompactFields) */
	bool keeps_long_gap;
	bool references_first; /* classic: FieldsAllocationStyle 0 */
	bool widens_fields;    /* art: whether small fields take 4 bytes (before Android 6) */
	/* builder: whether references are placed first if the superclass ends with one (JDK 25) */
	bool joins_references;
	bool packs_arrays; /* whether array elements begin directly after the length (JDK 23) */
	/* whether the dump lists fields in reverse order, which affects only offsets */
	bool reverses_fields;
};

/* Field types are HPROF's basic types: 2 is a reference, and 4 to 11 are boolean to long. */
#define LAYOUT_REFERENCE 2u

/* Returns the size of a field in bytes, or 0 for an unknown type. */
unsigned layout_type_size(const struct layout_model *model, uint8_t type);

enum { LAYOUT_GROUP_NONE = 0, LAYOUT_GROUP_ALONE = 1, LAYOUT_GROUP_NAMED = 2 };

/* One field of a class. */
struct layout_field {
	uint64_t offset; /* result: offset in bytes from the start of the object */
	uint32_t tag;    /* for use by the caller; ignored here */
	/* size of the value if it is flattened into the field, otherwise 0 */
	uint32_t flat_bytes;
	uint32_t flat_align; /* alignment of the flat value, a power of two */
	uint8_t type;
	/* @Contended: none, padded separately, or padded together with its named group */
	uint8_t group;
};

/*
 * Maximum number of gaps that subclasses can use. Real hierarchies have only a few; if there are
 * more, the lowest are dropped.
 */
#define LAYOUT_GAPS_MAX 24

struct layout_gap {
	uint64_t offset;
	uint64_t size;
};

/* What the layout of subclasses depends on. */
struct layout_shape {
	/* end of the last field, including inherited ones, or of the header if there are none */
	uint64_t end;
	uint64_t size; /* size of an instance before it is rounded up to the alignment */
	bool has_fields;
	/* whether the class, one of its fields, or a superclass is @Contended */
	bool is_contended;
	/* builder: whether the field at the highest offset is a reference */
	bool ends_with_reference;
	unsigned gap_count;
	struct layout_gap gaps[LAYOUT_GAPS_MAX]; /* ascending */
};

/* Known properties of a class other than its fields (layout/layout_known.h). */
struct layout_traits {
	bool is_contended; /* whether the class as a whole is @Contended */
	/*
	 * classic: whether HotSpot hard-codes the field order of this class: references come first,
	 * and gaps remain
	 */
	bool references_first;
};

/* The instance fields that a class declares, in class file order, then injected fields. */
struct layout_fields {
	struct layout_field *field; /* borrowed */
	size_t count;
};

/*
 * Lays out one class, setting the offsets of its fields. `super` is NULL for a class without a
 * superclass; `out` must not be `super`. Cannot fail: fields of unknown type take no space. The
 * time is linear in fields x gaps.
 */
void layout_class(const struct layout_model *model, const struct layout_shape *super,
		  struct layout_fields fields, const struct layout_traits *traits,
		  struct layout_shape *out);

/* Number of static fields of a class, by size. */
struct layout_statics {
	uint32_t references;
	uint32_t bytes_8, bytes_4, bytes_2, bytes_1;
};

/*
 * Returns the size of a class object, rounded up to the alignment. `mirror_bytes` is the size of an
 * instance of java.lang.Class without static fields. Since JDK 7, HotSpot places static fields
 * after it; earlier VMs (model->java 1 to 6) stored them elsewhere.
 */
uint64_t layout_mirror(const struct layout_model *model, uint64_t mirror_bytes,
		       const struct layout_statics *statics);

/* Return the size of a field in bytes, and its alignment. */
uint64_t layout_field_size(const struct layout_model *model, const struct layout_field *field);
uint64_t layout_field_align(const struct layout_model *model, const struct layout_field *field);

/* Returns the offset of the first element of an array, by element type. */
unsigned layout_array_base(const struct layout_model *model, uint8_t element_type);

/*
 * Returns the number of bytes after the fields of a jdk.internal.vm.StackChunk: its stack, and a
 * bitmap with one bit for every possible reference, in whole words
 * (oops/instanceStackChunkKlass.inline.hpp).
 */
uint64_t layout_stack_chunk(unsigned reference_bytes, uint64_t stack_words);

/*
 * Return a period of array lengths or stack lengths. Objects of one class with lengths equal modulo
 * the period have the same padding, so they can be counted together: if lengths differ by k
 * periods, sizes differ by k times the size of a period. This holds for any header size and any
 * alignment that divides `modulus`. The first function is for arrays with elements of `width` bytes
 * or a multiple of it; the second is for the words of a stack chunk with references of 4 or 8
 * bytes.
 */
uint32_t layout_array_period(uint32_t modulus, uint32_t width);
uint32_t layout_stack_chunk_period(uint32_t modulus);

/* Rounds v up to a multiple of a power of two. */
static inline uint64_t layout_round(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/*
 * Place fields, by the rules of one VM each; layout_class calls the one that the model selects.
 * `out` has been initialised from `super`.
 */
void layout_builder(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out);
void layout_classic(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out);
void layout_art(const struct layout_model *model, struct layout_field *fields, size_t count,
		struct layout_shape *out);

/* Takes `size` bytes at `offset` from gap i. The bytes before and after them remain gaps. */
void layout_gap_take(struct layout_shape *shape, unsigned i, uint64_t offset, uint64_t size);

/* Adds a gap that is above all other gaps. */
void layout_gap_append(struct layout_shape *shape, uint64_t offset, uint64_t size);

#endif
