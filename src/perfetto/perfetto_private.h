/*
 * perfetto/perfetto_private.h - an open trace, and one graph of it.
 */
#ifndef PERFETTO_PERFETTO_PRIVATE_H
#define PERFETTO_PERFETTO_PRIVATE_H

#include "base/clear_names.h"
#include "base/idmap.h"
#include "base/source.h"
#include "base/vec.h"
#include "perfetto/perfetto.h"

#include <assert.h>

#define PERFETTO_NONE UINT32_MAX

/* A graph of the trace: of one process at one time. */
struct perfetto_graph {
	uint64_t sequence_id; /* of the packets that it comes in */
	uint64_t timestamp;   /* in ns since the device was started */
	uint64_t next_index;  /* of its next packet */
	int64_t pid;
	uint32_t missing_count; /* gaps in the numbers of its packets */
	bool is_open;           /* more is to come */
};

/* A packet with a part of a graph. */
struct perfetto_packet {
	struct proto graph; /* borrowed */
	uint32_t graph_no;
};

struct perfetto {
	struct base_work *work; /* lent */
	struct base_source *source;
	struct base_view view;
	struct base_vec copy;          /* of its bytes, if it was compressed */
	struct base_vec graphs;        /* struct perfetto_graph */
	struct base_vec packets;       /* struct perfetto_packet */
	struct base_vec names;         /* struct clear_name: of classes and fields */
	int64_t clock_offset_ns;       /* from time since the start to time since 1970 */
	struct base_idmap open_graphs; /* sequence ID -> number in graphs */
};

/* Kinds of types (HeapGraphType.Kind). */
enum { PERFETTO_KIND_STRING = 3 };

struct perfetto_type {
	uint64_t id;
	struct proto name; /* borrowed */
	uint64_t location_id;
	uint64_t object_size; /* of an instance; 0: not said */
	uint64_t least_bytes; /* of its smallest object, rounded; 0: it has none */
	uint64_t most_bytes;  /* of its largest */
	uint64_t super_id, loader_id;
	size_t first_field;   /* in type_fields: own reference fields */
	uint32_t field_count; /* of them */
	uint32_t kind;
	uint32_t super_no;     /* number of the type or PERFETTO_NONE */
	uint32_t class_of;     /* of "java.lang.Class<X>" the number of X, else PERFETTO_NONE */
	uint32_t class_object; /* number of the class object of this type, or PERFETTO_NONE */
	uint64_t chain_fields; /* reference fields of the type and its superclasses */
	uint32_t added_fields; /* fields that only its objects name: in graph->added, a list */
	uint32_t values;       /* bits: members of the table of value fields */
	uint8_t element;       /* arrays: HPROF type of the elements; else 0 */
	bool has_extras;       /* an object has references without a field */
};

struct perfetto_object {
	uint64_t id;
	uint64_t self_size; /* 0: its type's */
	struct proto proto; /* borrowed */
	uint32_t type_no;
	uint8_t heap; /* HeapGraphObject.HeapType */
};

struct perfetto_root {
	uint64_t id;
	uint32_t kind; /* HeapGraphRoot.Type */
};

/* A field that only objects name: of traces from before Android 12. */
struct perfetto_added {
	uint32_t field_no;
	uint32_t next; /* of the same type, or PERFETTO_NONE */
};

struct perfetto_tables {
	struct perfetto *trace;         /* lent */
	struct base_vec types;          /* struct perfetto_type */
	struct base_vec type_fields;    /* uint32_t: numbers in fields */
	struct base_vec fields;         /* struct proto: names as "TYPE CLASS.NAME", "CLASS.NAME" */
	struct base_vec objects;        /* struct perfetto_object */
	struct base_vec roots;          /* struct perfetto_root */
	struct base_vec added;          /* struct perfetto_added */
	struct base_vec packages;       /* struct proto: of apps, by location */
	struct base_idmap type_map;     /* type ID -> number in types */
	struct base_idmap field_map;    /* field ID -> number in fields */
	struct base_idmap location_map; /* location ID -> number in packages */
	uint64_t id_bits;               /* all IDs of objects, one or the other */
	uint64_t id_max;
	uint32_t array_no; /* number of the type java.lang.Object[] */
	uint64_t problem_count;
};

static inline struct perfetto_type *perfetto_type_at(const struct perfetto_tables *g, size_t no)
{
	assert(no < g->types.count);
	return base_vec_at(&g->types, struct perfetto_type, no);
}

/* The bytes of an object of a type, rounded as the import rounds recorded sizes. */
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

/* The number of field i of those that a type has itself. */
static inline uint32_t perfetto_own_field(const struct perfetto_tables *g,
					  const struct perfetto_type *type, size_t i)
{
	assert(i < type->field_count);
	assert(type->first_field + type->field_count <= g->type_fields.count);
	return *base_vec_at(&g->type_fields, uint32_t, type->first_field + i);
}

/* A field as the current object has it. */
struct perfetto_slot {
	uint64_t id;
	uint32_t object_no; /* 1 + number of the object that has it; else it is another's */
};

/* The references of an object. Reused from object to object. */
struct perfetto_references {
	struct base_vec ids;    /* uint64_t; 0: null */
	struct base_vec fields; /* uint64_t: numbers in fields, one an ID; empty: by its type */
	struct base_vec extras; /* uint64_t: of the runtime, without a field */
	struct base_vec slots;  /* struct perfetto_slot, by number of the field */
	uint64_t values[6];     /* of the table of value fields */
};

/* Value fields that a graph has; the rest of all values is not in it. */
struct perfetto_value_field {
	const char *class_name, *name;
	uint32_t proto_no; /* in HeapGraphObject */
	uint8_t type;      /* HPROF's */
};
#define PERFETTO_VALUES 6
extern const struct perfetto_value_field perfetto_value_fields[PERFETTO_VALUES];

/* Reads the tables of a graph. `tables` has trace set; release it also after a failure. */
int perfetto_tables_read(struct perfetto_tables *tables, uint32_t graph_no, struct hdb_error *err);
void perfetto_tables_release(struct perfetto_tables *tables);

/* The number of the first type of this name, or PERFETTO_NONE. */
uint32_t perfetto_type_named(const struct perfetto_tables *tables, const char *name);

/* HDB_NOTFOUND if the references and their fields do not fit together. Makes slots, empty ones. */
int perfetto_references_read(struct perfetto_tables *tables, const struct perfetto_object *object,
			     struct perfetto_references *out, struct hdb_error *err);
void perfetto_references_release(struct perfetto_references *references);

/* The class and the name of a field "TYPE CLASS.NAME" or "CLASS.NAME"; borrowed. */
void perfetto_field_name(const struct proto *field, struct proto *class_name, struct proto *name);

bool perfetto_text_is(const struct proto *text, const char *want);

/*
 * What is written is at most so many times as large as the trace, and MiB: real graphs grow to some
 * 6 times, but a few bytes of a hostile one can name an object of a class with a million fields.
 */
#define PERFETTO_GROWTH_MAX 64u
#define PERFETTO_GROWTH_MIB 64u

#endif
