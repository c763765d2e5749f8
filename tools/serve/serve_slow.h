/*
 * serve/serve_slow.h - connections that take too long to say what they ask. libmicrohttpd closes
 * those that are silent; one byte now and then would hold a connection for days.
 */
#ifndef HEAPDB_SERVE_SLOW_H
#define HEAPDB_SERVE_SLOW_H

#include <stdbool.h>

/*
 * Milliseconds until a request's headers are there, from the connection or the answer before; and
 * where that many connections ask nothing, for they keep out those who do.
 */
#define SERVE_SLOW_MS 15000
#define SERVE_SLOW_MANY 100
#define SERVE_SLOW_MANY_MS 200

struct serve_slow;
struct serve_slow_one;

/* NULL: no memory. */
struct serve_slow *serve_slow_new(void);
/* All connections have left. NULL is fine. */
void serve_slow_free(struct serve_slow *slow);

/* A connection begins; NULL: no memory, and it is not watched. */
struct serve_slow_one *serve_slow_enter(struct serve_slow *slow, int fd);
/* Before its socket is closed. NULL is fine here and below. */
void serve_slow_leave(struct serve_slow *slow, struct serve_slow_one *one);

/* The headers of a request are there (is_asking), or what it asks is answered. */
void serve_slow_set(struct serve_slow *slow, struct serve_slow_one *one, bool is_asking);

/* Ends those that are too slow. From another thread, now and then. */
void serve_slow_watch(struct serve_slow *slow);

#endif
