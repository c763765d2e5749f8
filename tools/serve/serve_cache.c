/*
 * serve/serve_cache.c - implements serve_cache.h. The entries are sorted by last use.
 */
#include "serve/serve_cache.h"

#include "common/escape.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of answers. The number is small because lookup is linear. */
#define ENTRIES_MAX 400

struct entry {
	char *key, *data; /* owned */
	size_t size;
};

struct serve_cache {
	pthread_mutex_t lock;
	struct entry entries[ENTRIES_MAX]; /* most recently used first */
	size_t count, size;
};

struct serve_cache *serve_cache_new(void)
{
	struct serve_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

static void drop_last(struct serve_cache *cache)
{
	struct entry *last = &cache->entries[--cache->count];

	assert(cache->count < ENTRIES_MAX);
	assert(cache->size >= last->size);
	cache->size -= last->size;
	free(last->key);
	free(last->data);
}

void serve_cache_free(struct serve_cache *cache)
{
	if (!cache)
		return;
	while (cache->count > 0)
		drop_last(cache);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static int compare_options(const void *a, const void *b)
{
	const struct hdb_option *x = a, *y = b;
	const int names = strcmp(x->name, y->name);

	return names ? names : strcmp(x->value ? x->value : "", y->value ? y->value : "");
}

char *serve_cache_key(const struct serve_job *job)
{
	struct hdb_option options[SERVE_ARGUMENTS_MAX];
	struct bytes text = { 0 };

	memcpy(options, job->options, sizeof(options));
	qsort(options, job->option_count, sizeof(options[0]), compare_options);
	bytes_format(&text, "%d %zu %llu %s", (int)job->kind, job->database,
		     (unsigned long long)job->limit, job->spec ? job->spec->name : "");
	for (size_t i = 0; i < job->before_count; i++)
		bytes_format(&text, " <%zu", job->before[i]);
	for (size_t i = 0; i < job->target_count; i++) {
		bytes_string(&text, " ");
		escape_json(&text, job->targets[i]);
	}
	for (size_t i = 0; i < job->option_count; i++) {
		bytes_format(&text, " %s=", options[i].name);
		escape_json(&text, options[i].value);
	}
	bytes_string(&text, " by ");
	escape_json(&text, job->sort);
	bytes_string(&text, job->all ? " all " : " ");
	escape_json(&text, job->statement);
	bytes_string(&text, " with ");
	escape_json(&text, job->filter);
	bytes_add(&text, "", 1);
	if (text.failed)
		bytes_release(&text);
	return text.data;
}

/* Returns the index of the entry, or `count`. */
static size_t find(const struct serve_cache *cache, const char *key)
{
	size_t i = 0;

	while (i < cache->count && strcmp(cache->entries[i].key, key) != 0)
		i++;
	return i;
}

static void move_first(struct serve_cache *cache, size_t place)
{
	const struct entry entry = cache->entries[place];

	assert(place < ENTRIES_MAX);
	memmove(&cache->entries[1], &cache->entries[0], place * sizeof(entry));
	cache->entries[0] = entry;
}

void serve_cache_put(struct serve_cache *cache, const char *key, int fd, size_t size)
{
	struct entry entry = { .size = size };

	if (size > SERVE_CACHE_ANSWER_MAX)
		return;
	entry.key = strdup(key);
	entry.data = malloc(size + 1);
	pthread_mutex_lock(&cache->lock);
	if (entry.key && entry.data && pread(fd, entry.data, size, 0) == (ssize_t)size &&
	    find(cache, key) == cache->count) {
		while (cache->count == ENTRIES_MAX ||
		       (cache->count && cache->size + size > SERVE_CACHE_MAX))
			drop_last(cache);
		assert(cache->count < ENTRIES_MAX);
		cache->entries[cache->count] = entry;
		move_first(cache, cache->count++);
		cache->size += size;
		entry = (struct entry){ 0 };
	}
	pthread_mutex_unlock(&cache->lock);
	free(entry.key);
	free(entry.data);
}

bool serve_cache_get(struct serve_cache *cache, const char *key, int fd)
{
	bool is_found;
	size_t place;

	pthread_mutex_lock(&cache->lock);
	place = find(cache, key);
	is_found = place < cache->count;
	if (is_found) {
		move_first(cache, place);
		is_found = write(fd, cache->entries[0].data, cache->entries[0].size) ==
			   (ssize_t)cache->entries[0].size;
	}
	pthread_mutex_unlock(&cache->lock);
	return is_found;
}
