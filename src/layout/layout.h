/*
 * layout/layout.h - where a VM puts fields, and how large objects become: pure rules on plain
 * numbers.
 *
 * Knows no dump, no file and no table. A class is laid out from its superclass's shape and its own
 * fields; the rest of the VM's choices are in struct layout_model. Sources: OpenJDK,
 * classfile/fieldLayoutBuilder.cpp (JDK 15 and later) and ClassFileParser::layout_fields (before);
 * oops/arrayOop.hpp; ART, runtime/class_linker.cc, LinkFields.
 */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_rules {
	/* HotSpot since JDK 15: best fit, largest primitives first, references last */
	LAYOUT_BUILDER,
	LAYOUT_CLASSIC, /* HotSpot before: kind by kind, only the gap before longs is filled */
	LAYOUT_ART      /* references first, then by size, the class's own gaps filled */
};

/* Bytes of padding that @Contended puts before and behind (-XX:ContendedPaddingWidth). */
#define LAYOUT_CONTENDED_BYTES 128u

/* All that two VMs may do differently. */
struct layout_model {
	enum layout_rules rules;
	unsigned word_bytes; /* of the VM: 4 or 8 */
	/* of an instance: 8, 12 or 16; an array's length lies right behind */
	unsigned header_bytes;
	unsigned reference_bytes; /* 4 or 8 */
	unsigned align_bytes;     /* objects are multiples of it: a power of two */
	unsigned contended_bytes; /* padding of @Contended; 0: none */
	unsigned java;            /* feature version of the VM (8, 17, ...); 0: not known */
	/* builder: gaps of superclasses stay empty (-UseEmptySlotsInSupers) */
	bool keeps_super_gaps;
	bool keeps_long_gap;   /* classic: the gap before longs stays empty (-CompactFields) */
	bool references_first; /* classic: FieldsAllocationStyle 0 */
	bool widens_fields;    /* ART before Android 6: small fields take 4 bytes */
	/* builder: references come first if the superclass ends with one (JDK 25) */
	bool joins_references;
	bool packs_arrays;    /* elements begin right behind the length (JDK 23) */
	bool reverses_fields; /* the dump lists fields last to first; for offsets only */
};

/* Field types are HPROF's basic types: 2 is a reference, 4 to 11 boolean to long. */
#define LAYOUT_REFERENCE 2u

/* Bytes of a field; 0 for a number that is no type. */
unsigned layout_type_size(const struct layout_model *model, uint8_t type);

enum { LAYOUT_GROUP_NONE = 0, LAYOUT_GROUP_ALONE = 1, LAYOUT_GROUP_NAMED = 2 };

/* One field of a class. */
struct layout_field {
	uint64_t offset; /* out: bytes from the object's start */
	uint32_t tag;    /* the caller's; not looked at */
	/* of a value that lies in the field instead of a reference to it; 0: none */
	uint32_t flat_bytes;
	uint32_t flat_align; /* its alignment, a power of two */
	uint8_t type;
	/* @Contended: none, padded on its own, or with the others of its named group */
	uint8_t group;
};

/*
 * Gaps that are kept for subclasses; real hierarchies leave a handful. More are forgotten, lowest
 * first.
 */
#define LAYOUT_GAPS_MAX 24

struct layout_gap {
	uint64_t offset;
	uint64_t size;
};

/* What a subclass must know of a class. */
struct layout_shape {
	uint64_t end;  /* behind the last field, inherited ones included; of the header if none */
	uint64_t size; /* of an instance before it is rounded up to the alignment */
	bool has_fields;
	bool is_contended;        /* it, a field of it, or a superclass is @Contended */
	bool ends_with_reference; /* builder: the field that lies last is a reference */
	unsigned gap_count;
	struct layout_gap gaps[LAYOUT_GAPS_MAX]; /* ascending */
};

/* What is known of a class beside its fields (layout/layout_known.h). */
struct layout_traits {
	bool is_contended; /* the class as a whole is @Contended */
	/* classic: HotSpot hard-codes its offsets, references first, no gap filled */
	bool references_first;
};

/* The own instance fields of a class, in the order of the class file, injected ones behind them. */
struct layout_fields {
	struct layout_field *field; /* lent */
	size_t count;
};

/*
 * Lays out one class. `super` is NULL for a class without superclass. The offsets of its fields are
 * set. `out` may not be `super`. Never fails: field types that are none take no room. Linear in
 * fields x gaps.
 */
void layout_class(const struct layout_model *model, const struct layout_shape *super,
		  struct layout_fields fields, const struct layout_traits *traits,
		  struct layout_shape *out);

/* Number of static fields of a class by what they take. */
struct layout_statics {
	uint32_t references;
	uint32_t bytes_8, bytes_4, bytes_2, bytes_1;
};

/*
 * Size of a class object, rounded to the alignment: `mirror_bytes` is the size of an instance of
 * java.lang.Class, behind which HotSpot has kept static fields since JDK 7. Before (model->java 1
 * to 6) they lay elsewhere.
 */
uint64_t layout_mirror(const struct layout_model *model, uint64_t mirror_bytes,
		       const struct layout_statics *statics);

/* Bytes of a field, and what its offset is a multiple of. */
uint64_t layout_field_size(const struct layout_model *model, const struct layout_field *field);
uint64_t layout_field_align(const struct layout_model *model, const struct layout_field *field);

/* Bytes before the first element of an array, by element type. */
unsigned layout_array_base(const struct layout_model *model, uint8_t element_type);

/*
 * Bytes of a jdk.internal.vm.StackChunk behind its fields: its stack, and a bit for every reference
 * that might be there, in whole words (oops/instanceStackChunkKlass.inline.hpp).
 */
uint64_t layout_stack_chunk(unsigned reference_bytes, uint64_t stack_words);

/*
 * Objects of one class whose lengths are equal modulo a period pad alike, so they can be counted
 * together: with lengths a and a + k periods their sizes differ by k times what one period adds,
 * whatever header comes before, under every alignment that divides `modulus`. The period of arrays
 * of elements of `width` bytes, or multiples of it, and that of a stack chunk's words with
 * references of 4 or of 8 bytes.
 */
uint32_t layout_array_period(uint32_t modulus, uint32_t width);
uint32_t layout_stack_chunk_period(uint32_t modulus);

/* v rounded up to a power of two. */
static inline uint64_t layout_round(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/* One file each; layout_class calls the model's. `out` has been started from `super`. */
void layout_builder(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out);
void layout_classic(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out);
void layout_art(const struct layout_model *model, struct layout_field *fields, size_t count,
		struct layout_shape *out);

/*
 * Takes size bytes of gap i at `offset`, which must lie in it; what is left before and behind stays
 * a gap.
 */
void layout_gap_take(struct layout_shape *shape, unsigned i, uint64_t offset, uint64_t size);

/* Remembers a gap behind all others. */
void layout_gap_append(struct layout_shape *shape, uint64_t offset, uint64_t size);

#endif
