/*
 * capture/heap_info.c - reads the size of a VM's heap with jcmd's GC.heap_info, for VMs without
 * hsperfdata. Each collector uses different words. The VM is not paused.
 */
#include "base/scope.h"
#include "capture/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Converts a size with a unit such as K to bytes. */
static uint64_t size_of(unsigned long long number, char unit)
{
	return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

/* Parses a line about the whole heap of ZGC or Shenandoah. */
static bool read_whole(const char *line, struct capture_meters *out)
{
	unsigned long long used, committed, max;
	char unit[3];

	if (sscanf(line, " ZHeap used %12llu%c, capacity %12llu%c, max capacity %12llu%c", &used,
		   &unit[0], &committed, &unit[1], &max, &unit[2]) != 6 &&
	    sscanf(line, " %12llu%c max, %*12u%*c soft max, %12llu%c committed, %12llu%c used",
		   &max, &unit[2], &committed, &unit[1], &used, &unit[0]) != 6)
		return false;
	out->heap_used = size_of(used, unit[0]);
	out->heap_committed = size_of(committed, unit[1]);
	out->heap_max = size_of(max, unit[2]);
	return true;
}

/*
 * Parses a line about a generation of Serial or Parallel, or about the heap of G1, with the
 * addresses that it may occupy.
 */
static bool read_part(const char *line, struct capture_meters *out)
{
	unsigned long long used, committed, low, high, highest;
	const char *total = strstr(line, " total ");
	int fields;

	if (!total || total > line + strcspn(line, "\n"))
		return false;
	fields =
		sscanf(total, " total reserved %*12uK, committed %12lluK, used %12lluK [%llx, %llx",
		       &committed, &used, &low, &high);
	if (fields != 4)
		fields = sscanf(total, " total %12lluK, used %12lluK [%llx, %llx, %llx", &committed,
				&used, &low, &high, &highest);
	if (fields < 4)
		return false;
	high = fields == 5 ? highest : high;
	out->heap_used += size_of(used, 'K');
	out->heap_committed += size_of(committed, 'K');
	out->heap_max += high > low ? high - low : 0;
	return true;
}

bool capture_parse_heap_info(const char *text, struct capture_meters *out)
{
	out->has_heap = false;
	out->heap_used = out->heap_committed = out->heap_max = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (read_whole(line, out) || read_part(line, out))
			out->has_heap = true;
	}
	return out->has_heap;
}

int capture_heap_info(const struct capture_options *options, struct capture_meters *out,
		      struct hdb_error *err)
{
	struct capture_text answer;
	bool is_known;

	TRY(capture_vm_ask(out->pid, CAPTURE_HEAP_INFO, options, &answer, err));
	is_known = capture_parse_heap_info(answer.text, out);
	free(answer.text);
	return is_known ? HDB_OK :
			  hdb_fail(err, HDB_EFORMAT, "GC.heap_info of process %d: unknown format",
				   out->pid);
}
