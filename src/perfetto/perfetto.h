/*
 * perfetto/perfetto.h - converts Java heap graphs in Perfetto traces (data source
 * android.java_hprof) to HPROF dumps as Android writes them.
 *
 * A graph has objects, classes, references by field, roots and sizes, but no values; arrays and
 * strings have lengths without contents. Sources: protos/third_party/android/art/heap_graph.proto
 * of Perfetto, perfetto_hprof.cc and hprof.cc of ART.
 */
#ifndef PERFETTO_PERFETTO_H
#define PERFETTO_PERFETTO_H

#include "base/work.h"
#include "hprof/dump_writer.h"

struct perfetto;

/*
 * Opens a trace. Returns HDB_NOTFOUND if the file is not a trace or not a regular file, and
 * HDB_EFORMAT if the trace contains no heap graph. The caller must close *out with perfetto_close.
 * `path` and `work` must stay valid until then.
 */
int perfetto_open(const char *path, struct base_work *work, struct perfetto **out,
		  struct hdb_error *err);
void perfetto_close(struct perfetto *trace);

/*
 * Returns the number of graphs. Each graph describes one process at one time. Graphs are numbered
 * in the order in which they begin.
 */
unsigned perfetto_graph_count(const struct perfetto *trace);

/* Returns the size of the trace file. */
uint64_t perfetto_bytes(const struct perfetto *trace);

/*
 * Writes graph number `graph_no`, starting at 1, as a dump. Memory: about 40 bytes per object.
 * Fails with HDB_EUSAGE if there is no such graph, and with HDB_ELIMIT if the dump would be far
 * larger than the dump of any real graph in a trace of this size.
 */
int perfetto_write(struct perfetto *trace, unsigned graph_no, const struct hprof_sink *sink,
		   struct hprof_written *result, struct hdb_error *err);

#endif
