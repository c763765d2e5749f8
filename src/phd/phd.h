/*
 * phd/phd.h - converts portable heap dumps (PHD) of Eclipse OpenJ9 and IBM's VMs, versions 4 to 6,
 * to HPROF dumps.
 *
 * A PHD has classes, objects, their references, lengths of arrays, and sizes (of instances per
 * class, and of arrays since version 6). It has no fields, values or GC roots. The javacore that
 * the VM writes next to the dump contains the threads. Source: the page "Heap dump" in the
 * documentation of OpenJ9.
 */
#ifndef PHD_PHD_H
#define PHD_PHD_H

#include "base/input.h"
#include "hprof/dump_writer.h"

struct phd;

/* Borrowed until phd_close. */
struct phd_files {
	/* path of the dump; the time in its file name helps to find the javacore */
	const char *dump;
	const char *javacore; /* NULL means the javacore next to the dump, if it exists */
};

/*
 * Opens a portable heap dump, plain or compressed, and reads its classes. Returns HDB_NOTFOUND,
 * without consuming the input, if the input is something else. The caller must close *out with
 * phd_close. `work` is borrowed until then. Unless the input is a plain file, it is copied to the
 * scratch_dir of `work`.
 */
int phd_open(struct base_input *input, struct phd_files files, struct base_work *work,
	     struct phd **out, struct hdb_error *err);
void phd_close(struct phd *phd);

/* Returns the size of the file, or the number of bytes read from a pipe. */
uint64_t phd_bytes(const struct phd *phd);

/*
 * Writes the HPROF dump. If the PHD ends too early, everything before that point is written, but
 * not the record that ends a dump. Memory: 64 bytes per class, and the references of class objects.
 */
int phd_write(struct phd *phd, const struct hprof_sink *sink, struct hprof_written *result,
	      struct hdb_error *err);

#endif
