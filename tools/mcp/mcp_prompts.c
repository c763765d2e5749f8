/*
 * mcp/mcp_prompts.c - prompts: investigations that a user can start by name. Each lists the tools
 * to call in order, and the facts that the conclusion must state.
 */
#include "mcp_private.h"

#include <string.h>

/* Maximum number of tool calls that a prompt suggests. */
#define CALLS_MAX 8

/* Text that follows the first sentence of each prompt. */
#define HOW \
	"Make these calls in this order. Words in capitals stand for values from earlier answers. Skip " \
	"a call if its object was not found, and stop when the cause is certain.\n"

#define RULE_rule(word, text, nth) .name = text
#define RULE_about(word, text, nth) .description = text
#define RULE_begin(word, text, nth) .begin = text
#define RULE_call(word, text, nth) .calls[nth] = text
#define RULE_end(word, text, nth) .end = text
#define RULE_takes(word, text, nth) .takes_##word = true
static const struct prompt {
	const char *name, *description, *begin, *calls[CALLS_MAX], *end;
	bool takes_before;
} prompts[] = {
#include <mcp/mcp_prompts.rules.h>
};
#define PROMPT_COUNT BASE_COUNT(prompts)

static json_t *argument(const char *name, const char *description, bool is_required)
{
	return json_pack("{s:s, s:s, s:b}", "name", name, "description", description, "required",
			 is_required);
}

json_t *mcp_prompts_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < PROMPT_COUNT; i++) {
		json_t *args = json_array();

		json_array_append_new(
			args,
			argument("db", "Database. May be omitted if there is only one.", false));
		if (prompts[i].takes_before)
			json_array_append_new(
				args, argument("before", "Database of the earlier dump", true));
		json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", prompts[i].name,
						      "description", prompts[i].description,
						      "arguments", args));
	}
	return list;
}

/* Returns " Use the db x." for a given argument. */
static json_t *given(const json_t *args, const char *name)
{
	const char *value = json_string_value(json_object_get(args, name));

	return value ? json_sprintf(" Use %s \"%s\".", name, value) : json_string("");
}

json_t *mcp_prompt(const char *name, const json_t *args)
{
	BASE_SCOPED(bytes_release) struct bytes plan = { 0 };

	for (size_t i = 0; i < PROMPT_COUNT; i++) {
		json_t *db, *before, *text;

		if (strcmp(prompts[i].name, name) != 0)
			continue;
		bytes_format(&plan, "%s " HOW, prompts[i].begin);
		for (size_t n = 0; n < CALLS_MAX && prompts[i].calls[n]; n++)
			bytes_format(&plan, "%zu. %s\n", n + 1, prompts[i].calls[n]);
		bytes_format(&plan, "%s", prompts[i].end);
		if (plan.failed)
			return NULL;
		db = given(args, "db");
		before = given(args, "before");
		text = json_sprintf("%s%s%s", plan.data, json_string_value(db),
				    json_string_value(before));
		json_decref(db);
		json_decref(before);
		return json_pack("{s:s, s:[{s:s, s:{s:s, s:o}}]}", "description",
				 prompts[i].description, "messages", "role", "user", "content",
				 "type", "text", "text", text);
	}
	return NULL;
}
