/*
 * rewrite/renames.h - renames classes and fields as listed in a file.
 *
 * A line is "OLD -> NEW"; '#' begins a comment. A name with dots is a class, whose arrays, inner
 * classes and signatures are renamed as well. "com.acme.*" is a package with its subpackages; NEW
 * must then end in ".*", too. Any other string in the dump that equals OLD, such as the name of a
 * field or method, becomes NEW.
 */
#ifndef REWRITE_RENAMES_H
#define REWRITE_RENAMES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "rewrite/rewriter.h"

struct rewrite_rename {
	size_t from, to; /* offsets in texts, NUL-terminated */
	bool is_package; /* e.g. "com.acme." */
};

/* Zero-initialise. */
struct rewrite_renames {
	struct base_vec texts;   /* bytes */
	struct base_vec lines;   /* struct rewrite_rename */
	struct base_idmap exact; /* hash of a name to its index in lines */
	struct base_vec name;    /* bytes of the new name being built */
};

/* Reads the file. If a line is invalid, fails with HDB_EFORMAT and names the line. */
int rewrite_renames_read(struct rewrite_renames *renames, const char *path, struct hdb_error *err);
void rewrite_renames_release(struct rewrite_renames *renames);

/* Writes a record, renaming it if it is a string. Increments *changed if the text differs. */
int rewrite_renames_record(struct rewrite_renames *renames, struct rewriter *w,
			   const struct hprof_record *rec, uint64_t *changed,
			   struct hdb_error *err);

#endif
