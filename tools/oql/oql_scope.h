/*
 * oql/oql_scope.h - which sub-selects depend on rows around them.
 */
#ifndef OQL_OQL_SCOPE_H
#define OQL_OQL_SCOPE_H

#include "oql/oql_ast.h"

/* Sets is_free of all selects of a statement. */
void oql_find_free(struct oql_select *select);

/* Levels below a select and with it, from the depths of its expressions. */
size_t oql_select_depth(const struct oql_select *select);

#endif
