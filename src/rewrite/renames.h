/*
 * rewrite/renames.h - other names for classes and fields, from a file.
 *
 * A line is "OLD -> NEW"; '#' begins a comment. A name with dots is a class (its arrays, its inner
 * classes and the signatures of methods follow), "com.acme.*" a package and what is below it, to
 * which NEW ends in ".*", too. Any other text of the dump that is equal to OLD, as the name of a
 * field or a method, becomes NEW.
 */
#ifndef REWRITE_RENAMES_H
#define REWRITE_RENAMES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "rewrite/rewriter.h"

struct rewrite_rename {
	size_t from, to; /* places in texts, terminated */
	bool is_package; /* "com.acme." */
};

/* Zero-initialise. */
struct rewrite_renames {
	struct base_vec texts;   /* bytes */
	struct base_vec lines;   /* struct rewrite_rename */
	struct base_idmap exact; /* hash of a name -> number in lines */
	struct base_vec name;    /* bytes of the name that is made */
};

/* HDB_EFORMAT with the line that cannot be understood. */
int rewrite_renames_read(struct rewrite_renames *renames, const char *path, struct hdb_error *err);
void rewrite_renames_release(struct rewrite_renames *renames);

/*
 * Writes a text record, its text by the new names; any other record as it was. *changed is raised
 * by one if the text is another.
 */
int rewrite_renames_record(struct rewrite_renames *renames, struct rewriter *w,
			   const struct hprof_record *rec, uint64_t *changed,
			   struct hdb_error *err);

#endif
