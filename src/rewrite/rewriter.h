/*
 * rewrite/rewriter.h - rewrites a dump record by record. A policy decides what to do with each
 * sub-record of the heap; everything else is written unchanged.
 *
 * Memory: one output segment, plus the memory of the walk and the policy. Heap dump records are
 * written as segments of a few MiB.
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
	 * Writes the replacement of a sub-record, with rewriter_begin and the functions below it.
	 * To drop the sub-record, write nothing.
	 */
	int (*sub)(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		   struct hdb_error *err);
	/* Writes a record outside the heap, with rewriter_record. NULL keeps all such records. */
	int (*record)(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		      struct hdb_error *err);
	const char *marker; /* text of a marker to write as the first record, or NULL */
	bool app_only;      /* whether to drop objects of Android's zygote and image heaps */
};

struct rewriter {
	struct base_work *work;
	struct base_source *source; /* the dump to read */
	struct hprof_file file;
	struct base_view view; /* for use by the policy */
	struct hdb_output_result result;
	unsigned id_size; /* size of an ID in the output; set before rewriter_run */
	/* private */
	const struct rewrite_policy *policy;
	/* current heap: 'A' app, 'Z' zygote, 'I' image, or 0 if unknown */
	uint64_t heap;
	struct hprof_walk walk;
	struct base_outfile *out;
	const struct hdb_output_options *options;
	uint8_t *segment; /* collected sub-records */
	size_t used;      /* number of bytes used in the segment */
	uint64_t left;    /* remaining bytes of the current record or sub-record */
	/* whether output goes to the file instead of the segment */
	bool is_direct;
	uint64_t events;
	enum hprof_version version; /* version of the output */
};

/* Fails with HDB_EUSAGE if the output would replace the dump to read. `in` may be NULL. */
int rewriter_check_output(const char *in, const char *out, struct hdb_error *err);

/*
 * Opens the dump and begins the output. Zeroes *w first. A compressed dump or a pipe is copied to a
 * scratch file. The caller must call rewriter_close, even after a failure.
 */
int rewriter_open(struct rewriter *w, struct rewrite_paths paths,
		  const struct hdb_output_options *options, struct base_work *work,
		  struct hdb_error *err);

/*
 * Walks through all records and sub-records before anything is written, calling `take` for each
 * event. `stage` is passed to base_stage.
 */
int rewriter_survey(struct rewriter *w, const char *stage,
		    int (*take)(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
				struct hdb_error *err),
		    void *ctx, struct hdb_error *err);

/* Copies all bytes unchanged. */
int rewriter_copy_all(struct rewriter *w, struct hdb_error *err);
/* Writes the dump under the control of a policy. */
int rewriter_run(struct rewriter *w, const struct rewrite_policy *policy, struct hdb_error *err);

/* Completes the output and moves it to its final name. `out` may be NULL. */
int rewriter_finish(struct rewriter *w, struct hdb_output_result *out, struct hdb_error *err);
void rewriter_close(struct rewriter *w);

/* ---- for policies ---- */

/* Begins a sub-record. The following calls must write exactly `size` bytes. */
int rewriter_begin(struct rewriter *w, uint64_t size, struct hdb_error *err);
int rewriter_put(struct rewriter *w, const void *data, uint64_t size, struct hdb_error *err);
int rewriter_zeros(struct rewriter *w, uint64_t size, struct hdb_error *err);
/* Copies bytes from the source dump. */
int rewriter_copy(struct rewriter *w, uint64_t offset, uint64_t size, struct hdb_error *err);
/*
 * Copies IDs from the source dump, converted to w->id_size bytes. Fails with HDB_ELIMIT if an ID
 * does not fit; the message includes the ID and its offset.
 */
int rewriter_copy_ids(struct rewriter *w, uint64_t offset, uint64_t count, struct hdb_error *err);
/* Writes an ID, which must fit in w->id_size bytes. */
int rewriter_put_id(struct rewriter *w, uint64_t id, struct hdb_error *err);
/* Writes a whole sub-record unchanged. */
int rewriter_keep(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

/* Begins a record outside the heap with a body of `size` bytes; see rewriter_begin. */
int rewriter_record(struct rewriter *w, const struct hprof_record *rec, uint64_t size,
		    struct hdb_error *err);
/* Writes a whole record unchanged. */
int rewriter_keep_record(struct rewriter *w, const struct hprof_record *rec, struct hdb_error *err);

#endif
