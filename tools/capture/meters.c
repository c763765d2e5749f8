/*
 * capture/meters.c - measures a running VM once: heap, garbage collection, memory of the process
 * and its limit. Reads hsperfdata and /proc, so it neither pauses the VM nor attaches to it.
 */
#include "capture/cgroup.h"
#include "capture/vms.h"
#include "common/smaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE 8192
#define KIB 1024
/* Position of the start time in /proc/PID/stat, after the name in parentheses. */
#define STAT_START 20

/*
 * Returns the number after "NAME:" at the start of a line, in bytes, or 0 if no line begins with
 * NAME.
 */
static uint64_t line_of(const char *text, const char *name)
{
	const size_t size = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ':')
			return strtoull(line + size + 1, NULL, 10);
	}
	return 0;
}

/*
 * Reads the memory of the process. smaps_rollup is exact but accessible only to the owner; status
 * is readable by everyone.
 */
static void measure_memory(const struct process *p, struct capture_meters *out)
{
	struct smaps_mapping all;
	struct smaps rollup;
	char text[TEXT_SIZE];
	long size;

	if (capture_read_file(p->proc_fd, "status", text, sizeof(text)) > 0) {
		out->rss = line_of(text, "VmRSS") * KIB;
		out->anonymous = line_of(text, "RssAnon") * KIB;
		out->swap = line_of(text, "VmSwap") * KIB;
		out->threads = line_of(text, "Threads");
	}
	size = capture_read_file(p->proc_fd, "smaps_rollup", text, sizeof(text));
	rollup = (struct smaps){ text, text + (size > 0 ? size : 0) };
	if (smaps_next(&rollup, &all)) {
		out->rss = all.figures[SMAPS_RSS];
		out->anonymous = all.figures[SMAPS_ANONYMOUS];
		out->swap = all.figures[SMAPS_SWAP];
	}
}

/*
 * Reads the start of the process, in clock ticks since boot, and its age. Changes of the clock do
 * not affect the age.
 */
static void measure_age(const struct process *p, struct capture_meters *out)
{
	const uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;
	char text[TEXT_SIZE];
	const char *at;
	uint64_t now_ms;

	if (capture_read_file(p->proc_fd, "stat", text, sizeof(text)) <= 0 ||
	    !(at = strrchr(text, ')')))
		return;
	for (int i = 0; at && i < STAT_START; i++)
		at = strchr(at + 1, ' ');
	if (!at || clock_gettime(CLOCK_BOOTTIME, &now) < 0 || !per_second)
		return;
	out->start_ticks = strtoull(at, NULL, 10);
	now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	out->age_ms = out->start_ticks * 1000 / per_second;
	out->age_ms = now_ms > out->age_ms ? now_ms - out->age_ms : 0;
}

static void measure_heap(const struct process *p, struct capture_meters *out)
{
	struct perfdata_summary counters;

	out->has_counters = capture_counters(p, &counters);
	capture_main_class(p, counters.command, out->main_class, sizeof(out->main_class));
	snprintf(out->version, sizeof(out->version), "%s", counters.version);
	snprintf(out->vm_args, sizeof(out->vm_args), "%s", counters.vm_args);
	out->cannot_attach = counters.cannot_attach;
	out->has_heap = counters.has_heap;
	out->heap_used = counters.heap_used;
	out->heap_committed = counters.heap_committed;
	out->heap_max = counters.heap_max;
	out->gc_us = counters.gc_us;
	out->gc_count = counters.gc_count;
	out->metaspace = counters.metaspace_used;
	if (counters.classes_loaded > counters.classes_unloaded)
		out->classes = counters.classes_loaded - counters.classes_unloaded;
}

int capture_measure(int pid, struct capture_meters *out, struct hdb_error *err)
{
	BASE_SCOPED(process_close) struct process process;
	struct cgroup_memory group;
	const int failure = process_open(pid, &process);
	int has;

	memset(out, 0, sizeof(*out));
	out->pid = pid;
	if (failure || process.state == 'Z' || process.state == 'X')
		return hdb_fail(err, HDB_EABSENT, "no such process: %d", pid);
	measure_heap(&process, out);
	/*
	 * the list of mappings is long, so it is read only if hsperfdata does not give the answer
	 */
	has = out->has_counters ? 1 : process_has_hotspot(&process);
	if (has < 0)
		return hdb_fail(err, HDB_EIO, "no permission to inspect process %d", pid);
	if (has == 0)
		return hdb_fail(err, HDB_EFORMAT,
				"process %d is not a HotSpot VM: it has not loaded libjvm.so", pid);
	out->inner_pid = (int)process.inner_pid;
	measure_age(&process, out);
	measure_memory(&process, out);
	(void)cgroup_memory_of(&process, &group);
	out->has_limit = group.has_limit;
	out->limit = group.limit;
	out->limit_usage = group.usage;
	out->oom_kills = group.oom_kills;
	/* if the process has ended in the meantime, its figures are meaningless */
	return process_is_gone(&process) ? hdb_fail(err, HDB_EABSENT, "process %d ended", pid) :
					   HDB_OK;
}
