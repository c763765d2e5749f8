/*
 * memory/memory_process.c - reads the data of a running JVM and of its heap dump for the account.
 */
#include "memory/memory_private.h"

#include "common/door_rows.h"
#include "common/file_text.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the memory of a buffer, under the names that the direct-buffers query uses. */
static int take_buffer(struct memory_answer *a, struct hdb_rows *rows, struct hdb_error *err)
{
	static const struct {
		const char *kind, *detail;
		enum memory_part part;
	} kinds[] = {
		{ "direct", "direct buffers", MEMORY_DIRECT },
		{ "segment", "memory segments", MEMORY_DIRECT },
		{ "native", "buffers of native code", MEMORY_DIRECT },
		{ "mapped", "mapped buffers", MEMORY_FILES },
	};
	const char *kind = hdb_rows_text(rows, hdb_rows_find_column(rows, "kind"));
	const char *holder = hdb_rows_text(rows, hdb_rows_find_column(rows, "holder"));
	const uint64_t capacity = hdb_rows_u64(rows, hdb_rows_find_column(rows, "capacity"));
	const bool is_netty = holder && strstr(holder, "netty.buffer.");

	for (size_t i = 0; i < BASE_COUNT(kinds); i++) {
		if (!kind || strcmp(kind, kinds[i].kind) != 0 || !capacity)
			continue;
		a->buffers++;
		return memory_add_buffer(
			&a->memory,
			memory_for(kinds[i].part, is_netty && kinds[i].part == MEMORY_DIRECT ?
							  "Netty" :
							  kinds[i].detail),
			hdb_rows_u64(rows, hdb_rows_find_column(rows, "address")), capacity, err);
	}
	return HDB_OK;
}

/*
 * Reads the number at a path, or the value of a LongAdder or AtomicLong at the path. *out is -1 if
 * there is no number.
 */
static int read_number(struct hdb *db, uint32_t ix, const char *path, int64_t *out,
		       struct hdb_error *err)
{
	struct hdb_basic value;
	char text[32];
	uint32_t counter;

	*out = -1;
	TRY_FOUND(hdb_path_value(db, ix, path, &value, err));
	if (value.type != HDB_BASIC_OBJECT) {
		*out = value.i;
		return HDB_OK;
	}
	TRY_FOUND(hdb_find(db, value.id, &counter, err));
	TRY_FOUND(hdb_text(db, counter, text, sizeof(text), NULL, err));
	*out = strtoll(text, NULL, 10);
	return HDB_OK;
}

/*
 * Netty's allocators, which allocate chunks and divide them into buffers. The pooled allocator
 * counts the bytes of its buffers per chunk; the adaptive one does not. A chunk in the heap is an
 * array and has no capacity.
 */
static const struct netty_kind {
	const char *classes, *capacity, *pinned;
	bool is_chunk;
} netty_kinds[] = {
	{ "*netty.buffer.PoolChunk", "memory.capacity", "pinnedBytes", true },
	{ "*netty.buffer.AdaptivePoolingAllocator$*Chunk", "delegate.buffer.capacity", "", true },
	{ "*netty.buffer.AdaptivePoolingAllocator$AdaptiveByteBuf",
	  "chunk.delegate.buffer.capacity", "maxFastCapacity", false },
};

static int take_netty(struct memory_figures *f, struct hdb *db, const struct netty_kind *kind,
		      uint32_t ix, struct hdb_error *err)
{
	int64_t capacity, pinned = 0, unused;

	TRY(read_number(db, ix, kind->capacity, &capacity, err));
	if (capacity <= 0)
		return HDB_OK;
	if (*kind->pinned)
		TRY(read_number(db, ix, kind->pinned, &pinned, err));
	if (pinned < 0) {
		/* in Netty before 4.1.69, this includes buffers in caches of threads */
		TRY(read_number(db, ix, "freeBytes", &unused, err));
		pinned = unused >= 0 && unused <= capacity ? capacity - unused : 0;
	}
	f->netty += kind->is_chunk ? (uint64_t)capacity : 0;
	f->netty_pinned += (uint64_t)(pinned < capacity ? pinned : capacity);
	return HDB_OK;
}

static int add_netty(struct memory_figures *f, struct hdb *db, const struct netty_kind *kind,
		     struct hdb_error *err)
{
	BASE_FREED uint8_t *marks = NULL;
	struct hdb_scan_options options = { .struct_size = sizeof(options) };
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	struct hdb_scan *scan;
	int r;

	TRY(BASE_ALLOC(marks, (size_t)hdb_class_count(db) + 1, "a set of classes", err));
	TRY_FOUND(hdb_classes_like(db, kind->classes, 0, marks, err));
	options.classes = marks;
	options.kinds = 1u << HDB_KIND_INSTANCE;
	TRY(hdb_scan_open(db, &options, &scan, err));
	do {
		r = hdb_scan_next(scan, &batch, err);
		for (size_t i = 0; r == HDB_OK && i < batch.count; i++)
			r = take_netty(f, db, kind, batch.ix[i], err);
	} while (r == HDB_OK);
	hdb_scan_close(scan);
	return r > 0 ? HDB_OK : r;
}

int memory_answer_add_dump(struct memory_answer *a, struct hdb *db, struct hdb_error *err)
{
	static const struct hdb_option all = { "all", NULL };
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .options = &all,
					     .option_count = 1 };
	DOOR_ROWS *rows = NULL;
	int rc;

	TRY(hdb_query(db, "direct-buffers", &args, &rows, err));
	while ((rc = hdb_rows_next(rows, err)) == HDB_OK)
		TRY(take_buffer(a, rows, err));
	for (size_t i = 0; rc == HDB_END && i < BASE_COUNT(netty_kinds); i++)
		TRY(add_netty(&a->memory.figures, db, &netty_kinds[i], err));
	return rc == HDB_END ? HDB_OK : rc;
}

/* ---- a running JVM ---- */

struct asking {
	struct memory_answer *account;
	int pid;
	struct capture_options options;
	char refusal[HDB_ERROR_SIZE]; /* the reason why the VM did not answer */
	struct hdb_error *err;
};

/* Queries the VM. Ignores questions that the VM cannot answer. */
static int ask(struct asking *a, enum capture_question question, enum memory_kind kind)
{
	struct capture_text answer;
	struct hdb_error err = { 0 };
	int rc = capture_vm_ask(a->pid, question, &a->options, &answer, &err);

	if (rc == HDB_EINTR || rc == HDB_ENOMEM) {
		*a->err = err;
		return rc;
	}
	if (rc != HDB_OK && question == CAPTURE_NMT_DETAIL)
		snprintf(a->refusal, sizeof(a->refusal), "%s", err.message);
	if (rc != HDB_OK)
		return HDB_NOTFOUND;
	rc = memory_add(&a->account->memory, kind, answer.text, strlen(answer.text), a->err);
	free(answer.text);
	return rc;
}

static int ask_vm(struct asking *a)
{
	const struct memory *m = &a->account->memory;
	int rc = ask(a, CAPTURE_NMT_DETAIL, MEMORY_NMT);

	if (rc != HDB_OK)
		return rc < 0 ? rc : HDB_OK;
	if (m->nmt == MEMORY_NMT_UNKNOWN)
		TRY_ERRORS(ask(a, CAPTURE_NMT_SUMMARY, MEMORY_NMT));
	TRY_ERRORS(ask(a, CAPTURE_VM_INFO, MEMORY_VM_INFO));
	if (m->nmt == MEMORY_NMT_SUMMARY)
		TRY_ERRORS(ask(a, CAPTURE_SYSTEM_MAP, MEMORY_MAP));
	rc = ask(a, CAPTURE_NATIVE_HEAP_INFO, MEMORY_MALLOC);
	return rc < 0 ? rc : HDB_OK;
}

int memory_answer_add_process(struct memory_answer *account, int pid, unsigned timeout_s,
			      const base_flag *cancel, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct memory_figures *f = &account->memory.figures;
	struct asking a = { .account = account,
			    .pid = pid,
			    .options = { .timeout_s = timeout_s, .cancel = cancel },
			    .err = err };
	struct capture_meters meters;

	/*
	 * open the process first, because another process may have the PID when the VM has answered
	 */
	TRY(capture_memory_open(pid, &account->process, err));
	TRY(capture_measure(pid, &meters, err));
	snprintf(account->name, sizeof(account->name), "JVM %d%s%s%s", pid,
		 meters.main_class[0] ? " (" : "", meters.main_class,
		 meters.main_class[0] ? ")" : "");
	account->limit = meters.has_limit ? meters.limit : 0;
	if (meters.cannot_attach)
		snprintf(a.refusal, sizeof(a.refusal),
			 "process %d was started with -XX:+DisableAttachMechanism", pid);
	else
		TRY(ask_vm(&a));
	f->heap_used = f->heap_used ? f->heap_used : meters.heap_used;
	f->metaspace_used = f->metaspace_used ? f->metaspace_used : meters.metaspace;
	/* the maximum heap size, to which G1 adds some bytes on JDK 17 */
	f->heap_reserved =
		f->heap_reserved ? f->heap_reserved : meters.heap_max & ~(uint64_t)0xffff;
	f->classes = f->classes ? f->classes : meters.classes;
	TRY(capture_memory_smaps(account->process, MEMORY_TEXT_MAX, &text, err));
	if (a.refusal[0])
		snprintf(account->answer.notice, sizeof(account->answer.notice),
			 "%s; only data from /proc is shown", a.refusal);
	TRY(memory_add(&account->memory, MEMORY_SMAPS, text.data, text.size, err));
	return account->memory.has_malloc ? HDB_OK :
					    memory_add_arenas(&account->memory, capture_memory_read,
							      account->process, err);
}

/* ---- all sources ---- */

static int add_file(struct memory_answer *answer, const char *path, const base_flag *cancel,
		    struct hdb_error *err)
{
	BASE_SCOPED(file_text_release)
	struct file_text text = { .name = path, .size_max = MEMORY_TEXT_MAX };
	BASE_CLOSED const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hdb_error why = { 0 };
	int rc;

	if (fd < 0)
		return hdb_fail_open(err, errno, path);
	TRY(file_text_read(fd, cancel, &text, err));
	rc = memory_answer_add_text(answer, text.data, text.size, &why);
	return rc < 0 ? hdb_fail(err, rc, "%.200s: %.400s", path, why.message) : rc;
}

int memory_json(const struct memory_sources *s, bool is_sparse, char **text, struct hdb_error *err)
{
	BASE_SCOPED(memory_answer_free_at) struct memory_answer *answer = NULL;
	const struct own_answer *own;

	TRY(memory_answer_new(&answer, err));
	for (size_t i = 0; i < s->file_count; i++)
		TRY(add_file(answer, s->files[i], s->cancel, err));
	if (s->db)
		TRY(memory_answer_add_dump(answer, s->db, err));
	if (s->pid)
		TRY(memory_answer_add_process(answer, s->pid, 0, s->cancel, err));
	TRY(memory_answer_make(answer, &own, err));
	return own_answer_json(own, is_sparse, text, err);
}
