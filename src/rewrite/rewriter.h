/*
 * rewrite/rewriter.h - one dump into another: reads it record by record, asks a policy what becomes
 * of each heap sub-record, and writes the rest as it was.
 *
 * Streams: what is held are a segment of the output, and what the walk and the policy keep. Heap
 * dump records are written anew, as segments of some MiB.
 */
#ifndef REWRITE_REWRITER_H
#define REWRITE_REWRITER_H

#include "base/outfile.h"
#include "base/work.h"
#include "hprof/walk.h"
#include "rewrite/rewrite.h"

struct rewriter;

struct rewrite_policy {
	void *ctx;
	/*
	 * Writes what becomes of a sub-record, by rewriter_begin and what follows it there, or
	 * nothing: it is left out.
	 */
	int (*sub)(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		   struct hdb_error *err);
	/*
	 * Writes what becomes of any other record, by rewriter_record and what follows it there.
	 * NULL: it stays as it was.
	 */
	int (*record)(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		      struct hdb_error *err);
	const char *marker; /* a text that the dump gets as its first record; NULL: none */
	bool app_only;      /* without objects of Android's zygote and image heaps */
};

struct rewriter {
	struct base_work *work;
	struct base_source *source; /* the dump that is read */
	struct hprof_file file;
	struct base_view view; /* for the policy */
	struct hdb_output_result result;
	unsigned id_size; /* bytes of an ID in the output; set it before rewriter_run */
	/* private */
	const struct rewrite_policy *policy;
	uint64_t heap; /* that objects belong to: 'A' app, 'Z' zygote, 'I' image; 0: not said */
	struct hprof_walk walk;
	struct base_outfile *out;
	const struct hdb_output_options *options;
	uint8_t *segment; /* sub-records that wait */
	size_t used;      /* bytes of them */
	uint64_t left;    /* bytes of a sub-record or record that are still to be written */
	bool is_direct;   /* they do not wait */
	uint64_t events;
	enum hprof_version version; /* of the output */
};

/*
 * Opens the dump, inflating it first into a scratch file if it is compressed or a pipe, and begins
 * the output. End with rewriter_close, also after a failure. `w` is zeroed first.
 */
int rewriter_open(struct rewriter *w, struct rewrite_paths paths,
		  const struct hdb_output_options *options, struct base_work *work,
		  struct hdb_error *err);

/*
 * Goes through all records and sub-records before anything is written: `take` sees each event of
 * the walk. `stage` is for base_stage.
 */
int rewriter_survey(struct rewriter *w, const char *stage,
		    int (*take)(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
				struct hdb_error *err),
		    void *ctx, struct hdb_error *err);

/* Copies all bytes as they are. */
int rewriter_copy_all(struct rewriter *w, struct hdb_error *err);
/* Writes the dump anew, as the policy says. */
int rewriter_run(struct rewriter *w, const struct rewrite_policy *policy, struct hdb_error *err);

/* Gives the output its name, and the result to `out` (NULL: nobody wants it). */
int rewriter_finish(struct rewriter *w, struct hdb_output_result *out, struct hdb_error *err);
void rewriter_close(struct rewriter *w);

/* ---- for policies ---- */

/* Begins a sub-record of `size` bytes; the calls that follow must write just as many. */
int rewriter_begin(struct rewriter *w, uint64_t size, struct hdb_error *err);
int rewriter_put(struct rewriter *w, const void *data, uint64_t size, struct hdb_error *err);
int rewriter_zeros(struct rewriter *w, uint64_t size, struct hdb_error *err);
/* Bytes of the dump that is read. */
int rewriter_copy(struct rewriter *w, uint64_t offset, uint64_t size, struct hdb_error *err);
/*
 * IDs of the dump that is read, in the output's width. HDB_ELIMIT, with the ID and its offset, if
 * one does not fit.
 */
int rewriter_copy_ids(struct rewriter *w, uint64_t offset, uint64_t count, struct hdb_error *err);
/* An ID that fits. */
int rewriter_put_id(struct rewriter *w, uint64_t id, struct hdb_error *err);
/* A whole sub-record as it was. */
int rewriter_keep(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

/* Begins a record that is no heap dump, with a body of `size` bytes; as rewriter_begin. */
int rewriter_record(struct rewriter *w, const struct hprof_record *rec, uint64_t size,
		    struct hdb_error *err);
/* A whole record as it was. */
int rewriter_keep_record(struct rewriter *w, const struct hprof_record *rec, struct hdb_error *err);

#endif
