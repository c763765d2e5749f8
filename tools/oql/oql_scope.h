/*
 * oql/oql_scope.h - finds sub-selects that depend on enclosing rows.
 */
#ifndef OQL_OQL_SCOPE_H
#define OQL_OQL_SCOPE_H

#include "oql/oql_ast.h"

/* Sets is_free in all selects of a statement. */
void oql_find_free(struct oql_select *select);

/* Height of a select, from the heights of its expressions. */
size_t oql_select_depth(const struct oql_select *select);

#endif
