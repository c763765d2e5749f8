/*
 * perfetto/perfetto.h - Java heap graphs in Perfetto traces (data source android.java_hprof), as
 * HPROF dumps of Android.
 *
 * A graph has what a dump has but for values: objects, classes, references by field, roots, sizes.
 * Arrays and strings have lengths without contents. Sources: protos/third_party/android/art/
 * heap_graph.proto of Perfetto, perfetto_hprof.cc and hprof.cc of ART.
 */
#ifndef PERFETTO_PERFETTO_H
#define PERFETTO_PERFETTO_H

#include "base/work.h"
#include "hprof/dump_writer.h"

struct perfetto;

/*
 * Opens a trace. HDB_NOTFOUND if the file is none, or no regular file; HDB_EFORMAT if it is one
 * without a heap graph. *out is owned: perfetto_close. `path` and `work` are lent until then.
 */
int perfetto_open(const char *path, struct base_work *work, struct perfetto **out,
		  struct hdb_error *err);
void perfetto_close(struct perfetto *trace);

/* How many graphs there are: of each process at each time, in the order in which they begin. */
unsigned perfetto_graph_count(const struct perfetto *trace);

/* Bytes of the trace. */
uint64_t perfetto_bytes(const struct perfetto *trace);

/*
 * Writes graph number `graph_no`, from 1, as a dump. Memory: some 40 bytes an object. HDB_EUSAGE
 * if there is no such graph; HDB_ELIMIT if it is larger than any real one of that many bytes can
 * be.
 */
int perfetto_write(struct perfetto *trace, unsigned graph_no, const struct hprof_sink *sink,
		   struct hprof_written *result, struct hdb_error *err);

#endif
