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

/* Maximum number of threads in <clinit>. More than a few at a time are unusual. */
#define INITIALIZERS_MAX 100u
#define METHOD ".<clinit>("

/* A thread that is running a static initializer. */
struct initializer {
	const struct query_wait *wait;
	struct store_frame frame, caller;
	bool is_innermost; /* whether it is in no call, so it may be waiting for a class */
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

/* Adds the innermost static initializer on the stack of a thread. */
static int add_initializer(struct heap *heap, const struct query_wait *wait, struct base_vec *list,
			   struct hdb_error *err)
{
	struct initializer new = { .wait = wait };
	struct store_trace trace;

	TRY_FOUND(heap_trace(heap, wait->trace_serial, &trace, err));
	for (uint32_t depth = 0; depth + 1 < trace.frame_count && depth < FRAMES_MAX; depth++) {
		char method[sizeof("<clinit>") + 1];

		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &new.frame, err));
		TRY(heap_text(heap, new.frame.method_text, method, sizeof(method), err));
		if (strcmp(method, "<clinit>") != 0)
			continue;
		new.is_innermost = depth == 0 && is_runnable(wait);
		TRY_FOUND(heap_trace_frame(heap, &trace, depth + 1, &new.caller, err));
		return base_vec_push(list, &new, sizeof(new), err);
	}
	return HDB_OK;
}

/*
 * Adds the threads that wait for the class of an initializer. Threads that wait for classes whose
 * initializers wait for each other belong to one group, that of the first initializer.
 */
static int add_waiting(struct stuck *s, const struct base_vec *users, struct hdb_error *err)
{
	const struct initializer *list = s->initializers.data, *first = NULL;

	for (size_t i = 0; i < s->initializers.count; i++) {
		struct stuck_thread member = { .kind = CROWD_CLASS,
					       .key_ix = list[i].wait->thread_ix };

		if (list[i].is_innermost && !first)
			first = &list[i];
		if (list[i].is_innermost)
			member.key_ix = first->wait->thread_ix;
		for (size_t k = 0; k < users->count; k++) {
			const struct user *user = base_vec_at(users, struct user, k);

			member.wait = user->wait;
			if (user->wait != list[i].wait &&
			    is_same_line(&user->frame, &list[i].caller))
				TRY(base_vec_push(&s->members, &member, sizeof(member), err));
		}
	}
	return HDB_OK;
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
		TRY(add_initializer(heap, base_vec_at(&s->waits.list, struct query_wait, i),
				    &s->initializers, err));
	}
	return add_waiting(s, &users, err);
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
	struct initializer own = { 0 }, other = { 0 };
	struct stuck_place place, owner, second;

	for (size_t i = 0; i < s->initializers.count; i++) {
		const struct initializer *in = base_vec_at(&s->initializers, struct initializer, i);

		if (in->wait->thread_ix == c->members->key_ix)
			own = *in;
		else if (own.is_innermost && in->is_innermost && !other.wait &&
			 in->frame.class_text != own.frame.class_text)
			other = *in;
	}
	assert(own.wait);
	TRY(leak_find_owner(s, own.wait->thread_ix, &owner, err));
	if (!other.wait && c->count < (owner.call[0] ? CROWD_LEAST_OF_SLOW : CROWD_LEAST))
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	TRY(add_class(s->q->heap, &own, &classes, err));
	if (other.wait) {
		TRY(leak_find_place(s->q->heap, other.wait->thread_ix, other.wait->trace_serial,
				    &second, err));
		TRY(add_class(s->q->heap, &other, &classes, err));
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
	if (other.wait)
		bytes_format(&text, " until %s are initialized: thread \"%s\" is", classes.data,
			     owner.name);
	else
		bytes_format(&text, " until %s is initialized by thread \"%s\"", classes.data,
			     owner.name);
	leak_add_place(&owner, &text);
	if (other.wait) {
		bytes_format(&text, ", thread \"%s\"", second.name);
		leak_add_place(&second, &text);
		bytes_string(&text, ". Probably each needs the class of the other");
	}
	bytes_string(&text, ".");
	return leak_add_stuck(s, c, &text, owner.name, err);
}
