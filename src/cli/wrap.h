/* Text of any length in a column of its own. */
#ifndef LOCKSTEP_WRAP_H
#define LOCKSTEP_WRAP_H

/* Prints text from `column` on, broken at spaces before the 100th column; what stands to the left
 * on the first line has been printed already and reaches up to the column. */
void wrap_print(int column, const char *text);

#endif
