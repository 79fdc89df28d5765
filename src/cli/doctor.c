/* lockstep doctor: what is here, what is missing, and the cure for each. */
#include "cli/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/wrap.h"

static const char synopsis[] = "doctor [--measure] [--json]";
static const char summary[] =
    "Looks at what Lockstep needs and what it can use, and says the cure for what is wrong. Ends "
    "with 3 if something is missing that it cannot work without; what is optional never does that.";

DoctorCheck *doctor_add(Doctor *doctor, const char *name, bool needed, const char *found, ...) {
    va_list args;
    int last = DOCTOR_MAX_CHECKS - 1;
    DoctorCheck *check = &doctor->checks[doctor->count < last ? doctor->count : last];
    doctor->count = doctor->count < last ? doctor->count + 1 : DOCTOR_MAX_CHECKS;
    *check = (DoctorCheck){.name = name, .needed = needed, .ok = true};
    va_start(args, found);
    vsnprintf(check->found, sizeof check->found, found, args);
    va_end(args);
    return check;
}

void doctor_cure(DoctorCheck *check, const char *cure, ...) {
    va_list args;
    check->ok = false;
    va_start(args, cure);
    vsnprintf(check->cure, sizeof check->cure, cure, args);
    va_end(args);
}

static void print_checks(const Doctor *doctor) {
    enum { COLUMN = 24 };
    for (int i = 0; i < doctor->count; i++) {
        const DoctorCheck *check = &doctor->checks[i];
        const char *mark = check->ok ? "ok" : check->needed ? "FAIL" : "--";
        printf("%-5s%-*s ", mark, COLUMN - 6, check->name);
        wrap_print(stdout, COLUMN, check->found);
        if (!check->ok) {
            printf("%*s", COLUMN, "-> ");
            wrap_print(stdout, COLUMN, check->cure);
        }
    }
    printf("ok: fine   --: optional or could be better   FAIL: nothing works without it\n");
}

static void print_json(const Doctor *doctor, bool healthy) {
    Passport passport;
    passport_fill(&passport, &doctor->plan);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "passport", cli_passport_json(&passport));
    cJSON_AddBoolToObject(object, "healthy", healthy);
    cJSON *checks = cJSON_AddArrayToObject(object, "checks");
    for (int i = 0; i < doctor->count; i++) {
        const DoctorCheck *check = &doctor->checks[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", check->name);
        cJSON_AddBoolToObject(entry, "ok", check->ok);
        cJSON_AddBoolToObject(entry, "needed", check->needed);
        cJSON_AddStringToObject(entry, "found", check->found);
        cJSON_AddItemToObject(entry, "cure",
                              check->ok ? cJSON_CreateNull() : cJSON_CreateString(check->cure));
        cJSON_AddItemToArray(checks, entry);
    }
    cli_print_json(object);
}

Status cli_doctor(int argc, char **argv) {
    static Doctor doctor; /* large */
    bool json = false, measure = false;
    const CliOption options[] = {
        {"--measure", CLI_FLAG, &measure, NULL,
         "also measure the peaks that figures are held against (seconds)", 0, 0},
        {"--json", CLI_FLAG, &json, NULL, "one JSON object: checks[] of name, ok, found, cure", 0,
         0},
        {0},
    };
    TRY(cli_parse(argc, argv, synopsis, summary, options, NULL));
    TRY(threads_plan(&doctor.plan, 0));
    doctor_look_at_processor(&doctor);
    doctor_look_at_libraries(&doctor);
    doctor_look_at_clock(&doctor);
    doctor_look_at_data(&doctor);
    doctor_look_at_cuda(&doctor);
    doctor_look_at_display(&doctor);
    if (measure) {
        doctor_look_at_peaks(&doctor);
    }
    const DoctorCheck *first = NULL;
    for (int i = doctor.count - 1; i >= 0; i--) {
        first = doctor.checks[i].needed && !doctor.checks[i].ok ? &doctor.checks[i] : first;
    }
    if (json) {
        print_json(&doctor, first == NULL);
    } else {
        print_checks(&doctor);
    }
    return first == NULL ? STATUS_OK
                         : fail_missing("%s: %s; %s", first->name, first->found, first->cure);
}
