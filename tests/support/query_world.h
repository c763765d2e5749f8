/*
 * query_world.h - a small random heap as a dump and as arrays, for the tests of queries.
 *
 * Every class object is a root, so only instances determine which objects hold others. Sizes come
 * from the database.
 */
#ifndef QUERY_WORLD_H
#define QUERY_WORLD_H

#include "support/query_ask.h"

#define WORLD_NODES_MAX 600
#define WORLD_EDGES 3
#define WORLD_FIRST 0x10000u
#define WORLD_STEP 32u
#define WORLD_CLASSES 6

enum { WORLD_OBJECT = 0x1000, WORLD_CLASS = 0x1100, WORLD_OWN = 0x2000 };

/*
 * The classes of the nodes: a.One, classes a.Two and b.Three that extend it, a class of the class
 * loader, and a class without a package.
 */
static const struct world_class {
	const char *name, *package;
	/* number of the superclass among these classes, or -1 for java.lang.Object */
	int super;
	bool has_loader; /* node 0 is the class loader of the class */
} world_classes[WORLD_CLASSES] = {
	{ "a/One", "a", -1, false },       { "a/Two", "a", 0, false },
	{ "b/Three", "b", 1, false },      { "b/c/Four", "b.c", -1, true },
	{ "Five", "<unnamed>", -1, true }, { "a/Loader", "a", -1, false },
};

/*
 * If not 0, the next dump has an unreachable array with this many references, which refer to one
 * node after the other, repeatedly.
 */
static uint32_t world_array_size;
/* Half of the nodes of the next world are in one Android heap, and half in another. */
static bool world_has_heaps;

/*
 * If set, the next dump is kept for queries that need its bytes, until another dump overwrites it.
 */
static bool world_keeps_dump;

struct world {
	uint32_t n;
	uint32_t edge[WORLD_NODES_MAX][WORLD_EDGES]; /* WORLD_NODES_MAX: null */
	uint8_t class_no[WORLD_NODES_MAX];
	bool is_root[WORLD_NODES_MAX];
	bool is_reachable[WORLD_NODES_MAX];
	uint64_t shallow[WORLD_NODES_MAX];
	char db_path[512];
	struct hdb *db;
};

static inline uint64_t world_id(uint32_t node)
{
	return WORLD_FIRST + (uint64_t)node * WORLD_STEP;
}

/* ---- the oracle ---- */

static inline bool world_refers(const struct world *w, uint32_t from, uint32_t to)
{
	for (uint32_t e = 0; e < WORLD_EDGES; e++)
		if (w->edge[from][e] == to)
			return true;
	return false;
}

/* Whether a class of the world is `super` or extends it. */
static inline bool world_is_sub(int class_no, int super)
{
	for (; class_no >= 0; class_no = world_classes[class_no].super)
		if (class_no == super)
			return true;
	return false;
}

/* Marks the nodes that the roots reach without entering a node in `blocked` (NULL: no node). */
static inline void world_reach(const struct world *w, const bool *blocked, bool *reached)
{
	uint32_t stack[WORLD_NODES_MAX], depth = 0;

	memset(reached, 0, w->n * sizeof(*reached));
	for (uint32_t v = 0; v < w->n; v++) {
		if (!w->is_root[v] || (blocked && blocked[v]))
			continue;
		reached[v] = true;
		stack[depth++] = v;
	}
	while (depth) {
		const uint32_t v = stack[--depth];

		for (uint32_t e = 0; e < WORLD_EDGES; e++) {
			const uint32_t to = w->edge[v][e];

			if (to >= w->n || reached[to] || (blocked && blocked[to]))
				continue;
			reached[to] = true;
			stack[depth++] = to;
		}
	}
}

/* Computes the nodes that the set retains. */
static inline uint64_t world_retained(const struct world *w, const bool *set, uint64_t *count)
{
	bool reached[WORLD_NODES_MAX];
	uint64_t bytes = 0;

	world_reach(w, set, reached);
	*count = 0;
	for (uint32_t v = 0; v < w->n; v++) {
		if (w->is_reachable[v] && !reached[v]) {
			bytes += w->shallow[v];
			(*count)++;
		}
	}
	return bytes;
}

static inline uint64_t world_retained_one(const struct world *w, uint32_t v)
{
	bool set[WORLD_NODES_MAX] = { false };
	uint64_t count;

	set[v] = true;
	return world_retained(w, set, &count);
}

/* Sum over the members that no other member dominates. */
static inline uint64_t world_bound(const struct world *w, const bool *set)
{
	bool covered[WORLD_NODES_MAX] = { false };
	uint64_t bytes = 0;

	for (uint32_t d = 0; d < w->n; d++) {
		bool one[WORLD_NODES_MAX] = { false }, reached[WORLD_NODES_MAX];

		if (!set[d] || !w->is_reachable[d])
			continue;
		one[d] = true;
		world_reach(w, one, reached);
		for (uint32_t v = 0; v < w->n; v++)
			if (v != d && w->is_reachable[v] && !reached[v])
				covered[v] = true;
	}
	for (uint32_t v = 0; v < w->n; v++)
		if (set[v] && w->is_reachable[v] && !covered[v])
			bytes += world_retained_one(w, v);
	return bytes;
}

/* ---- the dump ---- */

static inline void world_write(const struct world *w, const char *path)
{
	const struct hprof_field fields[WORLD_EDGES] = {
		{ 1, HPROF_OBJECT },
		{ 1, HPROF_OBJECT },
		{ 1, HPROF_OBJECT },
	};
	const struct hw_class object = { .id = WORLD_OBJECT };
	const struct hw_class class = { .id = WORLD_CLASS, .super_id = WORLD_OBJECT };
	struct hw out;

	hw_init(&out, HPROF_1_0_2, 8, 0);
	hw_utf8(&out, 1, "next");
	hw_utf8(&out, 2, "java/lang/Object");
	hw_utf8(&out, 3, "java/lang/Class");
	hw_utf8(&out, 4, "zygote");
	hw_utf8(&out, 5, "app");
	hw_load_class(&out, 1, WORLD_OBJECT, 0, 2);
	hw_load_class(&out, 2, WORLD_CLASS, 0, 3);
	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		hw_utf8(&out, 10 + c, world_classes[c].name);
		hw_load_class(&out, 10 + c, WORLD_OWN + c * 0x100u, 0, 10 + c);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_class(&out, &object);
	hw_class(&out, &class);
	hw_root(&out, HPROF_ROOT_STICKY_CLASS, WORLD_OBJECT, 0, 0);
	hw_root(&out, HPROF_ROOT_STICKY_CLASS, WORLD_CLASS, 0, 0);
	for (unsigned c = 0; c < WORLD_CLASSES; c++) {
		const int super = world_classes[c].super;
		const struct hw_class own = {
			.id = WORLD_OWN + c * 0x100u,
			.super_id = super < 0 ? (uint64_t)WORLD_OBJECT :
						(uint64_t)WORLD_OWN + (uint64_t)super * 0x100u,
			.loader_id = world_classes[c].has_loader ? world_id(0) : 0,
			.fields = fields,
			.field_count = super < 0 ? WORLD_EDGES : 0,
		};

		hw_class(&out, &own);
		hw_root(&out, HPROF_ROOT_STICKY_CLASS, own.id, 0, 0);
	}
	for (uint32_t v = 0; v < w->n; v++) {
		uint8_t body[WORLD_EDGES * 8];

		if (world_has_heaps && (v == 0 || v == w->n / 2))
			hw_heap_info(&out, v ? 'Z' : 'A', v ? 4 : 5);
		for (unsigned e = 0; e < WORLD_EDGES; e++) {
			const uint32_t to = w->edge[v][e];
			const uint64_t id = to < w->n ? world_id(to) : 0;

			for (unsigned b = 0; b < 8; b++)
				body[e * 8 + b] = (uint8_t)(id >> (56 - 8 * b));
		}
		hw_instance(&out, world_id(v), WORLD_OWN + w->class_no[v] * 0x100u, body,
			    sizeof(body));
		if (w->is_root[v])
			hw_root(&out, HPROF_ROOT_JNI_GLOBAL, world_id(v), 0, 0);
	}
	if (world_array_size) {
		uint64_t *elements = calloc(world_array_size, sizeof(*elements));

		assert_non_null(elements);
		for (uint32_t i = 0; i < world_array_size; i++)
			elements[i] = world_id(i % w->n);
		hw_object_array(&out, world_id(w->n), WORLD_OBJECT, elements, world_array_size);
		free(elements);
	}
	hw_end(&out);
	hw_heap_dump_end(&out);
	assert_int_equal(hw_save(&out, path), 0);
	hw_release(&out);
}

/*
 * Creates a world of n nodes, and a database of it that has only base tables. Node 0 is a class
 * loader and a root.
 */
static inline void world_make(struct world *w, uint32_t n, uint64_t *seed)
{
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT, .threads = 1 };
	struct hdb_error err = { 0 };
	const char *dump = temp_path("world.hprof");

	memset(w, 0, sizeof(*w));
	w->n = n;
	for (uint32_t v = 0; v < n; v++) {
		w->class_no[v] = (uint8_t)(test_random(seed) % (WORLD_CLASSES - 1));
		w->is_root[v] = test_random(seed) % 12 == 0;
		for (unsigned e = 0; e < WORLD_EDGES; e++)
			w->edge[v][e] = test_random(seed) % 3 ? (uint32_t)(test_random(seed) % n) :
								WORLD_NODES_MAX;
	}
	w->class_no[0] = WORLD_CLASSES - 1;
	w->is_root[0] = true;
	world_reach(w, NULL, w->is_reachable);
	(void)snprintf(w->db_path, sizeof(w->db_path), "%s", temp_path("world.heapdb"));
	world_write(w, dump);
	if (hdb_import(dump, w->db_path, &opt, NULL, &err) < 0 ||
	    hdb_open(w->db_path, NULL, &w->db, &err) < 0)
		fail_msg("%s", err.message);
	for (uint32_t v = 0; v < n; v++) {
		struct hdb_object_info info = { .struct_size = sizeof(info) };

		assert_int_equal(hdb_object(w->db, world_id(v), &info, &err), HDB_OK);
		w->shallow[v] = info.shallow_bytes;
	}
	if (!world_keeps_dump)
		(void)unlink(dump);
}

static inline void world_free(struct world *w)
{
	hdb_close(w->db);
	temp_remove_db(w->db_path);
}

/* Returns the seed of a run and prints it. HDB_SEED=N repeats the run. */
static inline uint64_t world_seed(void)
{
	const char *text = getenv("HDB_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);

	if (!seed)
		seed = 1;
	print_message("HDB_SEED=%" PRIu64 "\n", seed);
	return seed;
}

#endif
