/*
 * phd/phd.h - converts portable heap dumps (PHD) of Eclipse OpenJ9 and IBM VMs, versions 4 to 6, to
 * HPROF dumps.
 *
 * A PHD contains classes, objects, references, array lengths, and sizes (of instances per class,
 * and of arrays since version 6). It has no fields, values or GC roots. The javacore that the VM
 * writes next to the dump lists the threads. Source: the page "Heap dump" in the OpenJ9
 * documentation.
 */
#ifndef PHD_PHD_H
#define PHD_PHD_H

#include "base/input.h"
#include "hprof/dump_writer.h"

struct phd;

/* Input files of a dump. The strings must stay valid until phd_close. */
struct phd_files {
	/* path of the dump; the time in its file name helps to find the javacore */
	const char *dump;
	const char *javacore; /* NULL means the javacore next to the dump, if it exists */
};

/*
 * Opens a portable heap dump, plain or compressed, and reads its classes. Returns HDB_NOTFOUND,
 * without consuming any input, for any other format. The caller must close *out with phd_close;
 * `work` must stay valid until then. Input other than a plain file is copied to the scratch_dir of
 * `work`.
 */
int phd_open(struct base_input *input, struct phd_files files, struct base_work *work,
	     struct phd **out, struct hdb_error *err);
void phd_close(struct phd *phd);

/* Returns the size of the file, or the number of bytes read from a pipe. */
uint64_t phd_bytes(const struct phd *phd);

/*
 * Writes the HPROF dump. If the PHD is truncated, everything before that point is written, without
 * an end record. Memory: 64 bytes per class, and the references of class objects.
 */
int phd_write(struct phd *phd, const struct hprof_sink *sink, struct hprof_written *result,
	      struct hdb_error *err);

#endif
