/* queries/leaks/leak_consumers.c - describes what the threads that consume a queue are doing. */
#include "base/glob.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/leaks/leak_stuck_private.h"

#include <string.h>

/* Maximum number of threads that may consume a queue. */
#define CONSUMERS_MAX 1000u

/* Frames of threads that wait at a queue, for an element or for free space. */
static const char at_queue[] = "java.util.concurrent.*Queue.*,java.util.concurrent.*Deque.*";

/* A queue, and the owner and consumers found for it. */
struct queue {
	uint32_t ix;
	uint32_t owner_ix; /* the application object on the path to the queue, or HEAP_NONE */
	uint64_t id;
	const char *consumers;   /* of the rule */
	struct base_vec members; /* struct stuck_thread: the threads that consume its elements */
};

static void release_queue(struct queue *queue)
{
	base_vec_release(&queue->members);
}

/* Describes the queue that a finding is about. */
static int begin_queue(struct heap *heap, const struct leak_finding *f, struct queue *out,
		       struct hdb_error *err)
{
	*out = (struct queue){ .ix = f->answer.ix,
			       .owner_ix = HEAP_NONE,
			       .consumers = f->answer.rule->consumers };
	if (strcmp(out->consumers, "subscriber") == 0 && f->suspect.ix != HEAP_NONE)
		out->ix = f->suspect.ix;
	for (size_t i = 0; i < f->path.count && f->path.nodes[i] != out->ix; i++)
		if (!heap_is_platform_class(heap_class_name_of(heap, f->path.nodes[i])))
			out->owner_ix = f->path.nodes[i];
	return heap_id(heap, out->ix, &out->id, err);
}

/* Sets *out to whether a consumer may run a method of the object. */
static int is_consumers(struct heap *heap, const struct queue *queue, uint32_t ix, bool *out,
			struct hdb_error *err)
{
	const bool by_owner = base_is_among("owner|subscriber", queue->consumers);

	*out = by_owner ? ix == queue->ix || ix == queue->owner_ix :
			  base_glob_list(queue->consumers, heap_class_name_of(heap, ix));
	return by_owner && !*out ? heap_field_refers(heap, ix, queue->id, out, err) : HDB_OK;
}

/*
 * Returns whether the frame with this text is in a method of the class or of a superclass.
 * Truncates the text.
 */
static bool is_method_of(struct heap *heap, char *frame, uint32_t class_no)
{
	char *dot;

	frame[strcspn(frame, "(")] = '\0';
	dot = strrchr(frame, '.');
	if (!dot)
		return false;
	*dot = '\0';
	return !heap_is_platform_class(frame) && heap_has_superclass(heap, class_no, frame);
}

/*
 * Sets *out to whether a local variable is the `this` of its frame, and the frame is not inside a
 * call of a queue.
 */
static int is_consuming(struct heap *heap, const struct store_root *root, uint32_t trace_serial,
			bool *out, struct hdb_error *err)
{
	char text[LEAK_FRAME_MAX] = "";
	struct heap_object object;
	struct store_trace trace;
	struct store_frame frame;

	*out = false;
	TRY(heap_object(heap, root->ix, &object, err));
	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	if (root->frame_number >= trace.frame_count)
		return HDB_OK;
	for (uint32_t depth = 0; depth < root->frame_number && depth < FRAMES_MAX; depth++) {
		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		if (base_glob_list(at_queue, text))
			return HDB_OK;
	}
	TRY_FOUND(heap_trace_frame(heap, &trace, root->frame_number, &frame, err));
	TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
	*out = is_method_of(heap, text, object.class_no);
	return HDB_OK;
}

/*
 * Adds the thread of a local variable to the consumers of the queue, if the thread is a consumer.
 */
static int add_consumer(struct stuck *s, struct queue *queue, const struct store_root *root,
			struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct stuck_thread member = { .key_ix = queue->ix };
	struct store_thread thread;
	bool found;

	if (!root->is_local || root->frame_number == STORE_NONE)
		return HDB_OK;
	TRY(is_consumers(heap, queue, root->ix, &found, err));
	if (!found)
		return HDB_OK;
	TRY_FOUND(heap_thread_by_serial(heap, root->thread_serial, &thread, err));
	member.wait = query_waits_thread(&s->waits, thread.ix);
	if (!member.wait)
		return HDB_OK;
	for (size_t i = 0; i < queue->members.count; i++)
		if (base_vec_at(&queue->members, struct stuck_thread, i)->wait == member.wait)
			return HDB_OK;
	TRY(is_consuming(heap, root, member.wait->trace_serial, &found, err));
	return found ? base_vec_push(&queue->members, &member, sizeof(member), err) : HDB_OK;
}

int leak_report_consumers(struct stuck *s, struct leak_finding *f, struct hdb_error *err)
{
	const struct heap_roots *roots = &s->q->heap->roots;
	BASE_SCOPED(release_queue) struct queue queue = { 0 };
	struct stuck_group c = { 0 };
	struct stuck_place place;

	TRY(begin_queue(s->q->heap, f, &queue, err));
	for (uint64_t i = 0; i < roots->count && queue.members.count < CONSUMERS_MAX; i++) {
		if (s->roots_max == 0)
			return HDB_OK;
		s->roots_max--;
		TRY(add_consumer(s, &queue, &roots->records[i], err));
		if (i % STEP == 0)
			TRY(base_step(s->q->work, i, err));
	}
	if (!queue.members.count || queue.members.count == CONSUMERS_MAX)
		return HDB_OK;
	c.members = queue.members.data;
	c.count = queue.members.count;
	if (c.count == 1)
		TRY(leak_find_owner(s, c.members->wait->thread_ix, &place, err));
	else
		TRY(leak_describe(s->q, &c, true, &place, err));
	leak_add_doing(&c, &place, "thread", f);
	return HDB_OK;
}
