/* perfetto/trace.c - opens a trace and finds the packets of its heap graphs. */
#include "perfetto/perfetto_private.h"

#include "base/try.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Field numbers of HeapGraph. */
enum { GRAPH_PID = 1, GRAPH_CONTINUED = 5, GRAPH_INDEX = 6 };

/* Number of packets between two checks of the cancel flag. */
#define STEP_PACKETS 1024u

/* Finds the graph that this packet continues, or starts a new one. */
static int graph_of(struct perfetto *t, const struct perfetto_graph *packet, uint32_t *out,
		    struct hdb_error *err)
{
	struct perfetto_graph *graph;
	uint32_t no = base_idmap_get(&t->open_graphs, packet->sequence_id);

	if (no != BASE_IDMAP_NONE) {
		assert(no < t->graphs.count);
		graph = base_vec_at(&t->graphs, struct perfetto_graph, no);
		if (graph->is_open && graph->pid == packet->pid &&
		    (!packet->timestamp || graph->timestamp == packet->timestamp)) {
			*out = no;
			return HDB_OK;
		}
		/* The previous graph never ended, so its last packets are missing. */
		graph->missing_count += graph->is_open;
	}
	no = (uint32_t)t->graphs.count;
	TRY(base_vec_push(&t->graphs,
			  &(struct perfetto_graph){ .sequence_id = packet->sequence_id,
						    .timestamp = packet->timestamp,
						    .pid = packet->pid },
			  sizeof(*graph), err));
	*out = no;
	return base_idmap_put(&t->open_graphs, packet->sequence_id, no, err);
}

static int take_graph(struct perfetto *t, struct proto message, struct perfetto_graph packet,
		      struct hdb_error *err)
{
	struct perfetto_packet taken = { .graph = message };
	struct perfetto_graph *graph;

	packet.pid = (int64_t)proto_last(message, GRAPH_PID).value;
	packet.next_index = proto_last(message, GRAPH_INDEX).value;
	TRY(graph_of(t, &packet, &taken.graph_no, err));
	assert(taken.graph_no < t->graphs.count);
	graph = base_vec_at(&t->graphs, struct perfetto_graph, taken.graph_no);
	graph->missing_count += packet.next_index != graph->next_index;
	graph->missing_count += !packets_is_message(message);
	graph->next_index = packet.next_index + 1;
	graph->is_open = proto_last(message, GRAPH_CONTINUED).value != 0;
	return base_vec_push(&t->packets, &taken, sizeof(taken), err);
}

static int take_packet(struct perfetto *t, struct proto packet, struct hdb_error *err)
{
	const struct perfetto_graph graph = {
		.timestamp = proto_last(packet, PACKET_TIMESTAMP).value,
		.sequence_id = proto_last(packet, PACKET_SEQUENCE_ID).value,
	};
	const struct proto message = proto_last(packet, PACKET_HEAP_GRAPH).bytes;
	const struct proto mapping = proto_last(packet, PACKET_CLEAR_NAMES).bytes;

	if (!t->clock_offset_ns)
		t->clock_offset_ns =
			packets_clock_offset(proto_last(packet, PACKET_CLOCKS).bytes, CLOCKS_BOOT);
	TRY(clear_take(&t->names, mapping, MAPPING_FIELD, err));
	return message.at ? take_graph(t, message, graph, err) : HDB_OK;
}

static int read_packets(struct perfetto *t, struct proto trace, struct hdb_error *err)
{
	const uint8_t *start = trace.at;
	struct proto_field field;

	base_stage(t->work, "reading the trace", proto_size(&trace), "bytes");
	for (uint64_t count = 0; proto_next(&trace, &field); count++) {
		if (count % STEP_PACKETS == 0)
			TRY(base_step(t->work, (uint64_t)(trace.at - start), err));
		if (field.no == TRACE_PACKET && field.wire == PROTO_BYTES)
			TRY(take_packet(t, field.bytes, err));
	}
	for (size_t i = 0; i < t->graphs.count; i++) {
		struct perfetto_graph *graph = base_vec_at(&t->graphs, struct perfetto_graph, i);

		graph->missing_count += graph->is_open;
	}
	clear_sort(&t->names);
	if (t->graphs.count)
		return base_source_failed(t->source, err);
	return hdb_fail(
		err, HDB_EFORMAT,
		"%s: the trace contains no Java heap graph; to record one, use the data source "
		"android.java_hprof (for native heaps, use `heapdb allocations`)",
		t->source->path);
}

BASE_CLOSER(close_at, struct perfetto, perfetto_close)

int perfetto_open(const char *path, struct base_work *work, struct perfetto **out,
		  struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct perfetto *t = NULL;
	struct proto trace = { 0 };
	struct stat st;
	int r;

	*out = NULL;
	if (stat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR ? HDB_NOTFOUND :
							     hdb_fail_errno(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return HDB_NOTFOUND;
	TRY(BASE_ALLOC(t, 1, "a trace", err));
	t->work = t->graphs.work = t->packets.work = t->open_graphs.work = work;
	TRY(base_map_open(path, BASE_SEQUENTIAL, &t->source, err));
	t->view.src = t->source;
	trace.at = base_view_at(&t->view, 0, t->source->size, err);
	if (!trace.at)
		return HDB_EIO;
	trace.end = trace.at + t->source->size;
	r = packets_open(&trace, &t->copy);
	if (r < 0)
		return hdb_fail(err, r, "%s: %s", path, packets_problem(r));
	TRY(r);
	TRY(read_packets(t, trace, err));
	*out = t;
	t = NULL;
	return HDB_OK;
}

void perfetto_close(struct perfetto *t)
{
	if (!t)
		return;
	base_vec_release(&t->graphs);
	base_vec_release(&t->packets);
	base_idmap_release(&t->open_graphs);
	base_view_release(&t->view);
	base_source_close(t->source);
	base_vec_release(&t->names);
	base_vec_release(&t->copy);
	free(t);
}

unsigned perfetto_graph_count(const struct perfetto *t)
{
	return (unsigned)t->graphs.count;
}

uint64_t perfetto_bytes(const struct perfetto *t)
{
	return t->source->size;
}
