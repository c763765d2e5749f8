/*
 * import/mapping.h - the names that ProGuard and R8 gave, and what they stand for.
 *
 * Reads a mapping.txt ("com.acme.Main -> a.b:", below it its members). Knows no dump and no
 * database. Sources: ProGuard's manual, "ReTrace"; R8, doc/retrace.md (ranges of lines, inlined
 * methods, the comment with the name of the source file).
 *
 * The file is read whole. Classes are indexed when it is read; members only of classes that
 * import_mapping_use() names, each once, so that the work is linear in the file whatever the dump.
 */
#ifndef IMPORT_MAPPING_H
#define IMPORT_MAPPING_H

#include "base/idmap.h"
#include "base/vec.h"

#include <stdbool.h>

/* Largest file that is read; those of the largest apps have some 200 MB. */
#define IMPORT_MAPPING_MAX_BYTES (1ull << 30)
/* Methods that one method's line stands for at most: calls that were inlined into one another. */
#define IMPORT_MAPPING_INLINED 64u

/* A part of the file; not terminated, borrowed until the release. */
struct import_mapping_text {
	const char *text;
	size_t size;
};

struct import_mapping_class {
	struct import_mapping_text name, obfuscated;
	struct import_mapping_text source; /* its source file, empty: not said */
	struct import_mapping_text body;   /* the lines of its members */
	bool is_used;                      /* its members are indexed */
};

struct import_mapping {
	char *text; /* the file; owned */
	size_t size;
	struct base_vec classes; /* struct import_mapping_class, as they come */
	struct base_vec members; /* see mapping.c */
	struct base_idmap by_name, by_original, by_member;
};

/* A method that a line stands for. */
struct import_mapping_frame {
	/* class that declares it if it is another one (an inlined call), else empty */
	struct import_mapping_text class_name;
	struct import_mapping_text method;
	int32_t line; /* of the source; below 1: not known */
};

/*
 * Reads the file. HDB_EFORMAT with the number of the line that is no mapping, HDB_ELIMIT if it is
 * too large. Release *m in any case.
 */
int import_mapping_read(struct import_mapping *m, const char *path, struct hdb_error *err);
void import_mapping_release(struct import_mapping *m);

/* The number of the class that has this name in the dump, with dots; BASE_IDMAP_NONE if none. */
uint32_t import_mapping_find(const struct import_mapping *m, const char *name, size_t size);

/* The class that has this name in the source; NULL if none. */
const struct import_mapping_class *import_mapping_original(const struct import_mapping *m,
							   const struct import_mapping_text *name);

static inline const struct import_mapping_class *import_mapping_class(
	const struct import_mapping *m, uint32_t no)
{
	return base_vec_at(&m->classes, struct import_mapping_class, no);
}

/* Indexes the members of a class, if that is not done yet. */
int import_mapping_use(struct import_mapping *m, uint32_t no, struct hdb_error *err);

/* What a field of a class in use stands for; false if the file does not say. */
bool import_mapping_field(const struct import_mapping *m, uint32_t no, const char *name,
			  size_t size, struct import_mapping_text *out);

/*
 * What a line of a method of a class in use stands for, the innermost call first: how many frames
 * were put to `out`, at most IMPORT_MAPPING_INLINED; 0 if the file does not say. `line` below 1:
 * not known.
 */
size_t import_mapping_method(const struct import_mapping *m, uint32_t no,
			     const struct import_mapping_text *name, int32_t line,
			     struct import_mapping_frame *out);

#endif
