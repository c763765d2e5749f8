/*
 * serve/serve_slow.h - closes connections that take too long to send a request. libmicrohttpd
 * closes only idle connections. A single byte now and then would keep a connection open for days.
 */
#ifndef HEAPDB_SERVE_SLOW_H
#define HEAPDB_SERVE_SLOW_H

#include <stdbool.h>

/*
 * Time limit in ms for receiving the complete headers of a request, counted from the connection or
 * the previous answer. If at least SERVE_SLOW_MANY connections are idle, SERVE_SLOW_MANY_MS applies
 * instead, because idle connections leave no room for new connections.
 */
#define SERVE_SLOW_MS 15000
#define SERVE_SLOW_MANY 100
#define SERVE_SLOW_MANY_MS 200

struct serve_slow;
struct serve_slow_one;

/* Makes an empty list of connections. Returns NULL if memory is exhausted. */
struct serve_slow *serve_slow_new(void);
/* Frees the list, after serve_slow_leave for all connections. NULL is allowed. */
void serve_slow_free(struct serve_slow *slow);

/* Registers a connection. Returns NULL if memory is exhausted, so the connection is not watched. */
struct serve_slow_one *serve_slow_enter(struct serve_slow *slow, int fd);
/* Removes a connection. Must be called before the socket is closed. NULL is allowed here and
 * below. */
void serve_slow_leave(struct serve_slow *slow, struct serve_slow_one *one);

/* Records that the headers of a request are complete (is_asking), or that it was answered. */
void serve_slow_set(struct serve_slow *slow, struct serve_slow_one *one, bool is_asking);

/* Shuts down slow connections. Must be called periodically, from another thread. */
void serve_slow_watch(struct serve_slow *slow);

#endif
