/* heap/values/binder.c - describes Binders, their proxies, and class overheads; see binder.h. */
#include "heap/values/binder.h"
#include "base/base_text.h"
#include "base/sort.h"

#include "base/scope.h"
#include "base/search.h"

#include "heap/known.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of an interface name to show. */
#define NAME_MAX_BYTES 512

static const char proxy_suffix[] = "$Stub$Proxy";

bool heap_value_binder(const struct heap_shown *o, char *buf, size_t size)
{
	char descriptor[NAME_MAX_BYTES], stub[NAME_MAX_BYTES + 8];
	struct heap_object object;
	uint32_t text;

	if (heap_path_object(o->heap, o->ix, "mDescriptor", &text, NULL) != HDB_OK ||
	    heap_string(o->heap, text, descriptor, sizeof(descriptor), NULL) != HDB_OK ||
	    !descriptor[0] || heap_object(o->heap, o->ix, &object, NULL) != HDB_OK)
		return false;
	(void)snprintf(stub, sizeof(stub), "%s$Stub", descriptor);
	(void)snprintf(buf, size, "binder %s (%s)",
		       heap_has_superclass(o->heap, object.class_no, stub) ? "stub" : "token",
		       descriptor);
	return true;
}

BASE_ORDER(compare, struct heap_binder_proxy, BASE_UP(remote_ix), BASE_UP(class_no))

static int add_block(struct heap *heap, uint32_t block_no, const uint8_t *is_proxy,
		     struct heap_block *block)
{
	assert(is_proxy);
	TRY(heap_read_block_of(heap, block_no, is_proxy, block, NULL));
	for (uint32_t i = 0; i < block->count; i++) {
		struct heap_binder_proxy proxy = { .class_no = block->class_no[i] };

		if (block->kind[i] == STORE_INSTANCE && is_proxy[proxy.class_no] &&
		    heap_path_object(heap, block->first_ix + i, "mRemote", &proxy.remote_ix,
				     NULL) == HDB_OK)
			TRY(base_vec_push(&heap->values.binder_proxies, &proxy, sizeof(proxy),
					  NULL));
	}
	return HDB_OK;
}

/*
 * Loads the proxies. Sets has_binder_proxies first, so that a failed search is not repeated for
 * every object shown. Skips blocks without proxy objects.
 */
static int load_proxies(struct heap *heap)
{
	BASE_FREED uint8_t *is_proxy = NULL;
	BASE_FREED struct heap_block *block = NULL;
	bool any = false, has;

	heap->values.has_binder_proxies = true;
	TRY(BASE_ALLOC(is_proxy, heap->class_count, "classes", NULL));
	TRY(BASE_ALLOC(block, 1, "a block of objects", NULL));
	TRY(heap_load_classes(heap, NULL));
	for (uint32_t no = 0; no < heap->class_count; no++)
		any |= is_proxy[no] = base_ends_with(heap_class_name(heap, no), proxy_suffix);
	for (uint32_t b = 0; any && b < heap_block_count(heap); b++) {
		TRY(heap_block_has(heap, b, is_proxy, &has, NULL));
		if (has)
			TRY(add_block(heap, b, is_proxy, block));
	}
	return HDB_OK;
}

bool heap_value_binder_proxy(const struct heap_shown *o, char *buf, size_t size)
{
	struct base_vec *proxies = &o->heap->values.binder_proxies;
	struct base_search search;
	const struct heap_binder_proxy *proxy;
	const char *name;

	if (!o->heap->values.has_binder_proxies) {
		/* After a failure, use the proxies found so far. */
		if (load_proxies(o->heap) == HDB_ENOMEM)
			(void)heap_fail_memory(o->heap, "binders", sizeof(*proxy), NULL);
		base_vec_sort(proxies, sizeof(*proxy), compare);
	}
	search = base_search_in(proxies->count);
	while (base_search_next(&search)) {
		proxy = base_vec_at(proxies, struct heap_binder_proxy, search.mid);
		base_search_step(&search, proxy->remote_ix < o->ix);
	}
	if (search.low == proxies->count)
		return false;
	proxy = base_vec_at(proxies, struct heap_binder_proxy, search.low);
	if (proxy->remote_ix != o->ix)
		return false;
	name = heap_class_name(o->heap, proxy->class_no);
	(void)snprintf(buf, size, "for %.*s", (int)(strlen(name) - strlen(proxy_suffix)), name);
	return true;
}

void heap_value_overhead(struct heap *heap, uint32_t ix, char *buf, size_t size)
{
	struct heap_object object;
	struct heap_fields fields;
	char name[32];
	uint64_t id;
	uint32_t class_ix;

	/* The ID of the array is the ID of the class plus 1. */
	if (heap_id(heap, ix, &id, NULL) != HDB_OK ||
	    heap_find(heap, id - 1, &class_ix, NULL) != HDB_OK ||
	    heap_object(heap, class_ix, &object, NULL) != HDB_OK || object.kind != STORE_CLASS)
		return;
	heap_statics_begin(heap, (uint32_t)object.length, &fields);
	while (heap_fields_next(&fields, NULL) == HDB_OK) {
		if (fields.value.type != HPROF_OBJECT || fields.value.bits != id ||
		    heap_text(heap, fields.field.name_text, name, sizeof(name), NULL) != HDB_OK ||
		    (strcmp(name, "$classOverhead") != 0 && strcmp(name, "$staticOverhead") != 0))
			continue;
		(void)snprintf(buf, size, "%s of %s", name,
			       heap_class_name(heap, (uint32_t)object.length));
		return;
	}
}
