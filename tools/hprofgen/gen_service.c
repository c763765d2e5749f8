/*
 * gen_service.c - a web shop's heap: concurrent maps of sessions, each session with strings,
 * maps, lists, boxed values and entities of a thousand classes; worker threads with stacks; weak
 * and soft references, finalizers; a few objects in a thousand are garbage.
 *
 * A session and all that is its own fills a slice of 4 KB of the heap; the map's entry comes
 * first in it. So the address of any session is arithmetic, and nothing but one slice is in memory.
 */
#include "gen_service_classes.h"
#include "gen_session.h"
#include "gen_shapes.h"

#include <stdlib.h>

#define TRIALS 256u /* sessions planned to learn how many objects one has */
#define THREADS 48u
#define STACK 12u /* frames a thread */
#define FINALIZERS 16u
#define INVERSE_ROUNDS 5

static void declare(struct gen_run *run)
{
	struct service *s = gen_checked(calloc(1, sizeof(*s)));

	run->state = s;
	s->batch = gen_batch_new(&run->world);
	gen_service_declare(&run->world);
}

static void release(struct gen_run *run)
{
	struct service *s = run->state;

	gen_batch_free(s->batch);
	free(s);
}

/* How many objects a session has on average, by planning some for nothing. */
static uint64_t count_sessions(struct gen_run *run)
{
	struct service *s = run->state;
	const uint64_t next = run->world.next;
	uint64_t objects = 0;

	s->sessions = 1;
	for (uint64_t i = 0; i < TRIALS; i++) {
		gen_batch_clear(s->batch);
		gen_plan_session(run, i);
		objects += s->batch->count;
		run->world.next = next;
	}
	return run->objects * TRIALS / objects + 1;
}

/* ---- what holds the sessions ---- */

static void plan_names(struct gen_run *run)
{
	struct service *s = run->state;
	const uint32_t pool = gen_plan_array(run->batch, GEN_STRING_ARRAY_CLASS, GEN_NAMES);

	for (uint32_t i = 0; i < GEN_NAMES; i++) {
		const uint32_t text = gen_plan_letters(run->batch, 3 + i % 20, gen_hash(~i, 1));

		gen_link(run->batch, pool, i, text);
		s->names[i] = gen_planned_id(run->batch, text);
	}
	gen_class_static(&run->world, SVC_NAMES, "POOL", gen_planned_id(run->batch, pool));
}

static void plan_loaders(struct gen_run *run)
{
	for (unsigned i = 0; i < SVC_WEBAPPS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "/shop%u", i);
		gen_plan_loader(run->batch, GEN_FIRST_OWN_LOADER + i, SVC_WEBAPP_LOADER, name);
		gen_root(&run->world, GEN_ROOT_JNI_GLOBAL,
			 run->world.loader_ids[GEN_FIRST_OWN_LOADER + i], 0x2000 + 8 * i, 0);
	}
}

static void plan_finalizers(struct gen_run *run)
{
	struct gen_batch *b = run->batch;
	struct service *s = run->state;
	const uint32_t queue = gen_plan_instance(b, SVC_QUEUE);
	const uint32_t inherited = run->world.classes[SVC_FINALIZER].field_count;
	uint32_t last = 0;

	s->queue = gen_planned_id(b, queue);
	gen_class_static(&run->world, SVC_QUEUE, "NULL", s->queue);
	for (uint32_t i = 0; i < FINALIZERS; i++) {
		const uint32_t finalizer = gen_plan_instance(b, SVC_FINALIZER);

		gen_link(b, finalizer, inherited, gen_plan_instance(b, SVC_ATOMIC_LONG));
		gen_link(b, finalizer, inherited + 1, queue);
		if (i) {
			gen_link(b, finalizer, 1, last);
			gen_link(b, last, 0, finalizer);
		} else {
			gen_class_static(&run->world, SVC_FINALIZER, "unfinalized",
					 gen_planned_id(b, finalizer));
		}
		last = finalizer;
	}
}

/* The manager and its maps; returns the array of maps, whose tables come with plan_tables. */
static uint32_t plan_maps(struct gen_run *run)
{
	struct gen_batch *b = run->batch;
	const uint32_t manager = gen_plan_instance(b, SVC_MANAGER);
	const uint32_t maps = gen_plan_array(b, GEN_OBJECT_ARRAY_CLASS, GEN_MAPS);

	gen_link(b, manager, 0, maps);
	gen_class_static(&run->world, SVC_MANAGER, "INSTANCE", gen_planned_id(b, manager));
	for (uint32_t i = 0; i < GEN_MAPS; i++)
		gen_link(b, maps, i, gen_plan_instance(b, SVC_CONCURRENT_MAP));
	return maps;
}

static void plan_tables(struct gen_run *run, uint32_t first_map)
{
	struct service *s = run->state;

	s->table_length = 16;
	while (s->table_length * GEN_MAPS < s->sessions + GEN_MAPS)
		s->table_length *= 2;
	for (uint32_t i = 0; i < GEN_MAPS; i++) {
		s->tables[i] = gen_take(&run->world,
					gen_array_bytes(&run->world, GEN_OBJECT, s->table_length));
		*gen_planned_value(run->batch, first_map + i, SVC_MAP_TABLE) = s->tables[i];
		*gen_planned_value(run->batch, first_map + i, SVC_MAP_SIZE) =
			s->sessions / GEN_MAPS;
	}
}

/* A worker's stack holds a session here and there; one thread is in a monitor. */
static void plan_stacks(struct gen_run *run, const uint64_t *threads)
{
	static const char *const methods[] = { "run",  "handle", "invoke", "doFilter", "service",
					       "load", "apply",  "get",    "render",   "find" };
	struct service *s = run->state;
	struct gen_world *w = &run->world;

	for (uint32_t t = 0; t < THREADS; t++) {
		const uint32_t serial = gen_thread(w, threads[t]);

		for (uint32_t depth = 0; depth < STACK; depth++) {
			const uint64_t random = gen_hash(w->seed ^ t, depth);
			const uint32_t class_no =
				depth == STACK - 1 ?
					GEN_THREAD :
					SVC_FIRST_RULED + (uint32_t)(random % SVC_RULED);

			gen_thread_frame(w, serial, class_no,
					 methods[depth == STACK - 1 ? 0 : random >> 16 & 7],
					 20 + (uint32_t)(random >> 24) % 900);
			if (random % 3 == 0)
				gen_root(w, GEN_ROOT_JAVA_FRAME,
					 gen_session_id(run, gen_below(random, s->sessions)),
					 serial, depth);
		}
		gen_root(w, GEN_ROOT_JNI_LOCAL, threads[t], serial, 0);
	}
	gen_root(w, GEN_ROOT_MONITOR, gen_session_id(run, 0), 0, 0);
}

static bool plan(struct gen_run *run)
{
	struct service *s = run->state;
	uint64_t threads[THREADS];
	uint32_t maps;

	plan_loaders(run);
	plan_names(run);
	plan_finalizers(run);
	maps = plan_maps(run);
	for (uint32_t t = 0; t < THREADS; t++) {
		char name[32];
		uint32_t thread;

		(void)snprintf(name, sizeof(name), "http-worker-%u", t + 1);
		thread = gen_plan_thread(run->batch, &run->base, name,
					 GEN_FIRST_OWN_LOADER + t % SVC_WEBAPPS);
		threads[t] = gen_planned_id(run->batch, thread);
	}
	s->sessions = count_sessions(run);
	plan_tables(run, maps + 1);
	s->first = gen_take(&run->world, s->sessions * GEN_SESSION_BYTES);
	plan_stacks(run, threads);
	return true;
}

/* ---- writing ---- */

struct table {
	const struct service *s;
	uint64_t map;
	uint64_t inverse; /* of SCATTER, modulo any power of two */
};

#define SCATTER UINT64_C(0x9e3779b1) /* the j-th session of a map lies in bucket j * SCATTER */

static uint64_t bucket(void *ctx, uint64_t i)
{
	const struct table *t = ctx;
	const uint64_t j = i * t->inverse & (t->s->table_length - 1);
	const uint64_t session = j * GEN_MAPS + t->map;

	return session < t->s->sessions ? t->s->first + session * GEN_SESSION_BYTES : 0;
}

static void write_service(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	struct service *s = run->state;
	struct table table = { .s = s, .inverse = SCATTER };

	for (int i = 0; i < INVERSE_ROUNDS; i++)
		table.inverse *= 2 - SCATTER * table.inverse;
	for (; table.map < GEN_MAPS; table.map++)
		gen_object_array(
			w, SVC_CONCURRENT_NODE_ARRAY, s->tables[table.map],
			&(struct gen_elements){ (uint32_t)s->table_length, bucket, &table });
	for (uint64_t i = 0; i < s->sessions && gen_world_fits(w); i++) {
		const uint64_t end = w->next;

		w->next = s->first + i * GEN_SESSION_BYTES;
		gen_batch_clear(s->batch);
		gen_plan_session(run, i);
		gen_batch_write(s->batch);
		w->next = end;
	}
}

const struct gen_shape gen_service = {
	"service",     "a web shop: sessions in maps, 1,000 classes, threads, references, garbage",
	declare,       plan,
	write_service, NULL,
	release,
};
