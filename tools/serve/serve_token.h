/*
 * serve/serve_token.h - an address that survives a restart: the token beside a database, and the
 * port that its name yields.
 */
#ifndef HEAPDB_SERVE_TOKEN_H
#define HEAPDB_SERVE_TOKEN_H

#include "serve/serve_gate.h"

/*
 * Replaces the token with the one in DATABASE.token, or writes it there (mode 0600). A file that
 * others could have written or can read is ignored, and so are failures: the token is new then.
 */
void serve_token_keep(const char *db_path, char token[SERVE_TOKEN_SIZE]);

/* Returns the port to try first for a database of that name. */
unsigned serve_token_port(const char *name);

#endif
