/*
 * perfetto/clear_names.h - names of classes and members before an app was obfuscated, by the
 * mappings that `traceconv deobfuscate` adds to a trace.
 */
#ifndef PERFETTO_CLEAR_NAMES_H
#define PERFETTO_CLEAR_NAMES_H

#include "perfetto/packet.h"

#include <stdlib.h>
#include <string.h>

/* Fields of DeobfuscationMapping; of its classes, and of their members. */
enum { MAPPING_PACKAGE = 1, MAPPING_CLASS = 3 };
enum { MAPPING_OLD = 1, MAPPING_NEW = 2, MAPPING_FIELD = 3, MAPPING_METHOD = 4 };

/* What is obfuscated, where, and what it was. */
enum { CLEAR_CLASS, CLEAR_MEMBER, CLEAR_PACKAGE, CLEAR_NAME, CLEAR_PARTS };

struct clear_name {
	struct proto of[CLEAR_PARTS]; /* borrowed; without a member: the class itself */
	struct proto class_name;      /* what its class was */
};

struct clear_names {
	struct clear_name *list; /* owned */
	size_t count, room;
};

static inline int clear_compare(const struct proto *a, const struct proto *b, unsigned parts)
{
	int order = 0;

	for (unsigned i = 0; !order && i < parts; i++) {
		const size_t m = proto_size(&a[i]), n = proto_size(&b[i]);

		order = m && n ? memcmp(a[i].at, b[i].at, m < n ? m : n) : 0;
		order = order ? order : (m > n) - (m < n);
	}
	return order;
}

static inline int clear_order(const void *a, const void *b)
{
	const struct clear_name *x = a, *y = b;

	return clear_compare(x->of, y->of, CLEAR_PARTS);
}

static inline bool clear_add(struct clear_names *names, const struct clear_name *name)
{
	struct clear_name *list = names->list;

	if (!proto_size(&name->of[CLEAR_NAME]))
		return true;
	if (names->count == names->room) {
		names->room = 2 * names->room + 64;
		if (!(list = realloc(list, names->room * sizeof(*list))))
			return false;
	}
	names->list = list;
	list[names->count++] = *name;
	return true;
}

/* Adds the classes of a mapping and their members of a kind. False: no memory. */
static inline bool clear_take(struct clear_names *names, struct proto mapping, uint32_t members)
{
	const struct proto package = proto_last(mapping, MAPPING_PACKAGE).bytes;
	struct proto_field class, member;

	while (proto_next(&mapping, &class)) {
		struct clear_name name = { .of = { [CLEAR_PACKAGE] = package } };

		if (class.no != MAPPING_CLASS || class.wire != PROTO_BYTES)
			continue;
		name.class_name = proto_last(class.bytes, MAPPING_NEW).bytes;
		name.of[CLEAR_CLASS] = proto_last(class.bytes, MAPPING_OLD).bytes;
		name.of[CLEAR_NAME] = name.class_name;
		if (!clear_add(names, &name))
			return false;
		while (proto_next(&class.bytes, &member)) {
			if (member.no != members)
				continue;
			name.of[CLEAR_MEMBER] = proto_last(member.bytes, MAPPING_OLD).bytes;
			name.of[CLEAR_NAME] = proto_last(member.bytes, MAPPING_NEW).bytes;
			if (!clear_add(names, &name))
				return false;
		}
	}
	return true;
}

/* Whether a name is of this class and member, and of this package unless that is empty. */
static inline bool clear_is(const struct clear_name *name, const struct proto of[CLEAR_NAME])
{
	return clear_compare(name->of, of,
			     proto_size(&of[CLEAR_PACKAGE]) ? CLEAR_NAME : CLEAR_PACKAGE) == 0;
}

/* Once all are there; drops what came twice. */
static inline void clear_sort(struct clear_names *names)
{
	const size_t count = names->count;

	if (count)
		qsort(names->list, count, sizeof(names->list[0]), clear_order);
	names->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || clear_order(&names->list[i], &names->list[names->count - 1]) != 0)
			names->list[names->count++] = names->list[i];
}

/* The first of the names that clear_is; the others follow it. NULL: there is none. */
static inline const struct clear_name *clear_find(const struct clear_names *names,
						  const struct proto of[CLEAR_NAME])
{
	size_t low = 0, high = names->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (clear_compare(names->list[middle].of, of, CLEAR_NAME) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < names->count && clear_is(&names->list[low], of) ? &names->list[low] : NULL;
}

/* The package in a path: /data/app/PACKAGE-X/..., /data/app/~~Y/PACKAGE-X/...; empty: unknown. */
static inline struct proto clear_package(struct proto path)
{
	static const char apps[] = "/data/app/";
	const uint8_t *at, *slash, *end;

	at = path.at ? memmem(path.at, proto_size(&path), apps, sizeof(apps) - 1) : NULL;
	if (!at)
		return (struct proto){ 0 };
	at += sizeof(apps) - 1;
	slash = at < path.end && *at == '~' ? memchr(at, '/', (size_t)(path.end - at)) : NULL;
	at = slash ? slash + 1 : at;
	end = memchr(at, '-', (size_t)(path.end - at));
	return end ? (struct proto){ at, end, false } : (struct proto){ 0 };
}

#endif
