/*
 * mcp/mcp_prompts.c - prompts: investigations that a user can start by name. Each lists the tools
 * to call in order, and the facts that the conclusion must state.
 */
#include "mcp_private.h"

#include <string.h>

#define HOW \
	"Make these calls in this order. Words in capitals stand for values from earlier answers. Skip " \
	"a call if its object was not found, and stop when the cause is certain.\n"
#define CONCLUSION \
	"Conclude with the class or field that holds the memory, the path from the GC root, the " \
	"numbers, and what to change."

/*
 * The budgets of a plan sum to 20 kB. tests/e2e/mcp_incidents.py follows the numbered lines
 * literally and finds the cause of each incident.
 */
static const struct prompt {
	const char *name, *description, *plan;
	bool takes_before;
} prompts[] = {
	{ "find-leak", "Find what leaks memory in a heap dump",
	  "Find the memory leak. " HOW "1. overview {\"max_tokens\": 1800}\n"
	  "2. leaks {\"max_tokens\": 2800}\n"
	  "3. path {\"target\": \"SUSPECT\", \"max_tokens\": 600}\n"
	  "4. dominators {\"target\": \"SUSPECT\", \"limit\": 5, \"max_tokens\": 600}\n"
	  "5. object {\"target\": \"POINT\", \"limit\": 5, \"max_tokens\": 600}\n"
	  "SUSPECT: the id of the first row of kind suspect. POINT: the id of its row of kind point, "
	  "where objects accumulate. " CONCLUSION,
	  false },
	{ "compare", "Find what grew between dumps of one program",
	  "Find what grows. " HOW
	  "1. compare {\"before\": \"BEFORE\", \"by\": \"owner\", \"max_tokens\": 1800}\n"
	  "2. compare {\"before\": \"BEFORE\", \"sort\": \"retained_delta\", \"limit\": 8, "
	  "\"max_tokens\": 1800}\n"
	  "3. path {\"target\": \"OWNER\", \"max_tokens\": 1000}\n"
	  "4. dominators {\"target\": \"OWNER\", \"limit\": 5, \"max_tokens\": 1000}\n"
	  "OWNER: the id of the first row of the first answer. BEFORE: the earlier database. " CONCLUSION,
	  true },
	{ "savings", "Find memory that can be saved",
	  "Find memory that can be saved although nothing leaks. " HOW
	  "1. query {\"name\": \"triage\", \"columns\": [\"rule\", \"count\", \"bytes\", \"text\", "
	  "\"advice\"], \"max_tokens\": 1800}\n"
	  "2. query {\"name\": \"duplicates\", \"limit\": 5, \"max_tokens\": 1000}\n"
	  "3. query {\"name\": \"collections\", \"limit\": 8, \"max_tokens\": 1000}\n"
	  "4. query {\"name\": \"arrays\", \"limit\": 8, \"max_tokens\": 1000}\n"
	  "5. query {\"name\": \"strings\", \"limit\": 5, \"max_tokens\": 1000}\n"
	  "List what to change, with the bytes that each change saves, largest first.",
	  false },
	{ "threads", "Find which thread holds the memory, and what it was doing",
	  "Find which thread holds the most memory. " HOW
	  "1. query {\"name\": \"threads\", \"options\": {\"no-stack\": true}, \"sort\": \"retained\", "
	  "\"limit\": 5, \"max_tokens\": 1000}\n"
	  "2. query {\"name\": \"threads\", \"target\": \"THREAD\", \"max_tokens\": 2500}\n"
	  "3. dominators {\"target\": \"THREAD\", \"limit\": 5, \"max_tokens\": 1000}\n"
	  "THREAD: the id of the first row of the first answer. Name the thread, the frames of its "
	  "stack that matter, and the local variable or field that holds the memory.",
	  false },
};
#define PROMPT_COUNT (sizeof(prompts) / sizeof(prompts[0]))

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
	for (size_t i = 0; i < PROMPT_COUNT; i++) {
		json_t *db, *before, *text;

		if (strcmp(prompts[i].name, name) != 0)
			continue;
		db = given(args, "db");
		before = given(args, "before");
		text = json_sprintf("%s%s%s", prompts[i].plan, json_string_value(db),
				    json_string_value(before));
		json_decref(db);
		json_decref(before);
		return json_pack("{s:s, s:[{s:s, s:{s:s, s:o}}]}", "description",
				 prompts[i].description, "messages", "role", "user", "content",
				 "type", "text", "text", text);
	}
	return NULL;
}
