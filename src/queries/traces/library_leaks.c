/*
 * queries/traces/library_leaks.c - finds the rules about library references that apply to a heap.
 */
#include "queries/traces/library_leaks.h"

#include "base/glob.h"
#include "heap/known.h"
#include "heap/values/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512

#define RULE_rule(word, text, nth) .id = text
#define RULE_class(word, text, nth) .class_name = text
#define RULE_field(word, text, nth) .kind = LIBRARY_FIELD, .field = text
#define RULE_static(word, text, nth) .kind = LIBRARY_STATIC, .field = text
#define RULE_native(word, text, nth) .kind = LIBRARY_NATIVE, .class_name = text
#define RULE_thread(word, text, nth) .kind = LIBRARY_LOCAL, .class_name = text
#define RULE_since(word, text, nth) .sdk_least = word
#define RULE_until(word, text, nth) .sdk_most = word
#define RULE_vendor(word, text, nth) .manufacturer = text
#define RULE_build(word, text, nth) .build_id = text
#define RULE_verdict(word, text, nth) VERDICT_##word
#define VERDICT_ignored .is_ignored = true
#define VERDICT_grows .is_ignored = true, .is_of_growth = true

static const struct library_rule library_rules[] = {
#include <queries/traces/library.rules.h>
};
static const size_t library_rule_count = BASE_COUNT(library_rules);

/* The device that the heap comes from, as far as the dump records it. */
struct device {
	int64_t sdk; /* 0 means unknown */
	char manufacturer[NAME_MAX_BYTES], build_id[NAME_MAX_BYTES];
};

static int read_text(struct heap *heap, const char *field, char *buf, size_t size,
		     struct hdb_error *err)
{
	uint32_t ix;
	int r = heap_static_object(heap, field, &ix, err);

	buf[0] = '\0';
	TRY_FOUND(r);
	TRY_ERRORS(heap_string(heap, ix, buf, size, err));
	return HDB_OK;
}

static int read_device(struct heap *heap, struct device *out, struct hdb_error *err)
{
	struct heap_value value;
	int r = heap_static_value(heap, "android.os.Build$VERSION.SDK_INT", &value, err);

	*out = (struct device){ .sdk = 0 };
	TRY_ERRORS(r);
	if (r == HDB_OK && !heap_value_number(&value, &out->sdk))
		out->sdk = 0;
	TRY(read_text(heap, "android.os.Build.MANUFACTURER", out->manufacturer,
		      sizeof(out->manufacturer), err));
	return read_text(heap, "android.os.Build.ID", out->build_id, sizeof(out->build_id), err);
}

/* Returns whether a rule applies to a device. If the version is unknown, all rules apply. */
static bool is_for(const struct library_rule *rule, const struct device *device)
{
	if (device->sdk && ((rule->sdk_least && device->sdk < rule->sdk_least) ||
			    (rule->sdk_most && device->sdk > rule->sdk_most)))
		return false;
	return (!rule->manufacturer || base_is_among(rule->manufacturer, device->manufacturer)) &&
	       (!rule->build_id || strcmp(rule->build_id, device->build_id) == 0);
}

int library_leaks_init(struct library_leaks *leaks, const struct session *session,
		       enum library_use use, struct hdb_error *err)
{
	struct device device;

	*leaks = (struct library_leaks){ .is_for = NULL };
	TRY(read_device(session->heap, &device, err));
	TRY(BASE_ALLOC(leaks->is_for, library_rule_count, "library leaks", err));
	for (size_t i = 0; i < library_rule_count && use != LIBRARY_FOR_NOTHING; i++)
		leaks->is_for[i] = is_for(&library_rules[i], &device) &&
				   (use == LIBRARY_FOR_GROWTH ? library_rules[i].is_ignored :
								!library_rules[i].is_of_growth);
	return HDB_OK;
}

void library_leaks_release(struct library_leaks *leaks)
{
	free(leaks->is_for);
	leaks->is_for = NULL;
}

const struct library_rule *library_leaks_rule(const struct library_leaks *leaks,
					      enum library_kind kind, const char *class_name,
					      const char *field)
{
	const struct library_rule *found = NULL;

	/* If several rules match, the last rule wins. */
	for (size_t i = 0; i < library_rule_count; i++) {
		const struct library_rule *rule = &library_rules[i];

		if (rule->kind == kind && leaks->is_for[i] &&
		    strcmp(rule->class_name, class_name) == 0 &&
		    (!field || (rule->field && strcmp(rule->field, field) == 0)))
			found = rule;
	}
	return found;
}

bool library_leaks_has(const struct library_leaks *leaks, enum library_kind kind,
		       const char *class_name)
{
	return library_leaks_rule(leaks, kind, class_name, NULL) != NULL;
}

void library_leaks_pattern(const struct library_rule *rule, char *buf, size_t size)
{
	static const char *const kinds[] = {
		[LIBRARY_FIELD] = "instance field ",
		[LIBRARY_STATIC] = "static field ",
		[LIBRARY_NATIVE] = "native global variable referencing ",
		[LIBRARY_LOCAL] = "local variable on thread ",
	};

	(void)snprintf(buf, size, "%s%s%s%s", kinds[rule->kind], rule->class_name,
		       rule->field ? "#" : "", rule->field ? rule->field : "");
}

void library_leaks_text(const struct library_rule *rule, char *buf, size_t size)
{
	char versions[64] = "";

	if (rule->sdk_least && rule->sdk_most == rule->sdk_least)
		(void)snprintf(versions, sizeof(versions), ", Android API %u", rule->sdk_least);
	else if (rule->sdk_least && rule->sdk_most)
		(void)snprintf(versions, sizeof(versions), ", Android API %u to %u",
			       rule->sdk_least, rule->sdk_most);
	else if (rule->sdk_least)
		(void)snprintf(versions, sizeof(versions), ", Android API %u and later",
			       rule->sdk_least);
	else if (rule->sdk_most)
		(void)snprintf(versions, sizeof(versions), ", Android API up to %u",
			       rule->sdk_most);
	(void)snprintf(buf, size, "known library leak: %s (%s%s%s%s%s)", rule->id, rule->class_name,
		       rule->field ? "." : "", rule->field ? rule->field : "",
		       rule->manufacturer ? ", some vendors" : "", versions);
}
