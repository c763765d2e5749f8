/*
 * export/export_distinct.c - numbers the distinct values of a column in order of first occurrence,
 * so the output does not depend on the hash seed. Values come from dumps, which may be hostile.
 * Therefore this file uses the hashes of base/, whose seeds prevent chosen collisions.
 */
#include "export/export_private.h"

uint32_t export_distinct_number(struct export_distinct *d, uint64_t value)
{
	const uint32_t code = base_idmap_get(&d->numbers, value);

	if (code != BASE_IDMAP_NONE)
		return code;
	export_bytes_u64(&d->plain, value);
	if (d->plain.failed || base_idmap_put(&d->numbers, value, d->count, NULL) < 0)
		return EXPORT_NO_CODE;
	return d->count++;
}

uint32_t export_distinct_text(struct export_distinct *d, const char *text, uint32_t size)
{
	const struct base_name name = { .text = text, .size = size };
	uint32_t code;

	if (base_names_add(&d->texts, &name, false, &code, NULL) < 0)
		return EXPORT_NO_CODE;
	if (code < d->count)
		return code;
	export_bytes_u32(&d->plain, size);
	bytes_add(&d->plain, text, size);
	return d->plain.failed ? EXPORT_NO_CODE : d->count++;
}

void export_distinct_release(struct export_distinct *d)
{
	base_idmap_release(&d->numbers);
	base_names_release(&d->texts);
	bytes_release(&d->plain);
	*d = (struct export_distinct){ 0 };
}
