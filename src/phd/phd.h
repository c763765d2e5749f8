/*
 * phd/phd.h - portable heap dumps (PHD) of Eclipse OpenJ9 and IBM's VMs, versions 4 to 6, as HPROF
 * dumps.
 *
 * Such a dump has classes, objects, what they refer to, lengths of arrays, and sizes: of instances
 * by class, of arrays since version 6. It has no fields, no values, no GC roots. Threads are in the
 * javacore that the VM writes beside it. Source: the page "Heap dump" of OpenJ9's documentation.
 */
#ifndef PHD_PHD_H
#define PHD_PHD_H

#include "base/input.h"
#include "hprof/dump_writer.h"

struct phd;

/* Lent until phd_close. */
struct phd_files {
	const char *dump;     /* tells the time, and where a javacore may be */
	const char *javacore; /* NULL: one beside the dump, if there is one */
};

/*
 * Opens a portable heap dump, plain or compressed, and reads its classes. HDB_NOTFOUND if the input
 * is none: nothing was taken then. *out is owned: phd_close. `work` is lent until then; what is no
 * plain file is copied to its scratch_dir.
 */
int phd_open(struct base_input *input, struct phd_files files, struct base_work *work,
	     struct phd **out, struct hdb_error *err);
void phd_close(struct phd *phd);

/* Bytes of the file, or those that came. */
uint64_t phd_bytes(const struct phd *phd);

/*
 * Writes it as a dump. What a dump that was cut has is written, without the record that ends a
 * dump. Memory: 64 bytes a class, and the references of class objects.
 */
int phd_write(struct phd *phd, const struct hprof_sink *sink, struct hprof_written *result,
	      struct hdb_error *err);

#endif
