/*
 * androidfiles/heapprofd.c - reads native heap allocations in Perfetto traces (data source
 * android.heapprofd): the bytes and counts allocated and freed by each call stack since profiling
 * began, for several processes, heaps and dumps.
 *
 * Dumps refer to strings, mappings, frames and call stacks by number. The numbers are those of the
 * packet sequence since its last reset, or on Android 10 those of the dump's own packets. Sums are
 * cumulative: a call stack missing from a later dump keeps its sums, and one that reappears under
 * another number starts at zero.
 *
 * Sources: protos/perfetto/trace/profiling in Perfetto, and profile_packet_sequence_state.cc of its
 * trace processor.
 */
#include "androidfiles/androidfiles.h"

#include "base/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 512
/* Maximum number of frames in a stack. */
#define FRAMES_MAX 2048u
/*
 * Maximum size of a message to which other messages refer. The limit bounds the cost of repeated
 * references.
 */
#define MESSAGE_MAX 16384u
/* Maximum bytes or count of a stack, so that the sum over a whole tree stays below 2^63. */
#define FIGURE_MAX (UINT64_C(1) << 40)

/* Maximum number of keys; each takes about 120 bytes. */
#define KNOWN_MAX 4000000u

/* Kinds of keys. The first kinds are numbered as in a packet sequence. */
enum { STRING = 1, FUNCTION, PATH, MAPPING, FRAME, STACK, SEQUENCE, PROCESS, SYMBOL, HEAP };
enum { DUMP = HEAP + 1, SAMPLE, STACK_NODE };

/* Kinds, indexed by field number, in interned data and in a dump's own tables. */
static const uint8_t interned_kinds[] = {
	[5] = FUNCTION, [6] = FRAME, [7] = STACK, [17] = PATH, [19] = MAPPING
};
static const uint8_t own_kinds[] = { [1] = STRING, [2] = FRAME, [3] = STACK, [4] = MAPPING };

enum { PROFILE_FRAMES = 2, PROFILE_DUMPS = 5, PROFILE_CONTINUED = 6, PROFILE_INDEX = 7 };
enum { DUMP_PID = 1, DUMP_SAMPLES = 2, DUMP_TIMESTAMP = 9, DUMP_HEAP = 11, DUMP_INTERVAL = 12 };
enum { SAMPLE_STACK = 1, SAMPLE_BYTES = 2, SAMPLE_FREED_BYTES = 3 };
enum { SAMPLE_COUNT = 5, SAMPLE_FREED_COUNT = 6, SAMPLE_MAX = 8, SAMPLE_MAX_COUNT = 9 };

struct android_sequence {
	uint64_t next_index;
	uint32_t generation; /* number of resets of the sequence */
	uint32_t last_dump;
	/* whether packets are missing, and whether the last packet has a continuation */
	bool is_missing, is_open;
	bool has_own; /* whether the dump has its own tables */
};

/* State of one pass over the trace: first to list the dumps, later to sum allocations. */
struct reader {
	struct android_native *native;
	uint64_t sequence_id; /* sequence of the current packet */
	struct android_sequence *sequence;
	struct call_tree *tree; /* NULL means list the dumps only */
	uint32_t last_dump;     /* 0 means all dumps */
	struct hdb_error *err;
};

/* ---- messages ---- */

/* Numeric fields of a dump or sample, by field number. The last occurrence of a field is used. */
struct numbers {
	uint64_t of[16];
};

static struct numbers numbers_in(struct proto message)
{
	struct numbers n = { 0 };
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.no < BASE_COUNT(n.of))
			n.of[field.no] = field.value;
	return n;
}

/* Returns the next field with this number and wire type. */
static bool next_field(struct proto *message, uint32_t no, enum proto_wire wire,
		       struct proto_field *out)
{
	while (proto_next(message, out))
		if (out->no == no && out->wire == wire)
			return true;
	return false;
}

/* ---- known keys ---- */

/* Value of a key. The kind determines which member is used. */
struct known {
	uint64_t key[3]; /* kind, scope of the number, number */
	uint32_t no;     /* number of a sequence, dump, node or text, or of a heap's last dump */
	union {
		struct proto message;
		struct call_node had; /* previous sums of a sample */
	};
};

static int know(struct reader *r, uint64_t kind, uint64_t of, uint64_t number, struct known **out)
{
	struct android_native *native = r->native;
	const struct known new = { .key = { kind, of, number } };
	const uint64_t seed = base_hash_seed();
	uint64_t hash = base_hash(base_hash(base_hash(number, seed) ^ of, seed) ^ kind, seed);
	uint32_t no;

	/* entries with the same hash form a chain */
	while ((no = base_idmap_get(&native->known_map, hash)) != BASE_IDMAP_NONE) {
		*out = base_vec_at(&native->known, struct known,
				   no); /* valid until the next insertion */
		if (memcmp((*out)->key, new.key, sizeof(new.key)) == 0)
			return HDB_OK;
		hash = base_hash(hash + 1, seed);
	}
	no = (uint32_t)native->known.count;
	if (no == KNOWN_MAX)
		return hdb_fail(r->err, HDB_ELIMIT, "too many stack frames (limit %u)", KNOWN_MAX);
	TRY(base_vec_push(&native->known, &new, sizeof(new), r->err));
	*out = base_vec_at(&native->known, struct known, no);
	return base_idmap_put(&native->known_map, hash, no, r->err);
}

/* Returns the scope of interned numbers: the packet sequence and its current generation. */
static uint64_t numbers_of(const struct reader *r)
{
	return r->sequence_id << 32 | r->sequence->generation;
}

/* Looks up an interned string. */
static int string_of(struct reader *r, unsigned kind, uint64_t number, struct proto *out)
{
	struct known *node;

	TRY(know(r, kind, numbers_of(r), number, &node));
	if (!proto_size(&node->message))
		TRY(know(r, STRING, numbers_of(r), number, &node));
	*out = proto_last(node->message, 2).bytes;
	return HDB_OK;
}

/*
 * Stores submessages by the number in their first field. The first definition of a number is used.
 */
static int take_parts(struct reader *r, struct proto message, uint32_t field_no, uint64_t kind,
		      uint64_t of)
{
	struct proto_field part;
	struct known *node;

	while (next_field(&message, field_no, PROTO_BYTES, &part)) {
		TRY(know(r, kind, of, proto_last(part.bytes, 1).value, &node));
		if (proto_size(&node->message))
			continue;
		node->message = part.bytes;
		if (proto_size(&part.bytes) > MESSAGE_MAX)
			node->message.end = part.bytes.at + MESSAGE_MAX;
	}
	return HDB_OK;
}

/* Stores all numbered submessages of a message; `kinds` gives the kind of each field. */
static int take_numbered(struct reader *r, struct proto message, const uint8_t *kinds, size_t count)
{
	for (uint32_t no = 0; no < count; no++)
		if (kinds[no])
			TRY(take_parts(r, message, no, kinds[no], numbers_of(r)));
	return HDB_OK;
}

static void append(char *text, struct proto more)
{
	const size_t have = strlen(text), room = NAME_BYTES - 1 - have;
	const size_t size = proto_size(&more) < room ? proto_size(&more) : room;

	for (size_t i = 0; i < size; i++) /* a zero byte would end the string */
		text[have + i] = more.at[i] > '\n' ? (char)more.at[i] : '?';
	text[have + size] = '\0';
}

static struct proto text_of(const char *text)
{
	return (struct proto){ (const uint8_t *)text, (const uint8_t *)text + strlen(text), false };
}

/* Sets *out to the number of a string; numbers begin with 1. */
static int number_of(struct reader *r, const char *text, uint32_t *out)
{
	const struct base_name name = { .text = text, .size = strlen(text) };

	TRY(base_names_add(&r->native->texts, &name, false, out, r->err));
	++*out;
	return HDB_OK;
}

static const char *numbered(const struct android_native *native, uint32_t number)
{
	assert(number > 0 && number <= native->texts.list.count);
	return base_vec_at(&native->texts.list, struct base_name, number - 1)->text;
}

static int text_number(struct reader *r, struct proto text, uint32_t *out)
{
	char name[NAME_BYTES] = "";

	append(name, text);
	return number_of(r, name, out);
}

/* ---- frames and stacks ---- */

/* Builds the path of a mapping's module. */
static int read_mapping(struct reader *r, uint64_t number, char *path)
{
	struct proto mapping, name;
	struct known *node;
	struct proto_field part;

	TRY(know(r, MAPPING, numbers_of(r), number, &node));
	mapping = node->message;
	while (strlen(path) < NAME_BYTES - 1 && next_field(&mapping, 7, PROTO_VARINT, &part)) {
		TRY(string_of(r, PATH, part.value, &name));
		if (!proto_size(&name) || path[0] || *name.at != '/')
			strcat(path, "/"); /* otherwise the path has a single component */
		append(path, name);
	}
	return HDB_OK;
}

/*
 * Replaces an obfuscated method name by all original names that were mapped to it. The name stays
 * unchanged if the package is unknown and several classes match.
 */
static void clear_method(const struct base_vec *names, const char *path, char *name)
{
	const char *dot = strrchr(name, '.');
	struct proto of[CLEAR_NAME] = { text_of(name), text_of(dot ? dot + 1 : ""),
					clear_package(text_of(path)) };
	const struct proto package = of[CLEAR_PACKAGE];
	const struct clear_name *found, *end = names->data;
	char clear[NAME_BYTES] = "";

	of[CLEAR_CLASS].end = dot ? (const uint8_t *)dot : of[CLEAR_CLASS].at;
	if (!names->count)
		return;
	end += names->count;
	found = clear_find(names, of);
	for (; found && found < end && clear_is(found, of); found++) {
		const struct proto own = found->of[CLEAR_NAME];

		of[CLEAR_PACKAGE] = found->of[CLEAR_PACKAGE];
		append(clear, text_of(clear[0] ? " | " : ""));
		if (!memchr(own.at, '.', proto_size(&own))) {
			append(clear, found->class_name);
			append(clear, text_of("."));
		}
		append(clear, own);
		if (clear[NAME_BYTES - 2]) /* the buffer is full */
			found = end - 1;
	}
	of[CLEAR_PACKAGE] = package;
	if (clear[0] && (found == end || !clear_is(found, of)))
		strcpy(name, clear);
}

/*
 * Formats a frame as "function (module)", with the symbol if known, or the address if there is no
 * name.
 */
static int read_frame(struct reader *r, struct proto message, uint32_t *text)
{
	const uint64_t mapping = proto_last(message, 3).value;
	const uint64_t address = proto_last(message, 4).value;
	char path[NAME_BYTES] = "", name[NAME_BYTES] = "", line[2 * NAME_BYTES];
	const char *module;
	struct known *node;
	struct proto function;
	uint32_t no;

	if (mapping)
		TRY(read_mapping(r, mapping, path));
	TRY(number_of(r, path, &no));
	TRY(know(r, SYMBOL, no, address, &node));
	/* the last line entry is the function into which the others were inlined */
	append(name, proto_last(proto_last(node->message, 2).bytes, 1).bytes);
	if (!name[0]) {
		TRY(string_of(r, FUNCTION, proto_last(message, 2).value, &function));
		append(name, function);
		clear_method(&r->native->names, path, name);
	}
	if (!name[0])
		(void)snprintf(name, sizeof(name), "0x%" PRIx64, address);
	module = strrchr(path, '/');
	(void)snprintf(line, sizeof(line), module ? "%s (%s)" : "%s", name,
		       module ? module + 1 : "");
	return number_of(r, line, text);
}

/* Finds or adds the node of a frame below a node. */
static int add_frame(struct reader *r, uint64_t number, uint32_t *node)
{
	struct known *frame;
	uint32_t text;

	TRY(know(r, FRAME, numbers_of(r), number, &frame));
	if (!frame->no) {
		TRY(read_frame(r, frame->message, &text));
		TRY(know(r, FRAME, numbers_of(r), number, &frame));
		frame->no = text;
	}
	return call_tree_child(r->tree, *node, numbered(r->native, frame->no), node, r->err);
}

/* Finds or adds the node of a stack, below the node of its heap. */
static int add_stack(struct reader *r, uint64_t number, uint32_t *node)
{
	const uint32_t above = *node;
	const uint64_t kind = STACK_NODE | (uint64_t)above << 8;
	struct proto stack;
	struct known *known;
	struct proto_field frame;

	TRY(know(r, STACK, numbers_of(r), number, &known));
	stack = known->message;
	TRY(know(r, kind, numbers_of(r), number, &known));
	*node = known->no;
	if (*node)
		return HDB_OK;
	*node = above;
	for (unsigned i = 0; i < FRAMES_MAX && next_field(&stack, 2, PROTO_VARINT, &frame); i++)
		TRY(add_frame(r, frame.value, node));
	if (*node == above)
		TRY(call_tree_child(r->tree, above, "(no call stack)", node, r->err));
	TRY(know(r, kind, numbers_of(r), number, &known));
	known->no = *node;
	return HDB_OK;
}

/* ---- dumps ---- */

/*
 * Adds the increase since the previous dump. Decreasing sums wrap around, as unsigned numbers do.
 */
static void add(struct call_node *sum, const struct call_node *now, const struct call_node *before)
{
	sum->count += now->count - before->count;
	sum->bytes += now->bytes - before->bytes;
	sum->all_count += now->all_count - before->all_count;
	sum->all_bytes += now->all_bytes - before->all_bytes;
}

/*
 * Returns whether the sums are plausible: frees never exceed allocations, and neither sum
 * decreases.
 */
static bool is_sum(const struct call_node *now, const struct call_node *before)
{
	return now->count <= now->all_count && now->bytes <= now->all_bytes &&
	       now->all_count <= FIGURE_MAX && now->all_bytes <= FIGURE_MAX &&
	       now->all_count >= before->all_count && now->all_bytes >= before->all_bytes &&
	       now->all_count - now->count >= before->all_count - before->count &&
	       now->all_bytes - now->bytes >= before->all_bytes - before->bytes;
}

static int add_sample(struct reader *r, struct android_native_dump *dump, uint32_t node,
		      struct proto message)
{
	const struct numbers numbers = numbers_in(message);
	const uint64_t *n = numbers.of;
	/* ART does not report which of its allocations were freed */
	const bool has_frees = strcmp(dump->heap, "com.android.art") != 0;
	struct call_node now = {
		.count = n[SAMPLE_COUNT] - (has_frees ? n[SAMPLE_FREED_COUNT] : 0),
		.bytes = n[SAMPLE_BYTES] - (has_frees ? n[SAMPLE_FREED_BYTES] : 0),
		.all_count = n[SAMPLE_COUNT],
		.all_bytes = n[SAMPLE_BYTES],
	};
	struct known *sample;

	if (n[SAMPLE_MAX]) {
		now.count = now.all_count =
			dump->flags & ANDROID_DUMP_COUNTS ? n[SAMPLE_MAX_COUNT] : 0;
		now.bytes = now.all_bytes = n[SAMPLE_MAX];
	}
	if (!now.all_count && !now.all_bytes)
		return HDB_OK;
	TRY(add_stack(r, n[SAMPLE_STACK], &node));
	TRY(know(r, SAMPLE, r->sequence_id << 32 | node, n[SAMPLE_STACK], &sample));
	if (is_sum(&now, &sample->had)) {
		add(&dump->sums, &now, &sample->had);
		add(&r->tree->nodes[node], &now, &sample->had);
		sample->had = now;
	} else {
		dump->flags |= ANDROID_DUMP_DAMAGED;
	}
	return HDB_OK;
}

static int add_samples(struct reader *r, uint32_t no, struct proto message)
{
	struct android_native_dump *dumps = r->native->dumps.data, *dump = &dumps[no - 1];
	struct known *heap = base_vec_at(&r->native->known, struct known, dump->heap_no);
	char name[2 * NAME_BYTES];
	struct proto_field sample;
	uint32_t node = 0;

	if (r->last_dump && (no > r->last_dump || dump->heap_no != dumps[r->last_dump - 1].heap_no))
		return HDB_OK;
	if (!r->last_dump && r->native->heaps > 1) {
		(void)snprintf(name, sizeof(name), "%s (%" PRIu64 ") %s", dump->process, dump->pid,
			       dump->heap);
		TRY(call_tree_child(r->tree, 0, name, &node, r->err));
	}
	/* a sample that arrives late is added to the later dump */
	if (heap->no > no)
		dump = &dumps[heap->no - 1];
	else if (heap->no && heap->no < no)
		dump->sums = dumps[heap->no - 1].sums;
	heap->no = heap->no > no ? heap->no : no;
	while (next_field(&message, DUMP_SAMPLES, PROTO_BYTES, &sample))
		TRY(add_sample(r, dump, node, sample.bytes));
	return HDB_OK;
}

static int take_dump(struct reader *r, struct proto message)
{
	const struct numbers numbers = numbers_in(message);
	const uint64_t *n = numbers.of;
	struct android_native_dump dump = {
		.pid = n[DUMP_PID] & UINT32_MAX,
		.time = (int64_t)n[DUMP_TIMESTAMP],
		.interval = n[DUMP_INTERVAL],
		.flags = r->sequence->is_missing ? ANDROID_DUMP_MISSING : 0,
	};
	struct proto heap = proto_last(message, DUMP_HEAP).bytes;
	struct android_native *native = r->native;
	struct known *node;
	uint32_t name, no;

	for (unsigned i = 0; i < sizeof(numbers.of) / sizeof(n[0]); i++)
		dump.flags |= n[i] ? (1u << i) & ANDROID_DUMP_FIELDS : 0;
	if (!proto_size(&heap))
		heap = text_of("unknown");
	TRY(text_number(r, heap, &name));
	dump.heap = numbered(r->native, name);
	TRY(know(r, HEAP, dump.pid, name, &node));
	dump.heap_no = (uint32_t)(node - (struct known *)native->known.data);
	TRY(know(r, DUMP, dump.heap_no, n[DUMP_TIMESTAMP], &node));
	if (!node->no) {
		TRY(base_vec_push(&native->dumps, &dump, sizeof(dump), r->err));
		node->no = (uint32_t)native->dumps.count;
	}
	no = node->no;
	r->sequence->last_dump = no;
	android_dump_at(native, no - 1)->flags |= dump.flags;
	return r->tree ? add_samples(r, no, message) : HDB_OK;
}

static int take_profile(struct reader *r, struct proto message)
{
	const uint64_t index = proto_last(message, PROFILE_INDEX).value;
	struct android_sequence *s = r->sequence;
	struct proto_field dump;

	if (s->last_dump)
		android_dump_at(r->native, s->last_dump - 1)->flags &= ~(unsigned)ANDROID_DUMP_OPEN;
	s->is_missing |= index != s->next_index || !packets_is_message(message);
	s->next_index = index + 1;
	s->is_open = proto_last(message, PROFILE_CONTINUED).value != 0;
	s->has_own |= proto_last(message, PROFILE_FRAMES).bytes.at != NULL;
	if (!r->tree)
		TRY(take_numbered(r, message, own_kinds, sizeof(own_kinds)));
	while (next_field(&message, PROFILE_DUMPS, PROTO_BYTES, &dump))
		TRY(take_dump(r, dump.bytes));
	if (s->last_dump && s->is_open)
		android_dump_at(r->native, s->last_dump - 1)->flags |= ANDROID_DUMP_OPEN;
	s->generation += s->has_own && !s->is_open;
	s->has_own &= s->is_open;
	return HDB_OK;
}

/* ---- packets ---- */

static int take_packet(struct reader *r, struct proto message)
{
	const struct proto profile = proto_last(message, PACKET_HEAP_PROFILE).bytes;
	const struct proto symbols = proto_last(message, PACKET_SYMBOLS).bytes;
	struct android_native *native = r->native;
	struct known *node;
	uint32_t module;

	r->sequence_id = proto_last(message, PACKET_SEQUENCE_ID).value & UINT32_MAX;
	TRY(know(r, SEQUENCE, 0, r->sequence_id, &node));
	if (!node->no) {
		TRY(base_vec_push(&native->sequences, &(struct android_sequence){ 0 },
				  sizeof(*r->sequence), r->err));
		node->no = (uint32_t)native->sequences.count;
	}
	r->sequence = base_vec_at(&native->sequences, struct android_sequence, node->no - 1);
	r->sequence->generation += proto_last(message, PACKET_FLAGS).value & 1 ||
				   proto_last(message, PACKET_CLEARED).value;
	if (!r->tree) {
		if (!native->clock_offset)
			native->clock_offset = packets_clock_offset(
				proto_last(message, PACKET_CLOCKS).bytes, CLOCKS_MONOTONIC_COARSE);
		TRY(take_numbered(r, proto_last(message, PACKET_INTERNED).bytes, interned_kinds,
				  sizeof(interned_kinds)));
		TRY(take_parts(r, proto_last(message, PACKET_PROCESSES).bytes, 1, PROCESS, 0));
		TRY(clear_take(&native->names, proto_last(message, PACKET_CLEAR_NAMES).bytes,
			       MAPPING_METHOD, r->err));
		TRY(text_number(r, proto_last(symbols, 1).bytes, &module));
		TRY(take_parts(r, symbols, 3, SYMBOL, module));
	}
	return profile.at ? take_profile(r, profile) : HDB_OK;
}

static int take_packets(struct reader *r)
{
	struct proto trace = r->native->trace;
	struct proto_field packet;

	if (r->native->sequences.count)
		memset(r->native->sequences.data, 0,
		       r->native->sequences.count * sizeof(*r->sequence));
	while (next_field(&trace, TRACE_PACKET, PROTO_BYTES, &packet))
		TRY(take_packet(r, packet.bytes));
	return HDB_OK;
}

/*
 * Fills in the names of processes and the times. The packets with this data may follow the dumps.
 */
static int complete(struct reader *r, struct android_native_dump *dump)
{
	const uint64_t offset = (uint64_t)r->native->clock_offset;
	struct proto_field name = { 0 };
	struct known *process;
	struct proto message;
	uint32_t no;

	TRY(know(r, PROCESS, 0, dump->pid, &process));
	message = process->message;
	(void)next_field(&message, 3, PROTO_BYTES, &name);
	TRY(text_number(r, name.bytes, &no));
	dump->process = proto_size(&name.bytes) ? numbered(r->native, no) : "?";
	dump->since_1970 = offset && dump->time ? (int64_t)((uint64_t)dump->time + offset) : 0;
	return HDB_OK;
}

int android_native_read(const uint8_t *data, size_t size, struct android_native *out,
			struct hdb_error *err)
{
	struct reader r = { .native = out, .err = err };
	int opened;

	*out = (struct android_native){ .trace = { data, data + size, false } };
	opened = packets_open(&out->trace, &out->copy);
	if (opened < 0)
		return hdb_fail(err, opened, "%s", packets_problem(opened));
	TRY(opened);
	TRY(take_packets(&r));
	clear_sort(&out->names);
	if (!out->dumps.count)
		return hdb_fail(
			err, HDB_EFORMAT,
			"the trace contains no native heap profile; to record one, use the data "
			"source android.heapprofd");
	for (size_t i = 0; i < out->known.count; i++)
		out->heaps += base_vec_at(&out->known, struct known, i)->key[0] == HEAP;
	for (size_t i = 0; i < out->dumps.count; i++)
		TRY(complete(&r, android_dump_at(out, i)));
	return HDB_OK;
}

void android_native_release(struct android_native *native)
{
	base_names_release(&native->texts);
	base_vec_release(&native->known);
	base_idmap_release(&native->known_map);
	base_vec_release(&native->copy);
	base_vec_release(&native->names);
	base_vec_release(&native->sequences);
	base_vec_release(&native->dumps);
}

const char *android_native_incomplete(const struct android_native_dump *dump)
{
	static const char *const reasons[] = {
		[0] = "packets are missing",
		[2] = "decreasing sums were omitted",
		[5] = "packets are missing",
		[4] = "not profiled: another session was active",
		[7] = "the buffer overflowed",
		[8] = "the buffer was corrupted",
		[10] = "profiling took too much memory or CPU time",
		[14] = "profiling ended because of an error in the process",
	};

	for (size_t i = BASE_COUNT(reasons); i-- > 0;)
		if (reasons[i] && dump->flags >> i & 1)
			return reasons[i];
	return NULL;
}

/* ---- groups ---- */

/* Extracts the module of "function (module)". */
static void module_of(const char *frame, char *module, size_t size)
{
	const char *at = frame;

	for (const char *p = frame; (p = strstr(p, " (")) != NULL; p++)
		at = p;
	(void)snprintf(module, size, "%.*s", at == frame ? 0 : (int)strlen(at) - 3, at + 2);
}

/*
 * Returns whether the function is an allocator. Memory is attributed to the innermost caller that
 * is not an allocator.
 */
static bool is_allocator(const char *frame)
{
	static const char *const parts[] = { " (libc.so",    " (libc++",          " (libstdc++",
					     " (libart.so)", "operator new",      "_Znwm",
					     "_Znam",        " (heapprofd_client" };

	for (size_t i = 0; i < BASE_COUNT(parts); i++)
		if (strstr(frame, parts[i]))
			return true;
	return false;
}

/* Groups by the innermost frame outside the allocator, or by the module of this frame. */
static int add_sites(struct reader *r, bool by_module, struct call_tree *out)
{
	const struct call_tree *stacks = r->tree;
	const uint32_t first =
		!r->last_dump && r->native->heaps > 1; /* level of the outermost frames */
	char module[NAME_BYTES];

	for (uint32_t i = 1; i < stacks->count; i++) {
		const struct call_node *from = &stacks->nodes[i], *site = from;
		uint32_t node;

		if (!from->all_count && !from->all_bytes)
			continue;
		while (site->level > first && is_allocator(site->name))
			site = &stacks->nodes[site->parent];
		module_of(site->name, module, sizeof(module));
		TRY(call_tree_child(out, 0,
				    !by_module ? site->name :
				    *module    ? module :
						 "(no module)",
				    &node, r->err));
		call_node_add(&out->nodes[node], from);
	}
	return HDB_OK;
}

int android_native_group(struct android_native *native, unsigned dump,
			 enum android_allocations_by by, struct call_tree *tree,
			 struct hdb_error *err)
{
	const bool is_stack = by == ANDROID_BY_STACK;
	struct call_tree stacks = { 0 };
	struct reader r = {
		.native = native, .tree = is_stack ? tree : &stacks, .last_dump = dump, .err = err
	};
	int rc;

	if (dump > native->dumps.count)
		return hdb_fail(err, HDB_EUSAGE, "no dump number %u (dumps in the trace: %zu)",
				dump, native->dumps.count);
	rc = take_packets(&r);
	if (rc == HDB_OK && !is_stack)
		rc = add_sites(&r, by == ANDROID_BY_MODULE, tree);
	call_tree_release(&stacks);
	return rc == HDB_OK ? call_tree_sum(tree, err) : rc;
}
