/* base/clear_names.c - finds the original names of the classes and members of an obfuscated app. */
#include "base/clear_names.h"

#include "base/search.h"

/* Field numbers of DeobfuscationMapping, of its classes, and of their members. */
enum { MAPPING_PACKAGE = 1, MAPPING_CLASS = 3 };
enum { MAPPING_OLD = 1, MAPPING_NEW = 2 };

static int compare(const struct proto *a, const struct proto *b, unsigned parts)
{
	int order = 0;

	for (unsigned i = 0; !order && i < parts; i++)
		order = proto_compare(&a[i], &b[i]);
	return order;
}

static int order(const void *a, const void *b)
{
	const struct clear_name *x = a, *y = b;

	return compare(x->of, y->of, CLEAR_PARTS);
}

static int add_name(struct base_vec *names, const struct clear_name *name, struct hdb_error *err)
{
	return proto_size(&name->of[CLEAR_NAME]) ? base_vec_push(names, name, sizeof(*name), err) :
						   HDB_OK;
}

int clear_take(struct base_vec *names, struct proto mapping, uint32_t members,
	       struct hdb_error *err)
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
		TRY(add_name(names, &name, err));
		while (proto_next(&class.bytes, &member)) {
			if (member.no != members)
				continue;
			name.of[CLEAR_MEMBER] = proto_last(member.bytes, MAPPING_OLD).bytes;
			name.of[CLEAR_NAME] = proto_last(member.bytes, MAPPING_NEW).bytes;
			TRY(add_name(names, &name, err));
		}
	}
	return HDB_OK;
}

bool clear_is(const struct clear_name *name, const struct proto of[CLEAR_NAME])
{
	return compare(name->of, of, proto_size(&of[CLEAR_PACKAGE]) ? CLEAR_NAME : CLEAR_PACKAGE) ==
	       0;
}

void clear_sort(struct base_vec *names)
{
	struct clear_name *list = names->data;
	const size_t count = names->count;

	base_vec_sort(names, sizeof(*list), order);
	names->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || order(&list[i], &list[names->count - 1]) != 0)
			list[names->count++] = list[i];
}

const struct clear_name *clear_find(const struct base_vec *names, const struct proto of[CLEAR_NAME])
{
	const struct clear_name *list = names->data;
	struct base_search s = base_search_in(names->count);

	while (base_search_next(&s))
		base_search_step(&s, compare(list[s.mid].of, of, CLEAR_NAME) < 0);
	return s.low < names->count && clear_is(&list[s.low], of) ? &list[s.low] : NULL;
}

struct proto clear_package(struct proto path)
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
