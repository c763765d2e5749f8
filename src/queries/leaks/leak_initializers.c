/*
 * queries/leaks/leak_initializers.c - threads that wait until another thread has initialized a
 * class (JVMS 5.5). The dump does not record which class a thread waits for: its state is RUNNABLE,
 * and its innermost frame is the line that uses the class. If another thread is in <clinit> and was
 * called from the same line, both need the same class.
 */
#include "heap/threads.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_stuck_private.h"

#include <string.h>

/* Maximum number of static initializers that are running. More than a few are unusual. */
#define INITIALIZERS_MAX 100u
#define METHOD ".<clinit>("

/* A static initializer that a thread is running. */
struct initializer {
	const struct query_wait *wait;
	struct store_frame frame, caller;
	bool is_innermost; /* whether it is in no call, so it may be waiting for a class */
	uint64_t users;    /* number of threads that wait for its class */
	/* the initializer that probably waits for this one and that this one waits for, or NULL */
	const struct initializer *other;
};

/* A thread that may be waiting for a class. */
struct user {
	const struct query_wait *wait;
	struct store_frame frame;
};

static bool is_runnable(const struct query_wait *wait)
{
	return wait->state.name && strcmp(wait->state.name, "RUNNABLE") == 0;
}

static bool is_same_line(const struct store_frame *a, const struct store_frame *b)
{
	return a->class_text == b->class_text && a->method_text == b->method_text &&
	       a->line == b->line;
}

static int add_user(struct heap *heap, const struct query_wait *wait, struct base_vec *users,
		    struct hdb_error *err)
{
	struct user user = { .wait = wait };
	struct store_trace trace;

	if (!is_runnable(wait))
		return HDB_OK;
	TRY_FOUND(heap_trace(heap, wait->trace_serial, &trace, err));
	TRY_FOUND(heap_trace_frame(heap, &trace, 0, &user.frame, err));
	return user.frame.line > 0 ? base_vec_push(users, &user, sizeof(user), err) : HDB_OK;
}

/* Adds the static initializers on the stack of a thread. */
static int add_initializers(struct heap *heap, const struct query_wait *wait, struct base_vec *list,
			    struct hdb_error *err)
{
	struct initializer new = { .wait = wait };
	struct store_trace trace;

	TRY_FOUND(heap_trace(heap, wait->trace_serial, &trace, err));
	for (uint32_t depth = 0;
	     depth + 1 < trace.frame_count && depth < FRAMES_MAX && list->count < INITIALIZERS_MAX;
	     depth++) {
		char method[sizeof("<clinit>") + 1];

		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &new.frame, err));
		TRY(heap_text(heap, new.frame.method_text, method, sizeof(method), err));
		if (strcmp(method, "<clinit>") != 0)
			continue;
		new.is_innermost = depth == 0 && is_runnable(wait);
		TRY_FOUND(heap_trace_frame(heap, &trace, depth + 1, &new.caller, err));
		TRY(base_vec_push(list, &new, sizeof(new), err));
	}
	return HDB_OK;
}

/* Adds the threads that wait for a class, each to the group of one initializer. */
static int add_waiting(struct stuck *s, const struct base_vec *users, struct hdb_error *err)
{
	struct initializer *list = s->initializers.data;

	for (size_t k = 0; k < users->count; k++) {
		const struct user *user = base_vec_at(users, struct user, k);
		size_t i = 0;

		TRY(base_step(s->q->work, k, err));
		while (i < s->initializers.count &&
		       (user->wait == list[i].wait || !is_same_line(&user->frame, &list[i].caller)))
			i++;
		if (i < s->initializers.count) {
			const struct stuck_thread member = { .kind = CROWD_CLASS,
							     .key_ix = list[i].wait->thread_ix,
							     .initializer = (uint32_t)i,
							     .wait = user->wait };

			list[i].users++;
			TRY(base_vec_push(&s->members, &member, sizeof(member), err));
		}
	}
	return HDB_OK;
}

/*
 * Joins the groups of two initializers if both may wait for a class and threads wait for both of
 * theirs. The dump does not tell for which class they wait, so if there are more than two, nothing
 * is concluded.
 */
static void join_pair(struct stuck *s)
{
	struct initializer *list = s->initializers.data, *pair[2] = { NULL, NULL };
	size_t count = 0;

	for (size_t i = 0; i < s->initializers.count; i++)
		if (list[i].is_innermost && list[i].users && count++ < BASE_COUNT(pair))
			pair[count - 1] = &list[i];
	if (count != BASE_COUNT(pair) || pair[0]->frame.class_text == pair[1]->frame.class_text)
		return;
	pair[0]->other = pair[1];
	for (size_t i = 0; i < s->members.count; i++) {
		struct stuck_thread *member = base_vec_at(&s->members, struct stuck_thread, i);

		if (member->kind == CROWD_CLASS && &list[member->initializer] == pair[1]) {
			member->initializer = (uint32_t)(pair[0] - list);
			member->key_ix = pair[0]->wait->thread_ix;
		}
	}
}

int leak_find_initializers(struct stuck *s, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec users = { 0 };
	const size_t count = s->waits.list.count;
	struct heap *heap = s->q->heap;

	for (size_t i = 0; i < count; i++) {
		TRY(base_step(s->q->work, i, err));
		TRY(add_user(heap, base_vec_at(&s->waits.list, struct query_wait, i), &users, err));
	}
	for (size_t i = 0; users.count && i < count && s->initializers.count < INITIALIZERS_MAX;
	     i++) {
		TRY(base_step(s->q->work, i, err));
		TRY(add_initializers(heap, base_vec_at(&s->waits.list, struct query_wait, i),
				     &s->initializers, err));
	}
	TRY(add_waiting(s, &users, err));
	join_pair(s);
	return HDB_OK;
}

/* Appends the name of the class that an initializer initializes: "a.Rules and a.Money". */
static int add_class(struct heap *heap, const struct initializer *of, struct bytes *classes,
		     struct hdb_error *err)
{
	char frame[LEAK_FRAME_MAX];
	const char *end;

	TRY(heap_frame_text(heap, &of->frame, frame, sizeof(frame), err));
	end = strstr(frame, METHOD);
	bytes_format(classes, "%s%.*s", classes->size ? " and " : "", end ? (int)(end - frame) : 0,
		     frame);
	return HDB_OK;
}

int leak_report_class(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	BASE_SCOPED(bytes_release) struct bytes classes = { 0 };
	const struct initializer *own =
		base_vec_at(&s->initializers, struct initializer, c->members->initializer);
	const struct initializer *other = own->other;
	struct stuck_place place, owner, second;

	TRY(leak_find_owner(s, own->wait->thread_ix, &owner, err));
	if (c->count < (other || owner.call[0] ? CROWD_LEAST_OF_SLOW : CROWD_LEAST))
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	TRY(add_class(s->q->heap, own, &classes, err));
	if (other) {
		TRY(leak_find_place(s->q->heap, other->wait->thread_ix, other->wait->trace_serial,
				    &second, err));
		TRY(add_class(s->q->heap, other, &classes, err));
	}
	if (c->count == 1)
		bytes_format(&text, "Thread \"%s\" is waiting", place.name);
	else
		bytes_format(&text, "%s threads", base_number(c->count).text);
	if (c->count > 1 && place.is_pattern && place.name[0])
		bytes_format(&text, " \"%s\"", place.name);
	if (c->count > 1)
		bytes_string(&text, " are waiting");
	leak_add_place(&place, &text);
	bytes_add(&classes, "", 1);
	if (classes.failed)
		return hdb_fail_memory(err, "a string", classes.size);
	if (other)
		bytes_format(&text, " until %s are initialized: thread \"%s\" is", classes.data,
			     owner.name);
	else
		bytes_format(&text, " until %s is initialized by thread \"%s\"", classes.data,
			     owner.name);
	leak_add_place(&owner, &text);
	if (other) {
		bytes_format(&text, ", thread \"%s\"", second.name);
		leak_add_place(&second, &text);
		bytes_string(&text, ". Probably each needs the class of the other");
	}
	bytes_string(&text, ".");
	return leak_add_stuck(s, c, &text, owner.name, err);
}
