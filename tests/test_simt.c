/* The SIMT interpreter: each conformance program (tests/conformance/NAME.cu, the same source that
 * nvcc compiles for a GPU) runs to its end without a failed check, with one worker and with
 * several. The programs are processes of their own; where they are not built (the sanitizers'
 * builds leave the interpreter out), the tests are skipped. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Case {
    char name[48];
    int workers;
} Case;

enum { MAX_CASES = 256 };

ParameterizedTestParameters(simt, conformance_program) {
    static Case cases[MAX_CASES];
    size_t count = 0;
    glob_t found;
    if (glob("tests/conformance/*.cu", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && count + 3 <= MAX_CASES; i++) {
            const char *base = strrchr(found.gl_pathv[i], '/') + 1;
            for (int workers = 1; workers <= 3; workers += 2) {
                snprintf(cases[count].name, sizeof cases[count].name, "%.*s",
                         (int)(strlen(base) - strlen(".cu")), base);
                cases[count++].workers = workers;
            }
        }
        globfree(&found);
    }
    cases[count++] = (Case){"warp_width_64", 2}; /* the same source, compiled for wider warps */
    return cr_make_param_array(Case, cases, count);
}

/* The folder of the build that this test program belongs to. */
static const char *build_folder(void) {
    static char folder[1024];
    const char *binary = getenv("LOCKSTEP");
    snprintf(folder, sizeof folder, "%s", binary != NULL ? binary : "build/lockstep");
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return folder;
}

ParameterizedTest(Case *given, simt, conformance_program) {
    char path[1200], command[1400], output[8192];
    snprintf(path, sizeof path, "%s/simt/tests/conformance/%s", build_folder(), given->name);
    if (access(path, X_OK) != 0) {
        cr_skip_test("%s is not built", path);
    }
    snprintf(command, sizeof command, "SIMT_QUIET=1 SIMT_WORKERS=%d timeout 100 '%s' 2>&1",
             given->workers, path);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s, %d workers, status %d:\n%s",
              given->name, given->workers, status, output);
    cr_assert_not_null(strstr(output, " checks, 0 failed"), "%s did not come to its end:\n%s",
                       given->name, output);
}
