/* perfetto/perfetto_private.h - an open trace, and the tables of one graph. */
#ifndef PERFETTO_PERFETTO_PRIVATE_H
#define PERFETTO_PERFETTO_PRIVATE_H

#include "base/clear_names.h"
#include "base/idmap.h"
#include "base/source.h"
#include "base/vec.h"
#include "perfetto/perfetto.h"

#include <assert.h>

#define PERFETTO_NONE UINT32_MAX

/* A graph of the trace, which describes one process at one time. */
struct perfetto_graph {
	uint64_t sequence_id; /* sequence ID of the packets that contain the graph */
	uint64_t timestamp;   /* ns since the device booted */
	uint64_t next_index;  /* expected index of its next packet */
	int64_t pid;
	uint32_t missing_count; /* number of gaps in the numbering of its packets */
	bool is_open;           /* whether more packets will follow */
};

/* A packet with a part of a graph. */
struct perfetto_packet {
	struct proto graph; /* borrowed */
	uint32_t graph_no;
};

struct perfetto {
	struct base_work *work; /* borrowed */
	struct base_source *source;
	struct base_view view;
	struct base_vec copy;          /* inflated trace, if it was compressed */
	struct base_vec graphs;        /* struct perfetto_graph */
	struct base_vec packets;       /* struct perfetto_packet */
	struct base_vec names;         /* struct clear_name: names before obfuscation */
	int64_t clock_offset_ns;       /* offset from time since boot to time since 1970 */
	struct base_idmap open_graphs; /* sequence ID to index in graphs */
};

/* Kinds of types (HeapGraphType.Kind). */
enum { PERFETTO_KIND_STRING = 3 };

struct perfetto_type {
	uint64_t id;
	struct proto name; /* borrowed */
	uint64_t location_id;
	uint64_t object_size; /* size of an instance, or 0 if unknown */
	uint64_t least_bytes; /* rounded size of the smallest object; 0 if there are no objects */
	uint64_t most_bytes;  /* size of its largest object */
	uint64_t super_id, loader_id;
	size_t first_field;   /* index of its first reference field in type_fields */
	uint32_t field_count; /* reference fields that the type itself declares */
	uint32_t kind;
	uint32_t super_no; /* index in types, or PERFETTO_NONE */
	/* for "java.lang.Class<X>", index of X; otherwise PERFETTO_NONE */
	uint32_t class_of;
	uint32_t class_object; /* index of the type's class object, or PERFETTO_NONE */
	uint64_t chain_fields; /* reference fields, including those of superclasses */
	/*
	 * head of the type's list of added fields: an index in perfetto_tables.added, or
	 * PERFETTO_NONE
	 */
	uint32_t added_fields;
	uint32_t values; /* bit i: the type declares perfetto_value_fields[i] */
	uint8_t element; /* HPROF type of the elements of an array; otherwise 0 */
	bool has_extras; /* whether any object has references without a field */
};

struct perfetto_object {
	uint64_t id;
	uint64_t self_size; /* 0 means the object_size of the type */
	struct proto proto; /* borrowed */
	uint32_t type_no;
	uint8_t heap; /* HeapGraphObject.HeapType */
};

struct perfetto_root {
	uint64_t id;
	uint32_t kind; /* HeapGraphRoot.Type */
};

/*
 * A field that appears in objects but not in the field list of their type. Only traces from before
 * Android 12 have such fields.
 */
struct perfetto_added {
	uint32_t field_no;
	uint32_t next; /* next added field of the type, or PERFETTO_NONE */
};

struct perfetto_tables {
	struct perfetto *trace;      /* borrowed */
	struct base_vec types;       /* struct perfetto_type */
	struct base_vec type_fields; /* uint32_t: indexes in fields */
	/*
	 * struct proto: names such as "TYPE CLASS.NAME" or "CLASS.NAME". Once the tables are read,
	 * the last entry has no name; it stands for every field that no type and no object
	 * mentioned.
	 */
	struct base_vec fields;
	bool has_all_fields;
	struct base_vec objects;        /* struct perfetto_object */
	struct base_vec roots;          /* struct perfetto_root */
	struct base_vec added;          /* struct perfetto_added */
	struct base_vec packages;       /* struct proto: packages of apps, by location */
	struct base_idmap type_map;     /* type ID to index in types */
	struct base_idmap field_map;    /* field ID to index in fields */
	struct base_idmap location_map; /* location ID to index in packages */
	uint64_t id_bits;               /* bitwise OR of all object IDs */
	uint64_t id_max;
	uint32_t array_no; /* index of the type java.lang.Object[] */
	uint64_t problem_count;
};

static inline struct perfetto_type *perfetto_type_at(const struct perfetto_tables *g, size_t no)
{
	assert(no < g->types.count);
	return base_vec_at(&g->types, struct perfetto_type, no);
}

/* Returns the size of an object, rounded as the import rounds recorded sizes. */
static inline uint64_t perfetto_bytes_of(const struct perfetto_type *type, uint64_t self_size)
{
	const uint64_t bytes = self_size ? self_size : type->object_size, most = UINT32_MAX & ~7u;

	return bytes < most ? (bytes + 7) & ~(uint64_t)7 : most;
}

static inline const struct perfetto_object *perfetto_object_at(const struct perfetto_tables *g,
							       size_t no)
{
	assert(no < g->objects.count);
	return base_vec_at(&g->objects, struct perfetto_object, no);
}

static inline struct proto *perfetto_field_at(const struct perfetto_tables *g, size_t no)
{
	assert(no < g->fields.count);
	return base_vec_at(&g->fields, struct proto, no);
}

/* Returns the index of a type's own field number i. */
static inline uint32_t perfetto_own_field(const struct perfetto_tables *g,
					  const struct perfetto_type *type, size_t i)
{
	assert(i < type->field_count);
	assert(type->first_field + type->field_count <= g->type_fields.count);
	return *base_vec_at(&g->type_fields, uint32_t, type->first_field + i);
}

/* The value of a field in the current object. */
struct perfetto_slot {
	uint64_t id;
	/* 1 + index of the object that set the value; the slot is empty for any other object */
	uint32_t object_no;
};

/* The references of one object. The vectors are reused for the next object. */
struct perfetto_references {
	struct base_vec ids; /* uint64_t; 0 means null */
	/*
	 * uint64_t: index in fields of each ID; if empty, the IDs are in the order of the type's
	 * fields
	 */
	struct base_vec fields;
	struct base_vec extras; /* uint64_t: IDs to which the runtime refers without a field */
	struct base_vec slots;  /* struct perfetto_slot, indexed by field */
	uint64_t values[6];     /* values, in the order of perfetto_value_fields */
};

/* The only fields whose values a graph contains. */
struct perfetto_value_field {
	const char *class_name, *name;
	uint32_t proto_no; /* field number in HeapGraphObject */
	uint8_t type;      /* HPROF type */
};
#define PERFETTO_VALUES 6
extern const struct perfetto_value_field perfetto_value_fields[PERFETTO_VALUES];

/*
 * Reads the tables of a graph. The caller sets `trace` first, and calls perfetto_tables_release
 * afterwards even if this fails.
 */
int perfetto_tables_read(struct perfetto_tables *tables, uint32_t graph_no, struct hdb_error *err);
void perfetto_tables_release(struct perfetto_tables *tables);

/* Returns the index of the first type with this name, or PERFETTO_NONE. */
uint32_t perfetto_type_named(const struct perfetto_tables *tables, const char *name);

/*
 * Reads the references of an object, and makes sure that every field has a slot. Returns
 * HDB_NOTFOUND if the object has a different number of references and fields.
 */
int perfetto_references_read(struct perfetto_tables *tables, const struct perfetto_object *object,
			     struct perfetto_references *out, struct hdb_error *err);
void perfetto_references_release(struct perfetto_references *references);

/* Splits a field name, "TYPE CLASS.NAME" or "CLASS.NAME". The results point into `field`. */
void perfetto_field_name(const struct proto *field, struct proto *class_name, struct proto *name);

bool perfetto_text_is(const struct proto *text, const char *want);

/*
 * Maximum size of the output: a multiple of the trace's size plus a number of MiB. Real graphs grow
 * about sixfold, but in a hostile trace a few bytes can describe an object with a million fields.
 */
#define PERFETTO_GROWTH_MAX 64u
#define PERFETTO_GROWTH_MIB 64u

#endif
