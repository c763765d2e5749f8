/*
 * import/mapping.h - reads the names assigned by ProGuard or R8 together with the original names.
 *
 * This parses a mapping.txt (lines like "com.acme.Main -> a.b:", each followed by its members). It
 * does not depend on a dump or a database. Sources: ProGuard's manual, "ReTrace"; R8's
 * doc/retrace.md (line ranges, inlined methods, the comment with the source file).
 *
 * The file is read as a whole. Classes are indexed when the file is read. Members are indexed only
 * for classes passed to import_mapping_use(), once per class, so the amount of work is linear in
 * the size of the file, regardless of the dump.
 */
#ifndef IMPORT_MAPPING_H
#define IMPORT_MAPPING_H

#include "base/idmap.h"
#include "base/vec.h"

#include <stdbool.h>

/* Maximum size of the file. The largest apps have mapping files of about 200 MB. */
#define IMPORT_MAPPING_MAX_BYTES (1ull << 30)
/* Maximum number of frames for one line of a method with inlined calls. */
#define IMPORT_MAPPING_INLINED 64u

/* A slice of the file, not terminated. Valid until the mapping is released. */
struct import_mapping_text {
	const char *text;
	size_t size;
};

struct import_mapping_class {
	struct import_mapping_text name, obfuscated;
	struct import_mapping_text source; /* source file; empty: unknown */
	struct import_mapping_text body;   /* lines of its members */
	bool is_used;                      /* whether its members have been indexed */
};

struct import_mapping {
	char *text; /* contents of the file; owned */
	size_t size;
	struct base_vec classes; /* struct import_mapping_class, in file order */
	struct base_vec members; /* struct member, see mapping.c */
	struct base_idmap by_name, by_original, by_member;
};

/* One of the methods to which a line belongs. */
struct import_mapping_frame {
	/* class that declares an inlined call, if it is a different class; otherwise empty */
	struct import_mapping_text class_name;
	struct import_mapping_text method;
	int32_t line; /* line in the source; unknown if below 1 */
};

/*
 * Reads the file. Fails with HDB_EFORMAT and the number of the line if a line is invalid, and with
 * HDB_ELIMIT if the file is too large. The caller must release *m even after a failure.
 */
int import_mapping_read(struct import_mapping *m, const char *path, struct hdb_error *err);
void import_mapping_release(struct import_mapping *m);

/*
 * Returns the number of the class that has this name in the dump (in dotted form), or
 * BASE_IDMAP_NONE if there is no such class.
 */
uint32_t import_mapping_find(const struct import_mapping *m, const char *name, size_t size);

/* Returns the class with this original name, or NULL if there is no such class. */
const struct import_mapping_class *import_mapping_original(const struct import_mapping *m,
							   const struct import_mapping_text *name);

static inline const struct import_mapping_class *import_mapping_class(
	const struct import_mapping *m, uint32_t no)
{
	return base_vec_at(&m->classes, struct import_mapping_class, no);
}

/* Indexes the members of a class. Does nothing if they are already indexed. */
int import_mapping_use(struct import_mapping *m, uint32_t no, struct hdb_error *err);

/*
 * Finds the original name of a field. The class must have been indexed. Returns false if the file
 * does not contain the field.
 */
bool import_mapping_field(const struct import_mapping *m, uint32_t no, const char *name,
			  size_t size, struct import_mapping_text *out);

/*
 * Finds the original methods for a line of a method, innermost call first. The class must have been
 * indexed. Returns the number of frames written to `out`, at most IMPORT_MAPPING_INLINED, or 0 if
 * the file does not contain the method. A `line` below 1 means that the line is unknown.
 */
size_t import_mapping_method(const struct import_mapping *m, uint32_t no,
			     const struct import_mapping_text *name, int32_t line,
			     struct import_mapping_frame *out);

#endif
