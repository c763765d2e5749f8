/*
 * api/api_trace.c - imports and converts heap graphs from Perfetto traces and portable heap dumps.
 * Both are first converted to HPROF. For an import, a thread writes the HPROF dump to a pipe; the
 * import reads the other end, and stores the dump in the database.
 */
#include "api/handle.h"
#include "api/trace.h"

#include "base/outfile.h"
#include "base/try.h"
#include "rewrite/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int api_trace_open(struct api_trace *trace, struct base_input *input, struct phd_files files,
		   struct base_work *work, struct hdb_error *err)
{
	int r = phd_open(input, files, work, &trace->phd, err);

	if (r == HDB_NOTFOUND && base_input_is_file(input))
		r = perfetto_open(base_input_name(input), work, &trace->perfetto, err);
	if ((r == HDB_OK ? !trace->phd : r == HDB_NOTFOUND) && files.javacore)
		return hdb_fail(err, HDB_EUSAGE,
				"%s: not a portable heap dump; only a portable heap dump can "
				"have a javacore",
				files.dump);
	return r;
}

void api_trace_close(struct api_trace *trace)
{
	perfetto_close(trace->perfetto);
	phd_close(trace->phd);
}

static int write_trace(const struct api_trace *trace, unsigned graph_no,
		       const struct hprof_sink *sink, struct hprof_written *result,
		       struct hdb_error *err)
{
	if (trace->perfetto)
		return perfetto_write(trace->perfetto, graph_no, sink, result, err);
	if (graph_no != 1)
		return hdb_fail(err, HDB_EUSAGE,
				"a portable heap dump contains only one heap "
				"dump");
	return phd_write(trace->phd, sink, result, err);
}

/* State of the thread that writes the dump. */
struct feed {
	const struct api_trace *trace;
	unsigned graph_no;
	int write_fd;
	bool is_closed; /* whether the reader has closed the pipe */
	struct hprof_written result;
	int rc;
	struct hdb_error err;
};

static int put_pipe(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	struct feed *feed = ctx;

	if (base_write_all(feed->write_fd, data, size))
		return HDB_OK;
	feed->is_closed = errno == EPIPE;
	return hdb_fail_errno(err, errno, "a pipe");
}

static void *write_dump(void *ctx)
{
	struct feed *feed = ctx;
	const struct hprof_sink sink = { put_pipe, feed };
	sigset_t pipe_signal;

	/*
	 * If the import fails, it closes the pipe. With SIGPIPE blocked, write() then fails instead
	 * of killing the process.
	 */
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
	feed->rc = write_trace(feed->trace, feed->graph_no, &sink, &feed->result, &feed->err);
	close(feed->write_fd);
	return NULL;
}

/* Imports one graph, with a separate thread that writes its dump. */
static int import_graph(const struct api_trace *trace, struct import_paths paths,
			const struct hdb_import_options *opt, struct hdb_import_result *out,
			struct hdb_error *err)
{
	struct hdb_import_options options = *opt;
	struct feed feed = { .trace = trace, .graph_no = opt->snapshot ? opt->snapshot : 1 };
	struct base_work work;
	pthread_t thread;
	char path[32];
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return hdb_fail_errno(err, errno, "a pipe");
	feed.write_fd = ends[1];
	rc = pthread_create(&thread, NULL, write_dump, &feed);
	if (rc != 0) {
		close(ends[0]);
		close(ends[1]);
		return hdb_fail_errno(err, rc, "a thread");
	}
	api_import_work(&work, opt, opt->memory_bytes / 2);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	options.snapshot = 0;
	options.contents = HDB_CONTENTS_KEEP;
	options.dump_name = opt->dump_name ? opt->dump_name : paths.dump;
	rc = import_dump(
		(struct import_paths){
			.dump = path,
			.database = paths.database,
			.snapshot = trace->perfetto ? feed.graph_no : 0,
			.snapshot_count =
				trace->perfetto ? perfetto_graph_count(trace->perfetto) : 0 },
		&options, &work, out, err);
	base_work_release(&work);
	close(ends[0]);
	(void)pthread_join(thread, NULL);
	if (feed.rc >= 0 || feed.is_closed)
		return rc;
	/* The import has read only part of the dump, so its database is wrong. */
	if (rc == HDB_OK)
		(void)unlink(paths.database);
	if (err)
		*err = feed.err;
	return feed.rc;
}

int api_import_trace(struct import_paths paths, const struct hdb_import_options *opt,
		     struct hdb_import_result *out, struct hdb_error *err)
{
	/* The writer reports no progress, because the import on the calling thread does. */
	const struct hdb_progress quiet = { .cancel = opt->progress.cancel };
	const struct phd_files files = { opt->dump_name ? opt->dump_name : paths.dump,
					 opt->javacore_path };
	char *folder = strdup(paths.database);
	struct api_trace trace = { 0 };
	struct base_work work;
	int r;

	if (!folder)
		return hdb_fail_memory(err, "a file name", strlen(paths.database));
	base_work_init(&work, opt->memory_bytes / 2, 1, &quiet);
	work.scratch_dir = dirname(folder);
	if ((r = api_trace_open(&trace, paths.input, files, &work, err)) == HDB_OK)
		r = import_graph(&trace, paths, opt, out, err);
	api_trace_close(&trace);
	base_work_release(&work);
	free(folder);
	return r;
}

static int put_file(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	return base_outfile_write(ctx, data, size, err);
}

int api_convert_trace(const struct api_trace *trace, const char *out_path,
		      const struct hdb_convert_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err)
{
	struct base_outfile_options options = { .force = opt->output->force != 0 };
	struct hprof_written result = { 0 };
	struct hprof_sink sink = { put_file, NULL };
	struct base_outfile *file;
	uint64_t file_bytes;
	int rc;

	if (opt->app_only || opt->segments || opt->id_size)
		return hdb_fail(
			err, HDB_EUSAGE,
			"these options require an HPROF dump; convert this file first, then apply "
			"the options to the result");
	options.packing = rewrite_packing(opt->output, out_path);
	TRY_ERRORS(base_outfile_create(out_path, &options, &file, err));
	sink.ctx = file;
	rc = write_trace(trace, opt->snapshot ? opt->snapshot : 1, &sink, &result, err);
	if (rc != HDB_OK) {
		base_outfile_abort(file);
		return rc;
	}
	TRY(base_outfile_finish(file, &file_bytes, err));
	if (out)
		*out = (struct hdb_output_result){
			.dump_bytes = trace->perfetto ? perfetto_bytes(trace->perfetto) :
							phd_bytes(trace->phd),
			.file_bytes = file_bytes,
			.object_count = result.object_count,
			.problem_count = result.problem_count,
		};
	return HDB_OK;
}
