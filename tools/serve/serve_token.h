/*
 * serve/serve_token.h - an address that survives a restart: the token stored next to a database,
 * and the port derived from its name.
 */
#ifndef HEAPDB_SERVE_TOKEN_H
#define HEAPDB_SERVE_TOKEN_H

#include "serve/serve_gate.h"

/*
 * Replaces the token with the token in DATABASE.token. If there is no such file, writes the token
 * to a new file (mode 0600). Ignores failures, and ignores a file that other users can read or
 * could have written. In these cases the token is new.
 */
void serve_token_keep(const char *db_path, char token[SERVE_TOKEN_SIZE]);

/* Returns the port to try first for a database of that name. */
unsigned serve_token_port(const char *name);

#endif
