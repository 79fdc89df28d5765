/* The data sets as rows of JSON and as text, for lockstep data list and lockstep list data. */
#ifndef LOCKSTEP_CLI_DATA_H
#define LOCKSTEP_CLI_DATA_H

#include <cjson/cJSON.h>

/* Appends one object for each known set: name, about, source, licence, shipped, here, folder (null
 * when it is not here), train, test, shape, classes, bytes (of host memory when loaded). */
void data_add_rows(cJSON *list);

/* Prints such rows. */
void data_print_rows(const cJSON *list);

#endif
