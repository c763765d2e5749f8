/*
 * serve/serve_gate.h - who may ask: the token, the Host header against DNS rebinding, and where a
 * request comes from. Works on plain texts, so that it is tested and fuzzed without a server.
 */
#ifndef HEAPDB_SERVE_GATE_H
#define HEAPDB_SERVE_GATE_H

#include <stdbool.h>
#include <stddef.h>

/* 128 random bits in hexadecimal, with a zero. */
#define SERVE_TOKEN_SIZE 33

struct serve_gate {
	char token[SERVE_TOKEN_SIZE];
	char cookie[48];   /* its name, with the port: cookies know no ports */
	char hosts[4][64]; /* what Host may be, in lower case; "": none */
};

/* Makes a token. `address` as listened on. False if the system has no random bytes. */
bool serve_gate_init(struct serve_gate *gate, const char *address, unsigned port);

/* What matters of a request's headers; all zeros at first. */
struct serve_headers {
	const char *host, *origin, *fetch_site, *cookies, *length; /* lent; NULL: none */
	bool has_body;
	bool takes_gzip;
	/*
	 * What servers understand in different ways: a name that is none, a control character, what
	 * may come once but comes twice.
	 */
	bool is_broken;
};

/* Takes a header; its texts end with a zero beyond their sizes. */
void serve_gate_header(struct serve_headers *headers, const char *name, size_t name_size,
		       const char *value, size_t value_size);

/* What a request brings; NULL: it has no such header or argument. */
struct serve_visitor {
	const char *host, *origin, *fetch_site, *cookies, *token;
	bool is_navigation; /* it asks for the page itself, by GET */
};

enum serve_verdict {
	SERVE_WELCOME,
	SERVE_WELCOME_TOKEN, /* by the token in its URL: a cookie is due */
	SERVE_WRONG_HOST,
	SERVE_WRONG_ORIGIN,
	SERVE_NO_TOKEN
};

enum serve_verdict serve_gate_judge(const struct serve_gate *gate,
				    const struct serve_visitor *visitor);

#endif
