/* serve/serve_slow.c - keeps a list of connections with the time of their last request. */
#include "serve/serve_slow.h"

#include "base/work.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

struct serve_slow_one {
	struct serve_slow_one *before, *next;
	int fd;
	bool is_asking; /* whether the connection is waiting for an answer or reading the answer */
	uint64_t since_ms;
};

struct serve_slow {
	pthread_mutex_t lock;
	struct serve_slow_one *first;
};

struct serve_slow *serve_slow_new(void)
{
	struct serve_slow *slow = calloc(1, sizeof(*slow));

	if (slow)
		pthread_mutex_init(&slow->lock, NULL);
	return slow;
}

void serve_slow_free(struct serve_slow *slow)
{
	if (!slow)
		return;
	pthread_mutex_destroy(&slow->lock);
	free(slow);
}

struct serve_slow_one *serve_slow_enter(struct serve_slow *slow, int fd)
{
	struct serve_slow_one *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->fd = fd;
	one->since_ms = base_now_ms();
	pthread_mutex_lock(&slow->lock);
	one->next = slow->first;
	if (one->next)
		one->next->before = one;
	slow->first = one;
	pthread_mutex_unlock(&slow->lock);
	return one;
}

void serve_slow_leave(struct serve_slow *slow, struct serve_slow_one *one)
{
	if (!one)
		return;
	pthread_mutex_lock(&slow->lock);
	assert(!one->before == (slow->first == one));
	if (one->before)
		one->before->next = one->next;
	else
		slow->first = one->next;
	if (one->next)
		one->next->before = one->before;
	pthread_mutex_unlock(&slow->lock);
	free(one);
}

void serve_slow_set(struct serve_slow *slow, struct serve_slow_one *one, bool is_asking)
{
	if (!one)
		return;
	pthread_mutex_lock(&slow->lock);
	one->is_asking = is_asking;
	one->since_ms = base_now_ms();
	pthread_mutex_unlock(&slow->lock);
}

void serve_slow_watch(struct serve_slow *slow)
{
	const uint64_t now = base_now_ms();
	uint64_t most = SERVE_SLOW_MS;
	unsigned count = 0;

	pthread_mutex_lock(&slow->lock);
	for (const struct serve_slow_one *one = slow->first; one; one = one->next)
		count += !one->is_asking;
	if (count >= SERVE_SLOW_MANY)
		most = SERVE_SLOW_MANY_MS;
	for (struct serve_slow_one *one = slow->first; one; one = one->next) {
		/* the socket is only shut down; its owner closes it */
		if (!one->is_asking && one->since_ms + most < now)
			shutdown(one->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&slow->lock);
}
