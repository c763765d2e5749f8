/*
 * gen_session.c - a session: its entry in a map, its user, a cart and a log of items; an item in
 * 150 is garbage.
 */
#include "gen_session.h"

#include "gen_service_classes.h"

#include <assert.h>

#define ITEM_BYTES 640u /* most that one item takes, with its link */
#define CART_ROOM 24u

/* The session being planned. */
struct session {
	uint32_t object;
	uint32_t cart, cart_count; /* the array list's array, and what is in it */
	uint32_t list, list_count; /* the linked list */
	uint32_t last_link;
};

static uint64_t draw(struct service *s)
{
	s->random = gen_hash(s->random, 1);
	return s->random;
}

uint64_t gen_session_id(const struct gen_run *run, uint64_t session)
{
	const struct service *s = run->state;

	return s->first + session * GEN_SESSION_BYTES +
	       gen_instance_bytes(&run->world, SVC_CONCURRENT_NODE);
}

/* ---- the items of a session ---- */

static uint64_t any_string(struct service *s)
{
	const uint64_t random = draw(s);

	if (random & 1)
		return s->names[random >> 8 & (GEN_NAMES - 1)];
	return gen_planned_id(s->batch,
			      gen_plan_letters(s->batch, 4 + (uint32_t)(random >> 8) % 44, random));
}

static uint64_t any_value(struct gen_run *run)
{
	struct service *s = run->state;
	const uint64_t random = draw(s);
	uint32_t object;

	if (random % 8 < 3)
		return run->base.integers[random >> 8 & (GEN_SMALL_INTEGERS - 1)];
	if (random % 8 < 5)
		return any_string(s);
	object = gen_plan_instance(s->batch, random % 8 == 5 ? GEN_INTEGER :
					     random % 8 == 6 ? GEN_LONG_CLASS :
							       SVC_DATE);
	*gen_planned_value(s->batch, object, 0) = random >> 8;
	return gen_planned_id(s->batch, object);
}

static uint32_t plan_map(struct gen_run *run, uint32_t count)
{
	struct service *s = run->state;
	struct gen_batch *b = s->batch;
	const uint32_t map = gen_plan_instance(b, SVC_HASH_MAP);
	const uint32_t table = gen_plan_array(b, SVC_HASH_NODE_ARRAY, 16);

	gen_link(b, map, SVC_MAP_TABLE, table);
	*gen_planned_value(b, map, SVC_MAP_SIZE) = count;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t node = gen_plan_instance(b, SVC_HASH_NODE);
		const uint64_t random = draw(s);
		uint64_t *bucket = gen_planned_value(b, table, random & 15);

		*gen_planned_value(b, node, SVC_NODE_HASH) = random & 0x7fffffff;
		*gen_planned_value(b, node, SVC_NODE_NEXT) = *bucket;
		*bucket = gen_planned_id(b, node);
		*gen_planned_value(b, node, SVC_NODE_KEY) =
			s->names[random >> 32 & (GEN_NAMES - 1)];
		*gen_planned_value(b, node, SVC_NODE_VALUE) = any_value(run);
	}
	return map;
}

/* An entity of a class by rule; few of these classes have most of the instances. */
static uint32_t plan_entity(struct gen_run *run, const struct session *session)
{
	struct service *s = run->state;
	const uint64_t random = draw(s);
	const uint64_t third = gen_below(random << 32, 1000) * gen_below(random << 16, 1000) /
			       1000 * gen_below(random, 1000) / 1000;
	const uint32_t class_no = SVC_FIRST_RULED + (uint32_t)(third * SVC_RULED / 1000);
	const struct gen_class *c = &run->world.classes[class_no];
	const uint32_t entity = gen_plan_instance(s->batch, class_no);
	unsigned own_values = 0;

	for (unsigned i = 0; i < c->value_count; i++) {
		const uint64_t choice = draw(s);
		uint64_t value = choice >> 24;

		if (c->value_types[i] == GEN_OBJECT && choice % 8 < 3)
			value = 0;
		else if (c->value_types[i] == GEN_OBJECT && choice % 8 < 6 && own_values++ < 4)
			value = any_value(run);
		else if (c->value_types[i] == GEN_OBJECT)
			value = gen_planned_id(s->batch, session->object);
		*gen_planned_value(s->batch, entity, i) = value;
	}
	return entity;
}

static uint32_t plan_decimal(struct service *s)
{
	const uint32_t decimal = gen_plan_instance(s->batch, SVC_BIG_DECIMAL);
	const uint32_t integer = gen_plan_instance(s->batch, SVC_BIG_INTEGER);
	const uint32_t mag = gen_plan_primitive(s->batch, GEN_INT, 1 + (uint32_t)(draw(s) & 3));

	gen_link(s->batch, decimal, SVC_DECIMAL_VALUE, integer);
	gen_link(s->batch, integer, SVC_BIG_MAG, mag);
	return decimal;
}

static uint32_t plan_reference(struct gen_run *run, const struct session *session)
{
	struct service *s = run->state;
	const uint32_t class_no = draw(s) & 1 ? SVC_WEAK : SVC_SOFT;
	const uint32_t reference = gen_plan_instance(s->batch, class_no);
	const uint32_t first = run->world.classes[class_no].field_count;

	gen_link(s->batch, reference, first, plan_entity(run, session));
	*gen_planned_value(s->batch, reference, first + 1) = s->queue;
	return reference;
}

static uint32_t plan_buffer(struct service *s)
{
	static const uint8_t types[] = { GEN_BYTE, GEN_BYTE, GEN_CHAR, GEN_INT };
	const uint64_t random = draw(s);
	const uint8_t type = types[random & 3];
	const uint32_t size = 64 + (uint32_t)(random >> 8) % 192;
	const uint32_t buffer = gen_plan_primitive(s->batch, type, size / gen_type_size(type, 8));
	const struct gen_planned *planned = &s->batch->objects[buffer];

	gen_noise(&s->batch->bytes[planned->first],
		  (size_t)planned->length * gen_type_size(type, 8), random);
	return buffer;
}

static uint32_t plan_item(struct gen_run *run, const struct session *session)
{
	struct service *s = run->state;
	const uint64_t choice = draw(s) % 64;
	uint64_t elements[4];

	if (choice < 24)
		return plan_entity(run, session);
	if (choice < 38)
		return gen_plan_letters(s->batch, 5 + (uint32_t)(draw(s) % 60), draw(s));
	if (choice < 44)
		return plan_map(run, 1 + (uint32_t)(draw(s) % 4));
	if (choice < 50) {
		for (unsigned i = 0; i < 4; i++)
			elements[i] = any_value(run);
		return gen_plan_list(s->batch, elements, 4, 10);
	}
	if (choice < 54)
		return plan_buffer(s);
	if (choice < 58)
		return plan_decimal(s);
	if (choice < 59)
		return plan_reference(run, session);
	return gen_plan_instance(s->batch, choice < 61 ? SVC_ATOMIC_LONG :
					   choice < 63 ? SVC_UUID :
							 SVC_DOUBLE);
}

/* ---- a session ---- */

static uint32_t plan_user(struct service *s)
{
	struct gen_batch *b = s->batch;
	const uint32_t user = gen_plan_instance(b, SVC_USER);
	const uint32_t address = gen_plan_instance(b, SVC_ADDRESS);
	uint64_t roles[3];
	uint64_t text;

	for (unsigned i = 0; i < 3; i++)
		roles[i] = s->names[draw(s) & 15];
	gen_link(b, user, SVC_USER_ADDRESS, address);
	gen_link(b, user, SVC_USER_ROLES, gen_plan_list(b, roles, 3, 10));
	gen_link(b, user, SVC_USER_NAME, gen_plan_letters(b, 12, draw(s)));
	gen_link(b, user, SVC_USER_EMAIL, gen_plan_letters(b, 24, draw(s)));
	text = any_string(s);
	*gen_planned_value(b, address, SVC_ADDRESS_STREET) = text;
	*gen_planned_value(b, address, SVC_ADDRESS_CITY) = s->names[draw(s) & (GEN_NAMES - 1)];
	return user;
}

/* Puts an item into the cart, or at the end of the log. */
static void keep(struct service *s, struct session *session, uint32_t item)
{
	struct gen_batch *b = s->batch;
	uint32_t link;

	if (session->cart_count < CART_ROOM && (draw(s) & 1)) {
		gen_link(b, session->cart, session->cart_count++, item);
		return;
	}
	link = gen_plan_instance(b, SVC_LINKED_NODE);
	gen_link(b, link, SVC_LINK_ITEM, item);
	if (session->list_count++) {
		gen_link(b, link, SVC_LINK_PREV, session->last_link);
		gen_link(b, session->last_link, SVC_LINK_NEXT, link);
	} else {
		gen_link(b, session->list, SVC_LINKED_FIRST, link);
	}
	gen_link(b, session->list, SVC_LINKED_LAST, link);
	session->last_link = link;
}

static void fill(struct gen_run *run, struct session *session, uint64_t end)
{
	struct service *s = run->state;

	while (run->world.next + ITEM_BYTES <= end) {
		const uint32_t item = plan_item(run, session);

		if (draw(s) % 150)
			keep(s, session, item);
		/* else it is garbage: nothing refers to it */
	}
	assert(run->world.next <= end);
}

void gen_plan_session(struct gen_run *run, uint64_t number)
{
	struct service *s = run->state;
	struct gen_batch *b = s->batch;
	const uint64_t begin = run->world.next;
	struct session session = { .cart_count = 0 };
	uint32_t entry, cart, id;

	s->random = gen_hash(run->world.seed, number);
	entry = gen_plan_instance(b, SVC_CONCURRENT_NODE);
	session.object = gen_plan_instance(b, SVC_SESSION);
	id = gen_plan_letters(b, 32, draw(s));
	*gen_planned_value(b, entry, SVC_NODE_HASH) = draw(s) & 0x7fffffff;
	gen_link(b, entry, SVC_NODE_KEY, id);
	gen_link(b, entry, SVC_NODE_VALUE, session.object);
	gen_link(b, session.object, SVC_SESSION_ID, id);
	gen_link(b, session.object, SVC_SESSION_USER, plan_user(s));
	gen_link(b, session.object, SVC_SESSION_ATTRIBUTES,
		 plan_map(run, 2 + (uint32_t)(draw(s) % 6)));
	cart = gen_plan_list(b, NULL, 0, CART_ROOM);
	session.cart = cart + 1;
	session.list = gen_plan_instance(b, SVC_LINKED_LIST);
	gen_link(b, session.object, SVC_SESSION_CART, cart);
	gen_link(b, session.object, SVC_SESSION_LOG, session.list);
	*gen_planned_value(b, session.object, SVC_SESSION_CREATED) = 1700000000000 + number;
	if (draw(s) % 4 == 0)
		*gen_planned_value(b, session.object, SVC_SESSION_PREVIOUS) =
			gen_session_id(run, gen_below(draw(s), s->sessions));
	fill(run, &session, begin + GEN_SESSION_BYTES);
	*gen_planned_value(b, cart, GEN_LIST_SIZE) = session.cart_count;
	*gen_planned_value(b, session.list, SVC_LINKED_SIZE) = session.list_count;
}
