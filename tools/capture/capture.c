/*
 * capture/capture.c - functions common to captures of VMs and apps.
 */
#include "capture/capture_private.h"

#include <stdio.h>
#include <unistd.h>

#ifndef __linux__
static const char no_vms[] =
	"capture finds Java VMs through Linux's /proc; on this system, use jcmd PID "
	"GC.heap_dump FILE";

int capture_list(struct capture_vm **vms, size_t *count, size_t *hidden, struct hdb_error *err)
{
	*vms = NULL;
	*count = *hidden = 0;
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

int capture_measure(int pid, struct capture_meters *out, struct hdb_error *err)
{
	*out = (struct capture_meters){ .pid = pid };
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

int capture_vm_start(int pid, const struct capture_options *options, struct capture **out,
		     struct hdb_error *err)
{
	(void)pid;
	(void)options;
	*out = NULL;
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

int capture_vm_ask(int pid, enum capture_question question, const struct capture_options *options,
		   struct capture_text *out, struct hdb_error *err)
{
	(void)pid;
	(void)question;
	(void)options;
	*out = (struct capture_text){ .text = NULL };
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

int capture_memory_open(int pid, struct capture_memory **out, struct hdb_error *err)
{
	(void)pid;
	*out = NULL;
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

void capture_memory_close(struct capture_memory *memory)
{
	(void)memory;
}

int capture_memory_smaps(struct capture_memory *memory, size_t size_max, struct bytes *text,
			 struct hdb_error *err)
{
	(void)memory;
	(void)size_max;
	(void)text;
	return hdb_fail(err, HDB_EUSAGE, "%s", no_vms);
}

bool capture_memory_pages(void *ctx, uint64_t start, uint64_t end, uint64_t *bytes)
{
	(void)ctx;
	(void)start;
	(void)end;
	(void)bytes;
	return false;
}

size_t capture_memory_read(void *ctx, uint64_t at, void *out, size_t size)
{
	(void)ctx;
	(void)at;
	(void)out;
	(void)size;
	return 0;
}
#endif

int capture_end(struct capture *c, struct capture_cost *cost, struct hdb_error *err)
{
	const int rc = stream_end(&c->stream, err);

	if (cost) {
		*cost = c->cost;
		cost->bytes = c->stream.bytes;
	}
	c->release(c);
	return rc;
}

int capture_import(struct capture *capture, const char *db_path, struct hdb_import_options *options,
		   struct captured *out, struct hdb_error *err)
{
	struct hdb_error why = { 0 };
	char path[32];
	int rc, dumped;

	*out = (struct captured){ .result.struct_size = sizeof(out->result) };
	options->dump_name = capture->name;
	options->progress.cancel = &capture->stream.stop;
	snprintf(path, sizeof(path), "/dev/fd/%d", capture->stream.read_fd);
	rc = hdb_import(path, db_path, options, &out->result, err);
	dumped = capture_end(capture, &out->cost, &why);
	if (dumped >= 0)
		return rc;
	/*
	 * the import checks the flag at every step; this check handles a failure after the last
	 * step
	 */
	if (rc == HDB_OK)
		(void)unlink(db_path);
	*err = why;
	return dumped;
}
