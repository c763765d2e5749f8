/*
 * serve/serve_token.h - an address that survives a restart: the token stored next to a database,
 * and the port derived from its name.
 */
#ifndef HEAPDB_SERVE_TOKEN_H
#define HEAPDB_SERVE_TOKEN_H

#include "serve/serve_gate.h"

/*
 * Replaces the token with the one in DATABASE.token, or writes it there (mode 0600). Failures are
 * ignored, as is a file that others can read or could have written; in these cases the token is
 * new.
 */
void serve_token_keep(const char *db_path, char token[SERVE_TOKEN_SIZE]);

/* Returns the port to try first for a database of that name. */
unsigned serve_token_port(const char *name);

#endif
