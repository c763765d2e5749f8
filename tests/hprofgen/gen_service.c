/*
 * gen_service.c - the heap of a service that keeps sessions: one table of buckets of map entries,
 * each with a key and a session of a user, an address and a cart; sessions share products and
 * cities and some refer to an earlier session. 46 bytes and 1.8 references per object in the file.
 *
 * The objects of a session are adjacent, as a JVM allocates them, so addresses can be computed.
 */
#include "gen_shapes.h"

#include <inttypes.h>
#include <stdlib.h>

#define CART_LINES 4u
#define UNIT_OBJECTS (7u + CART_LINES) /* all objects of one session */
#define BUCKET_SESSIONS 1000u
#define PRODUCT_SESSIONS 1000u /* sessions per product */
#define CITY_SESSIONS 100000u  /* sessions per city */
#define LAST_ONE_IN 8u         /* so many sessions have one that refers to another session */
#define ANSWERS_MAX 10000u

enum { PRODUCT, CITY, ENTRY, KEY, SESSION, USER, NAME, ADDRESS, LINE, CLASS_COUNT };

struct service {
	uint64_t sessions, buckets, products, cities;
	uint64_t table, catalogue; /* addresses of the two arrays that roots hold */
	uint64_t bucket_base, product_base, city_base, unit_base;
	uint64_t bucket_bytes, unit_bytes, cart_bytes;
	uint64_t bytes[CLASS_COUNT]; /* of an instance */
	unsigned class_no[CLASS_COUNT];
	uint64_t bucket; /* the one being written */
};

static void declare(struct gen_run *run)
{
	static const struct {
		const char *name;
		const char *references[GEN_FIELDS_MAX];
		unsigned reference_count;
	} classes[CLASS_COUNT] = {
		[PRODUCT] = { "hprofgen/Product", { NULL }, 0 },
		[CITY] = { "hprofgen/City", { NULL }, 0 },
		[ENTRY] = { "hprofgen/Entry", { "key", "value" }, 2 },
		[KEY] = { "hprofgen/Key", { NULL }, 0 },
		[SESSION] = { "hprofgen/Session", { "user", "cart", "last" }, 3 },
		[USER] = { "hprofgen/User", { "name", "address" }, 2 },
		[NAME] = { "hprofgen/Name", { NULL }, 0 },
		[ADDRESS] = { "hprofgen/Address", { "city" }, 1 },
		[LINE] = { "hprofgen/Line", { "product", "session" }, 2 },
	};
	struct service *s = gen_checked(calloc(1, sizeof(*s)));

	run->state = s;
	for (unsigned k = 0; k < CLASS_COUNT; k++)
		s->class_no[k] = gen_class(&run->world, classes[k].name, classes[k].references,
					   classes[k].reference_count, true);
}

static bool plan(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	struct service *s = run->state;

	s->sessions = (run->objects + UNIT_OBJECTS - 1) / UNIT_OBJECTS;
	s->buckets = (s->sessions + BUCKET_SESSIONS - 1) / BUCKET_SESSIONS;
	s->products = s->sessions / PRODUCT_SESSIONS + 1;
	s->cities = s->sessions / CITY_SESSIONS + 1;
	for (unsigned k = 0; k < CLASS_COUNT; k++)
		s->bytes[k] = gen_instance_bytes(w, s->class_no[k]);
	s->bucket_bytes = gen_array_bytes(w, BUCKET_SESSIONS);
	s->cart_bytes = gen_array_bytes(w, CART_LINES);
	for (unsigned k = ENTRY; k <= ADDRESS; k++)
		s->unit_bytes += s->bytes[k];
	s->unit_bytes += s->cart_bytes + CART_LINES * s->bytes[LINE];

	s->table = gen_take(w, gen_array_bytes(w, s->buckets));
	s->catalogue = gen_take(w, gen_array_bytes(w, s->products + s->cities));
	s->bucket_base = gen_take(w, s->buckets * s->bucket_bytes);
	s->product_base = gen_take(w, s->products * s->bytes[PRODUCT]);
	s->city_base = gen_take(w, s->cities * s->bytes[CITY]);
	s->unit_base = gen_take(w, s->sessions * s->unit_bytes);
	gen_root(w, s->table);
	gen_root(w, s->catalogue);
	return true;
}

/* The address of session i's object of this class; carts lie after addresses, lines after them. */
static uint64_t part_id(const struct service *s, uint64_t i, unsigned class_no)
{
	uint64_t id = s->unit_base + i * s->unit_bytes;

	for (unsigned k = ENTRY; k < class_no && k <= ADDRESS; k++)
		id += s->bytes[k];
	return id;
}

static uint64_t cart_id(const struct service *s, uint64_t i)
{
	return part_id(s, i, ADDRESS) + s->bytes[ADDRESS];
}

static uint64_t line_id(const struct service *s, uint64_t i, uint64_t k)
{
	return cart_id(s, i) + s->cart_bytes + k * s->bytes[LINE];
}

/* ---- elements of the arrays ---- */

static uint64_t bucket_of_table(void *ctx, uint64_t i)
{
	const struct service *s = ctx;

	return s->bucket_base + i * s->bucket_bytes;
}

static uint64_t shared_of_catalogue(void *ctx, uint64_t i)
{
	const struct service *s = ctx;

	return i < s->products ? s->product_base + i * s->bytes[PRODUCT] :
				 s->city_base + (i - s->products) * s->bytes[CITY];
}

static uint64_t entry_of_bucket(void *ctx, uint64_t i)
{
	const struct service *s = ctx;
	const uint64_t session = s->bucket * BUCKET_SESSIONS + i;

	return session < s->sessions ? part_id(s, session, ENTRY) : 0;
}

struct cart {
	const struct service *s;
	uint64_t session;
};

static uint64_t line_of_cart(void *ctx, uint64_t k)
{
	const struct cart *cart = ctx;

	return line_id(cart->s, cart->session, k);
}

/* ---- writing ---- */

/* What instances without references hand over. */
static const uint64_t no_refs[1];

static void write_instance(struct gen_run *run, unsigned class_no, uint64_t id,
			   const uint64_t *refs, uint64_t number)
{
	struct gen_world *w = &run->world;
	const struct service *s = run->state;
	const unsigned ref_count = w->classes[s->class_no[class_no]].reference_count;
	uint8_t *p = gen_instance(w, s->class_no[class_no], id);

	for (unsigned k = 0; k < ref_count; k++)
		p = gen_id(&w->file, p, refs[k]);
	(void)gen_u4(p, (uint32_t)number);
}

static void write_session(struct gen_run *run, uint64_t i)
{
	struct gen_world *w = &run->world;
	struct service *s = run->state;
	const uint64_t random = gen_hash(w->seed ^ 0x53455256, i);
	const uint64_t session = part_id(s, i, SESSION);
	const uint64_t last = i && random % LAST_ONE_IN == 0 ?
				      part_id(s, gen_below(gen_hash(random, 1), i), SESSION) :
				      0;
	const uint64_t city =
		s->city_base + gen_below(gen_hash(random, 2), s->cities) * s->bytes[CITY];

	write_instance(run, ENTRY, part_id(s, i, ENTRY),
		       (uint64_t[]){ part_id(s, i, KEY), session }, i);
	write_instance(run, KEY, part_id(s, i, KEY), no_refs, i);
	write_instance(run, SESSION, session,
		       (uint64_t[]){ part_id(s, i, USER), cart_id(s, i), last }, i);
	write_instance(run, USER, part_id(s, i, USER),
		       (uint64_t[]){ part_id(s, i, NAME), part_id(s, i, ADDRESS) }, i);
	write_instance(run, NAME, part_id(s, i, NAME), no_refs, i);
	write_instance(run, ADDRESS, part_id(s, i, ADDRESS), &city, i);
	gen_object_array(
		w, cart_id(s, i),
		&(struct gen_elements){ CART_LINES, line_of_cart, &(struct cart){ s, i } });
	for (unsigned k = 0; k < CART_LINES; k++) {
		const uint64_t product = gen_below(gen_hash(random, 3 + k), s->products);

		write_instance(
			run, LINE, line_id(s, i, k),
			(uint64_t[]){ s->product_base + product * s->bytes[PRODUCT], session }, k);
	}
}

static void write_objects(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	struct service *s = run->state;

	gen_object_array(w, s->table,
			 &(struct gen_elements){ (uint32_t)s->buckets, bucket_of_table, s });
	gen_object_array(w, s->catalogue,
			 &(struct gen_elements){ (uint32_t)(s->products + s->cities),
						 shared_of_catalogue, s });
	for (s->bucket = 0; s->bucket < s->buckets; s->bucket++)
		gen_object_array(w, bucket_of_table(s, s->bucket),
				 &(struct gen_elements){ BUCKET_SESSIONS, entry_of_bucket, s });
	for (uint64_t i = 0; i < s->products; i++)
		write_instance(run, PRODUCT, s->product_base + i * s->bytes[PRODUCT], no_refs, i);
	for (uint64_t i = 0; i < s->cities; i++)
		write_instance(run, CITY, s->city_base + i * s->bytes[CITY], no_refs, i);
	for (uint64_t i = 0; i < s->sessions; i++)
		write_session(run, i);
}

/* The table, which retains all sessions, and users: each is reachable by its session alone. */
static void answers(const struct gen_run *run, FILE *out)
{
	const struct service *s = run->state;
	const uint64_t count = s->sessions < ANSWERS_MAX ? s->sessions : ANSWERS_MAX;

	fprintf(out, "0x%" PRIx64 "\t%" PRIu64 "\t0x0\n", s->table,
		gen_array_bytes(&run->world, s->buckets) + s->buckets * s->bucket_bytes +
			s->sessions * s->unit_bytes);
	for (uint64_t k = 0; k < count; k++) {
		const uint64_t i = count < 2 ? 0 : k * (s->sessions - 1) / (count - 1);

		fprintf(out, "0x%" PRIx64 "\t%" PRIu64 "\t0x%" PRIx64 "\n", part_id(s, i, USER),
			s->bytes[USER] + s->bytes[NAME] + s->bytes[ADDRESS],
			part_id(s, i, SESSION));
	}
}

static void release(struct gen_run *run)
{
	free(run->state);
}

const struct gen_shape gen_service = {
	"service",     "sessions in a table, with shared products and cities",
	declare,       plan,
	write_objects, answers,
	release,
};
