/* Text of any length in a column of its own. */
#ifndef LOCKSTEP_WRAP_H
#define LOCKSTEP_WRAP_H

#include <stdio.h>

/* Columns of a line on `out`: the terminal's width less one, 100 at most (longer lines are hard to
 * read) and where out is no terminal. */
int wrap_columns(FILE *out);

/* Prints text from `column` on, broken at spaces before the line is full, and at each newline; what
 * stands to the left on the first line has been printed already and reaches up to the column. */
void wrap_print(FILE *out, int column, const char *text);

#endif
