/*
 * heap/collections/collection_table.c - the table of known collections, collections.rows, and
 * macros for common forms of its rows.
 */
#include "heap/collections/collections.h"

/*
 * Macros for common forms of rows. NOLINTBEGIN(bugprone-macro-parentheses): the arguments are
 * initialisers.
 */
#define ROW(name, what, where, ...) \
	{ \
		.class_name = name, .kind = what, .shape = where, __VA_ARGS__ \
	}
#define EMPTY(name, what) ROW(name, what, HEAP_EMPTY, .flags = 0)
#define WRAP(name, what, field) ROW(name, what, HEAP_WRAP, .store = field)
#define KEYS(name, field) ROW(name, HEAP_SET, HEAP_WRAP, .store = field, .takes = HEAP_TAKES_KEYS)
#define VALUES(name, field) \
	ROW(name, HEAP_LIST, HEAP_WRAP, .store = field, .takes = HEAP_TAKES_VALUES)
/* Views of a map's keys, values and entries, which refer to the map with the given field. */
#define VIEWS(name, field) \
	KEYS(name "$KeySet", field), VALUES(name "$Values", field), \
		WRAP(name "$EntrySet", HEAP_SET, field)
#define ARRAY(name, what, length, field) ROW(name, what, HEAP_ARRAY, .size = length, .store = field)
#define RING(name, what, from, to, field) \
	ROW(name, what, HEAP_ARRAY, .store = field, .first = from, .last = to)
#define CHAINS(name, length, field, k, v, link) \
	ROW(name, HEAP_MAP, HEAP_CHAINS, .size = length, .store = field, .key = k, .value = v, \
	    .next = link, .flags = HEAP_HASHED)
/*
 * Maps that consist of segments, each a map with its own lock. Needs one row for the map and one
 * for the segments.
 */
#define SEGMENTS(name) ROW(name, HEAP_MAP, HEAP_PARTS, .store = "segments")
#define SEGMENT(name, field, k, v) \
	ROW(name, HEAP_MAP, HEAP_CHAINS, .size = "count", .store = field, .key = k, .value = v, \
	    .next = "next", .flags = HEAP_HASHED | HEAP_PART)
#define LINKED(name, what, length, from, item, link) \
	ROW(name, what, HEAP_LINKED, .size = length, .store = from, .value = item, .next = link)
/*
 * A queue that unlinks nodes lazily: a node without an item remains in the list but is not an
 * element.
 */
#define LAZY(name, from, item, link) \
	ROW(name, HEAP_QUEUE, HEAP_LINKED, .store = from, .value = item, .next = link, \
	    .flags = HEAP_SKIPS_NULL)
#define SLOTS(name, what, length, field) ROW(name, what, HEAP_SLOTS, .size = length, .store = field)
#define PARALLEL(name, length, k, v, how) \
	ROW(name, HEAP_MAP, HEAP_SLOTS, .size = length, .store = v, .key = k, .flags = how)
#define PAIRS(name, length, field, how) \
	ROW(name, HEAP_MAP, HEAP_PAIRS, .size = length, .store = field, .flags = how)
#define FIELDS(name, what, k, v) ROW(name, what, HEAP_FIELDS, .key = k, .value = v)
#define HIDDEN(name, what, length) ROW(name, what, HEAP_HIDDEN, .size = length)
/* An open-hashing set of fastutil. The last slot is reserved for zero or null. */
#define FAST_SET(name) \
	ROW(name, HEAP_SET, HEAP_SLOTS, .size = "size", .store = "key", .extra = "containsNull", \
	    .flags = HEAP_HASHED)
#define FAST_MAP(name) \
	ROW(name, HEAP_MAP, HEAP_SLOTS, .size = "size", .store = "value", .key = "key", \
	    .extra = "containsNullKey", .flags = HEAP_HASHED)

/* The arguments are initializers of struct heap_part. */
#define PARTS(...) \
	.parts = (const struct heap_part[]) \
	{ \
		__VA_ARGS__, PART(END, NULL, NULL, NULL) \
	}
#define NODES(name, what, length, how, ...) \
	ROW(name, what, HEAP_NODES, .size = length, .flags = how, PARTS(__VA_ARGS__))
/* Nodes whose elements are objects with the fields k (key) and v (value). */
#define ENTRY_NODES(name, length, k, v, ...) \
	ROW(name, HEAP_MAP, HEAP_NODES, .size = length, .key = k, .value = v, PARTS(__VA_ARGS__))
/* A set that uses the nodes of a map. */
#define KEY_NODES(name, length, ...) \
	ROW(name, HEAP_SET, HEAP_NODES, .size = length, .takes = HEAP_TAKES_KEYS, \
	    PARTS(__VA_ARGS__))
#define PART(what, field, with, from) \
	{ \
		HEAP_PART_##what, field, with, from \
	}
#define IF(field) PART(IF, field, NULL, NULL)
#define ITEM(value) PART(ITEM, value, NULL, NULL)
#define ENTRY(key, value) PART(ITEM, value, key, NULL)
#define NODE(field) PART(NODE, field, NULL, NULL)
#define EITHER(field) PART(EITHER, field, NULL, NULL)
#define REVERSED(field) PART(REVERSED, field, NULL, NULL)
#define ITEMS(array) PART(ITEMS, array, NULL, NULL)
#define ARRAY_PART(what, array) PART(what, array, NULL, NULL)
#define ROPE(array, levels) PART(ROPE, array, levels, NULL)
/*
 * A list node with an element and the rest of the list. Each node is itself a list, and belongs to
 * every list that shares it.
 */
#define CONS(name, length, item, link) \
	ROW(name, HEAP_LIST, HEAP_LINKED, .size = length, .store = "", .value = item, \
	    .next = link, .flags = HEAP_PART)
#define TREE(name, what, length, top, k, v, less, more) \
	ROW(name, what, HEAP_TREE, .size = length, .store = top, .key = k, .value = v, \
	    .left = less, .next = more)

/* NOLINTEND(bugprone-macro-parentheses) */

static const struct heap_collection_rule table[] = {
#include <heap/collections/collections.rows.h>
};

const struct heap_collection_rule *heap_collection_rules(size_t *count)
{
	*count = BASE_COUNT(table);
	return table;
}
