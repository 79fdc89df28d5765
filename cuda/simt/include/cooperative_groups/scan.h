/* Part of cooperative_groups/reduce.h here. */
#include "reduce.h"
