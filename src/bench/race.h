#ifndef LOCKSTEP_RACE_H
#define LOCKSTEP_RACE_H

#include "base/passport.h"
#include "bench/agree.h"
#include "bench/race_result.h"

/* Everything there is to say about a race, at any moment of it. */
typedef struct RaceReport {
    Passport passport;
    char model[128], data[128], optimizer[64];
    size_t weight_count;
    int train_count, test_count, batch;
    uint64_t seed;
    int64_t steps, step_limit; /* 0: no limit */
    double epochs;
    double wall_s,
        wall_limit_s; /* of the whole race, evaluations and checks included; 0: no limit */
    double evaluation_s, agreement_s;
    bool finished, interrupted;
    int count;
    RaceResult results[RACE_MAX_RUNNERS];
    Agreement agreement;
} RaceReport;

#endif
