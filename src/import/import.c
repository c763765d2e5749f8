/*
 * import/import.c - performs the whole import: opens the dump, runs the passes, and publishes the
 * database.
 */
#include "import/import.h"

#include "base/fingerprint.h"
#include "base/input.h"
#include "base/pipeline.h"
#include "hprof/emptied.h"
#include "import/mapped_names.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Time between two checks for whether another import has ended. */
#define WAIT_NS 5000000

/*
 * Address space reserved for a database that will contain its dump. The size of the decompressed
 * dump is not known in advance, so the import requests a generous amount, and the system grants as
 * much as it can.
 */
#define KEPT_SIZE_HINT (4ull << 40)

/*
 * Used in messages to estimate the required space: a database takes at most 1/SPACE_PART of the
 * size of the dump, or 1/SPACE_PART_KEPT if the database contains the dump.
 */
#define SPACE_PART 4u
#define SPACE_PART_KEPT 3u
/* Number of bytes of the dump's mapping that a thread unmaps at a time. */
#define DROP_BYTES (32ull << 20)

static int drop_piece(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct base_source *source = ctx;

	(void)slot;
	(void)err;
	source->drop(source, item * DROP_BYTES, DROP_BYTES);
	return HDB_OK;
}

/* Releases the pages of the dump on several threads, because this takes the system a long time. */
static void drop_dump(struct import *im)
{
	if (im->source->drop)
		(void)base_pipeline_each(im->source->size / DROP_BYTES, im->work->threads,
					 im->source, drop_piece, NULL);
}

/*
 * Charges the tables that grow with the dump to the budget. If `work` is NULL, returns their memory
 * to the budget.
 */
static void hold_tables(struct import *im, struct base_work *work)
{
	struct base_vec *vecs[] = {
		&im->classes,
		&im->records.loads,
		&im->records.roots,
		&im->records.threads,
		&im->records.traces,
		&im->records.trace_frames,
		&im->records.frames,
		&im->records.heaps,
		&im->records.heap_names,
		&im->records.heap_switches,
		&im->records.alloc_sites,
		&im->records.cpu_samples,
		&im->records.summaries,
		&im->records.thread_starts,
		&im->damage.problems,
		&im->damage.dangling,
		&im->links.plans,
		&im->texts.places,
		&im->links.extras,
		&im->links.numbered_roots,
		&im->links.id_directory,
		&im->records.unloaded,
		&im->flat.fields,
	};
	struct base_idmap *maps[] = {
		&im->class_map,           &im->records.serial_map, &im->records.load_map,
		&im->texts.places_by_id,  &im->records.thread_map, &im->records.thread_roots,
		&im->damage.dangling_map, &im->names.texts,
	};

	for (size_t i = 0; i < BASE_COUNT(vecs); i++) {
		if (!work)
			base_vec_release(vecs[i]);
		vecs[i]->work = work;
	}
	for (size_t i = 0; i < BASE_COUNT(maps); i++) {
		if (!work)
			base_idmap_release(maps[i]);
		maps[i]->work = work;
	}
}

static void release(struct import *im)
{
	hold_tables(im, NULL);
	base_work_count(im->work, &im->classes_bytes, 0);
	import_mapping_release(&im->names.mapping);
	store_texts_release(&im->texts.writer);
	import_counts_release(&im->evidence.counts_by_class);
	import_idset_release(&im->ids);
	import_locator_release(&im->locator);
	free(im->known.order);
	free(im->flat.plan);
	free(im->flat.element);
	/*
	 * If the database contains the dump, the source reads through the writer, so the source is
	 * closed first.
	 */
	base_source_close(im->source);
	store_abort(im->writer);
}

/* Stores the path of the dump, or the name given for a pipe. For a pipe, zeroes *st. */
static int put_dump_path(struct import *im, const char *dump_path, struct stat *st,
			 struct hdb_error *err)
{
	BASE_FREED char *full = im->origin.is_pipe ? NULL : realpath(dump_path, NULL);
	const char *name =
		im->origin.is_pipe && im->opt->dump_name ? im->opt->dump_name : dump_path;

	memset(st, 0, sizeof(*st));
	if (!im->origin.is_pipe && (!full || stat(full, st) < 0))
		return hdb_fail_errno(err, errno, "%s", dump_path);
	return store_put_meta_text(im->writer, "dump.path", full ? full : name, err);
}

int import_put_numbers(struct import *im, const struct import_number *numbers, size_t count,
		       struct hdb_error *err)
{
	for (size_t i = 0; i < count; i++) {
		TRY(store_put_meta_number(im->writer, numbers[i].name, numbers[i].value, err));
	}
	return HDB_OK;
}

/*
 * Returns the number of heap dumps in the file. If the dump was extracted from a file with several
 * heap dumps, returns the number in that file.
 */
static unsigned snapshot_count(const struct import *im)
{
	return im->origin.made_from_count ? im->origin.made_from_count : im->origin.snapshot_count;
}

/* Stores the properties of the dump file. */
static int put_dump_meta(struct import *im, const char *dump_path, struct hdb_error *err)
{
	static const char *const versions[] = { "", "JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2",
						"JAVA PROFILE 1.0.3" };
	static const char *const packings[] = { "none", "gzip", "zstd" };
	uint64_t fingerprint = 0;
	struct stat st;

	TRY(put_dump_path(im, dump_path, &st, err));
	TRY(base_fingerprint(im->source, &fingerprint, err));
	TRY(store_put_meta_text(im->writer, "dump.packing", packings[im->origin.packing], err));
	TRY(store_put_meta_text(im->writer, "dump.version", versions[im->file.version], err));
	/*
	 * Thread counts and times are not stored, because importing the same dump must always
	 * produce the same bytes.
	 */
	const struct import_number numbers[] = {
		{ "dump.bytes", im->source->size },
		{ "dump.mtime_ns",
		  (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec },
		{ "dump.fingerprint", fingerprint },
		{ "dump.file_bytes", im->origin.file_bytes },
		{ "dump.is_kept", im->origin.is_kept },
		{ "dump.id_size", im->file.id_size },
		{ "dump.version_number", im->file.version },
		{ "dump.first_record", im->file.first_record },
		{ "dump.timestamp_ms", im->file.timestamp_ms },
		{ "dump.snapshot",
		  im->origin.made_from ? im->origin.made_from : im->origin.snapshot },
		{ "dump.snapshot_count", snapshot_count(im) },
		{ "dump.is_android", im->origin.is_android },
		{ "dump.phd", im->origin.phd.version },
		{ "dump.is_redacted", !im->origin.redaction && import_zeroed_is_filled(im) ?
					      HPROF_IS_FILLED :
					      im->origin.redaction },
		{ "dump.is_emptied", im->file.is_emptied },
		{ "objects", im->object_count },
		{ "classes", im->classes.count },
		{ "references", im->links.reference_count },
		{ "references.dangling", im->damage.dangling_count },
		{ "roots", im->links.root_count },
		{ "problems", im->damage.problem_count },
		{ "class.java.lang.Class", im->known.class_no },
		{ "class.java.lang.ClassLoader", im->known.loader_no },
		{ "flat.values", im->flat.count },
		{ "zeroed.texts", import_zeroed_from(im) },
		{ "import.strict", im->opt->strict != 0 },
		{ "incomplete", im->damage.incomplete },
		{ "incomplete.missing_bytes", im->damage.missing_bytes },
		{ "incomplete.skipped_bytes", im->damage.skipped_bytes },
	};

	TRY(import_put_numbers(im, numbers, BASE_COUNT(numbers), err));
	if (im->damage.cut[0]) {
		TRY(store_put_meta_text(im->writer, "incomplete.cut", im->damage.cut, err));
	}
	if (im->origin.phd.version)
		TRY(store_put_meta_text(im->writer, "dump.phd_by", im->origin.phd.by, err));
	if (im->opt->layout) {
		TRY(store_put_meta_text(im->writer, "import.layout", im->opt->layout, err));
	}
	if (im->opt->mapping_path)
		TRY(import_put_mapping_meta(im, err));
	if (!im->records.has_control)
		return HDB_OK;
	TRY(store_put_meta_number(im->writer, "control.flags", im->records.control.flags, err));
	return store_put_meta_number(im->writer, "control.trace_depth",
				     im->records.control.trace_depth, err);
}

/*
 * Checks the number of the requested heap dump. The number of heap dumps in a file is known only
 * after the file has been read.
 */
static int check_snapshot(const struct import *im, struct hdb_error *err)
{
	if (im->origin.snapshot <= im->origin.snapshot_count)
		return HDB_OK;
	if (im->origin.snapshot_count == 0)
		return im->damage.problem_count == 0 ?
			       hdb_fail(err, HDB_EFORMAT, "%s: the file contains no heap dump",
					im->source->path) :
			       hdb_fail(err, HDB_EFORMAT, "%s: no heap dump could be read: %s",
					im->source->path,
					im->damage.problems.count ?
						base_vec_at(&im->damage.problems,
							    struct store_problem, 0)
							->message :
						"");
	return hdb_fail(err, HDB_EUSAGE, "%s: no heap dump number %u (heap dumps in the file: %u)",
			im->source->path, im->origin.snapshot, im->origin.snapshot_count);
}

/*
 * Parses the header. The messages of the parser do not contain the file name, so this function adds
 * the name.
 */
static int open_header(struct import *im, struct hdb_error *err)
{
	struct hdb_error why;
	int r = hprof_open(im->source, &im->file, &why);

	if (r < 0)
		return hdb_fail(err, r, "%s: %s", im->source->path, why.message);
	im->file.cancel = im->work->progress.cancel;
	if ((r = hprof_find_emptied(&im->file, err)) < 0 || !im->file.is_emptied)
		return r;
	im->damage.incomplete |= STORE_LACKS_ELEMENTS;
	return import_problem(
		im,
		&(struct import_trouble){ .kind = HPROF_PROBLEM_EMPTIED,
					  .offset = im->file.first_record },
		err,
		"the dump was stripped, as KOOM does: primitive arrays have lengths but no "
		"elements, and objects of the zygote and image heaps may be missing");
}

/*
 * Reports missing packets. For a dump converted from a heap graph (perfetto/write.c), records and
 * offsets mean nothing to the user, so the message gives the number of packets.
 */
static int lacks_packets(struct import *im, struct hdb_error *err)
{
	static const char what[] =
		"the trace lacks packets of the heap graph, such as the last packet (continued: "
		"false)";

	im->damage.incomplete |= STORE_LACKS_PACKETS;
	if (im->opt->strict)
		return hdb_fail(err, HDB_ETRUNC, "%s: %s", im->source->path, what);
	return import_problem(im, &(struct import_trouble){ .kind = STORE_PROBLEM_LOST_PACKETS },
			      err, "%s", what);
}

/*
 * Reports a missing HEAP DUMP END record. If the writer stopped between two records, there is no
 * other sign of damage.
 */
static int check_end(struct import *im, struct hdb_error *err)
{
	if (!im->records.counts[0][HPROF_HEAP_DUMP_SEGMENT].count ||
	    im->records.counts[0][HPROF_HEAP_DUMP_END].count)
		return HDB_OK;
	if (im->damage.incomplete & STORE_LACKS_END)
		return HDB_OK; /* reported already */
	for (size_t i = 0; i < im->damage.problems.count; i++)
		if (base_vec_at(&im->damage.problems, struct store_problem, i)->kind ==
		    HPROF_PROBLEM_TRUNCATED)
			return HDB_OK;
	if (im->origin.made_from)
		return lacks_packets(im, err);
	im->damage.incomplete |= STORE_LACKS_END;
	(void)snprintf(
		im->damage.cut, sizeof(im->damage.cut),
		"the HEAP DUMP END record is missing: the dump may be truncated at offset %" PRIu64,
		im->source->size);
	if (im->opt->strict)
		return hdb_fail(err, HDB_ETRUNC,
				"%s: the HEAP DUMP END record is missing: the file is truncated "
				"at offset %" PRIu64,
				im->source->path, im->source->size);
	return import_problem(im,
			      &(struct import_trouble){ .kind = HPROF_PROBLEM_TRUNCATED,
							.offset = im->source->size },
			      err,
			      "the HEAP DUMP END record is missing: the file may be truncated "
			      "at offset %" PRIu64,
			      im->source->size);
}

static int run(struct import *im, const char *dump_path, struct hdb_error *err)
{
	TRY(import_mapping_open(im, err));
	TRY(import_scan(im, err));
	TRY(check_snapshot(im, err));
	TRY(check_end(im, err));
	base_stage(im->work, "linking classes", 0, "");
	TRY(import_classes(im, err));
	TRY(import_number_roots(im, err));
	TRY(import_resolve(im, err));
	TRY(import_sizes(im, err));
	base_stage(im->work, "writing", 0, "");
	TRY(import_write_roots(im, err));
	TRY(import_write_classes(im, err));
	TRY(import_write_class_counts(im, err));
	TRY(import_write_tables(im, err));
	TRY(import_write_problems(im, err));
	TRY(store_texts_end(&im->texts.writer, err));
	TRY(put_dump_meta(im, dump_path, err));
	TRY(store_put_settle(im->writer, err));
	return im->source->check(im->source, err);
}

/*
 * Returns the number of objects in the dump, without the boot loader's placeholder and invented
 * classes.
 */
static uint64_t count_real(struct import *im)
{
	uint64_t invented = 1;

	for (uint32_t no = 0; no < im->classes.count; no++)
		invented += (import_class_at(im, no)->out.flags & STORE_CLASS_INVENTED) != 0;
	return im->object_count - invented;
}

/* Identity of the file with a given name. Both members are 0 if there is no such file. */
struct file_name {
	dev_t device;
	ino_t inode;
};

static struct file_name file_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (struct file_name){ st.st_dev, st.st_ino } :
				      (struct file_name){ 0, 0 };
}

/*
 * Creates the database. If another process is importing into a database of the same name and the
 * options request it, waits for that process. Returns HDB_END if the other process has finished,
 * which is recognised by a new file of this name.
 */
static int create(struct import *im, const char *db_path, struct hdb_error *err)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };
	const struct file_name before = file_of(db_path);
	struct file_name now;
	bool has_waited = false;
	int r;

	while ((r = store_create(db_path, im->opt->force != 0,
				 im->origin.is_kept ? KEPT_SIZE_HINT : im->source->size,
				 &im->writer, err)) == HDB_END) {
		if (!im->opt->wait)
			return hdb_fail(err, HDB_EIO,
					"%s: another import is writing this "
					"database",
					db_path);
		if (!has_waited)
			base_stage(im->work, "waiting for another process that is importing", 0,
				   "");
		has_waited = true;
		r = base_step(im->work, 0, err);
		TRY_ERRORS(r);
		(void)nanosleep(&pause, NULL);
	}
	if (r == HDB_OK && im->work->is_unsynced)
		store_unsynced(im->writer);
	if (!has_waited || (r < 0 && r != HDB_EEXIST))
		return r;
	now = file_of(db_path);
	return now.inode && (now.inode != before.inode || now.device != before.device) ? HDB_END :
											 r;
}

/* Opens the dump. A plain file is opened as im->source, anything else as *input. */
static int open_dump(struct import *im, const char *dump_path, struct base_input **input,
		     struct hdb_error *err)
{
	if (!*input)
		TRY(base_input_open(dump_path, im->work->progress.cancel, input, err));
	im->origin.packing = base_input_packing(*input);
	im->origin.is_pipe = !base_input_is_file(*input);
	im->origin.file_bytes = base_input_size(*input);
	im->origin.is_kept = im->opt->contents == HDB_CONTENTS_KEEP || im->origin.is_pipe ||
			     im->origin.packing != BASE_PLAIN;
	if (im->origin.is_kept && im->opt->contents == HDB_CONTENTS_REFER)
		return hdb_fail(err, HDB_EUSAGE,
				"%s: %s cannot be read at arbitrary offsets; use --contents keep "
				"to store the contents in the database",
				dump_path, im->origin.is_pipe ? "a pipe" : "compressed input");
	if (im->origin.is_kept)
		return HDB_OK;
	base_input_close(*input);
	*input = NULL;
	TRY(base_map_open(dump_path, BASE_SEQUENTIAL, &im->source, err));
	return open_header(im, err);
}

/* Copies the dump into the database if its contents are to be kept. */
static int keep_dump(struct import *im, struct base_input *input, struct hdb_error *err)
{
	if (!im->origin.is_kept)
		return HDB_OK;
	TRY(import_unpack(im, input, err));
	return open_header(im, err);
}

/*
 * If the disk is full, appends to the message the amount of space that importing this dump
 * requires.
 */
static void add_needed_space(const struct import *im, struct hdb_error *err)
{
	/* for compressed dumps, the database has about the size of the file */
	uint64_t bytes = im->origin.file_bytes;
	size_t used;

	if (!err || !im->writer || !store_is_full(im->writer))
		return;
	if (im->source)
		bytes = im->source->size / (im->origin.is_kept ? SPACE_PART_KEPT : SPACE_PART);
	used = strlen(err->message);
	if (bytes)
		(void)snprintf(err->message + used, sizeof(err->message) - used,
			       "; a database of this dump usually takes at most %" PRIu64 " MB",
			       bytes / 1000000 + 1);
}

/*
 * Opens the dump, creates the database and runs the passes, but does not publish. Returns HDB_END
 * like `create`. The caller must close *input even after a failure.
 */
static int make_database(struct import *im, struct import_paths paths, struct base_input **input,
			 struct hdb_error *err)
{
	TRY(open_dump(im, paths.dump, input, err));
	TRY(create(im, paths.database, err));
	im->texts.writer.writer = im->writer;
	TRY(keep_dump(im, *input, err));
	return run(im, paths.dump, err);
}

int import_dump(struct import_paths paths, const struct hdb_import_options *opt,
		struct base_work *work, struct hdb_import_result *out, struct hdb_error *err)
{
	struct import *im = calloc(1, sizeof(*im));
	struct store_writer *writer;
	struct base_input *input = paths.input;
	char *folder = strdup(paths.database);
	uint64_t file_bytes = 0;
	int r;

	if (!im || !folder) {
		base_input_close(input);
		free(im);
		free(folder);
		return hdb_fail_memory(err, "an import", sizeof(*im));
	}
	im->opt = opt;
	im->work = work;
	hold_tables(im, work);
	im->origin.snapshot = opt->snapshot ? opt->snapshot : 1;
	work->scratch_dir = dirname(folder);
	import_idset_init(&im->ids);
	im->origin.made_from = paths.snapshot;
	im->origin.made_from_count = paths.snapshot_count;
	r = make_database(im, paths, &input, err);
	if (r < 0)
		add_needed_space(im, err);
	/*
	 * Unreadable pages of the dump are replaced with zeros. A pass that fails because of these
	 * zeros would report the wrong cause, so read errors are reported first.
	 */
	if (r < 0 && r != HDB_EINTR && im->source && im->source->check(im->source, err) < 0)
		r = HDB_EIO;
	if (r != HDB_OK)
		goto out;
	writer = im->writer;
	im->writer = NULL; /* store_publish frees the writer even after a failure */
	base_stage(work, "syncing", 0, "");
	drop_dump(im);
	if ((r = store_publish(writer, &file_bytes, err)) != HDB_OK)
		goto out;
	if (out)
		*out = (struct hdb_import_result){
			.object_count = count_real(im),
			.class_count = im->classes.count,
			.reference_count = im->links.reference_count,
			.root_count = im->links.root_count,
			.problem_count = im->damage.problem_count,
			.dump_bytes = im->source->size,
			.database_bytes = file_bytes,
			.snapshot_count = snapshot_count(im),
		};
out:
	base_input_close(input);
	release(im);
	work->scratch_dir = NULL;
	free(folder);
	free(im);
	return r;
}
