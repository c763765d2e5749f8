/*
 * serve/serve_gate.h - access control by the token, the Host header (against DNS rebinding) and the
 * origin of a request. Works on plain text, so it can be tested and fuzzed without a server.
 */
#ifndef HEAPDB_SERVE_GATE_H
#define HEAPDB_SERVE_GATE_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a token: 128 random bits in hexadecimal, and a terminator. */
#define SERVE_TOKEN_SIZE 33

struct serve_gate {
	char token[SERVE_TOKEN_SIZE];
	/* name of the cookie; includes the port, because browsers ignore ports in cookies */
	char cookie[48];
	char hosts[4][64]; /* accepted values of Host in lowercase; "" if unused */
};

/*
 * Generates a token. `address` is the listening address. Returns false if the system provides no
 * random bytes.
 */
bool serve_gate_init(struct serve_gate *gate, const char *address, unsigned port);

/* Relevant headers of a request. Initialise to zeros. */
struct serve_headers {
	const char *host, *origin, *fetch_site, *cookies, *length; /* borrowed, or NULL if none */
	bool has_body;
	bool takes_gzip;
	/*
	 * Whether servers may interpret the request differently: an invalid header name, a control
	 * character, or a duplicate of a header that must be unique.
	 */
	bool is_broken;
};

/* Processes a header. Both strings are followed by a zero. */
void serve_gate_header(struct serve_headers *headers, const char *name, size_t name_size,
		       const char *value, size_t value_size);

/* Data of a request that identifies the client. NULL means absent. */
struct serve_visitor {
	const char *host, *origin, *fetch_site, *cookies, *token;
	bool is_navigation; /* whether the request is a GET of the page itself */
};

enum serve_verdict {
	SERVE_WELCOME,
	SERVE_WELCOME_TOKEN, /* the token is in the URL, so a cookie must be set */
	SERVE_WRONG_HOST,
	SERVE_WRONG_ORIGIN,
	SERVE_NO_TOKEN
};

enum serve_verdict serve_gate_judge(const struct serve_gate *gate,
				    const struct serve_visitor *visitor);

#endif
