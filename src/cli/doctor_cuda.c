/* The doctor's look at CUDA and at displays: all optional. The driver's library is opened at run
 * time, so that one build runs with and without it. */
#define _GNU_SOURCE /* popen */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"

#if __has_include("config.h")
#include "config.h" /* written by the build: LOCKSTEP_HAVE_SDL2 */
#endif
#ifndef LOCKSTEP_HAVE_SDL2
#define LOCKSTEP_HAVE_SDL2 0
#endif

enum { OUTPUT_BYTES = 4096 };

/* The first bytes that a fixed shell command prints; false when it fails. */
static bool output_of(char *output, const char *command) {
    output[0] = '\0';
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        return false;
    }
    size_t length = fread(output, 1, OUTPUT_BYTES - 1, pipe);
    output[length] = '\0';
    while (fgetc(pipe) != EOF) {
    }
    return pclose(pipe) == 0;
}

static bool read_text(char *text, size_t text_bytes, const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(text, 1, text_bytes - 1, file);
    text[length] = '\0';
    fclose(file);
    return length > 0;
}

/* ---- nvcc and its host compiler -------------------------------------------------------------- */

/* The folder of the nvcc on the PATH, links resolved, or of where NVIDIA's packages put it. */
static bool find_nvcc(char *folder, size_t folder_bytes) {
    char output[OUTPUT_BYTES], program[PATH_MAX] = "/usr/local/cuda/bin/nvcc";
    if (output_of(output, "command -v nvcc 2>/dev/null")) {
        output[strcspn(output, "\n")] = '\0';
        if (realpath(output, program) == NULL) {
            return false;
        }
    }
    bool runs = access(program, X_OK) == 0 && strchr(program, '\'') == NULL;
    *strrchr(program, '/') = '\0';
    snprintf(folder, folder_bytes, "%s", program);
    return runs;
}

/* What the header beside this nvcc says; the table where there is no header. */
static int newest_gcc(const char *nvcc_folder, int major, int minor) {
    static const char *const places[] = {"../include/crt/host_config.h",
                                         "../targets/x86_64-linux/include/crt/host_config.h",
                                         "../targets/sbsa-linux/include/crt/host_config.h"};
    static char text[65536], path[4400];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", nvcc_folder, places[i]);
        int newest = read_text(text, sizeof text, path) ? parse_host_config(text) : 0;
        if (newest > 0) {
            return newest;
        }
    }
    return cuda_newest_gcc(major, minor);
}

/* Returns the CUDA version as the driver counts it (12020 for 12.2); 0 without nvcc. */
static int look_at_nvcc(Doctor *doctor) {
    static char folder[4096], command[4200];
    char output[OUTPUT_BYTES], gcc[OUTPUT_BYTES];
    int major = 0, minor = 0;
    bool found = find_nvcc(folder, sizeof folder);
    snprintf(command, sizeof command, "'%s/nvcc' --version 2>/dev/null", folder);
    if (!found || !output_of(output, command) || !parse_nvcc_version(output, &major, &minor)) {
        DoctorCheck *check = doctor_add(doctor, "nvcc", false, "not found");
        doctor_cure(check, "optional: apt-get install nvidia-cuda-toolkit, or put NVIDIA's own "
                           "toolkit's bin folder on the PATH");
        return 0;
    }
    int newest = newest_gcc(folder, major, minor);
    output_of(gcc, "gcc -dumpfullversion -dumpversion 2>/dev/null");
    gcc[strcspn(gcc, "\n")] = '\0';
    DoctorCheck *check = doctor_add(doctor, "nvcc", false,
                                    "CUDA %d.%d in %.100s; takes gcc up to %d, gcc here is "
                                    "%.40s",
                                    major, minor, folder, newest, gcc[0] != '\0' ? gcc : "missing");
    if (newest > 0 && parse_major(gcc) > newest) {
        doctor_cure(check,
                    "gcc %d is too new for it: apt-get install g++-%d and set "
                    "NVCC_PREPEND_FLAGS='-ccbin g++-%d'",
                    parse_major(gcc), newest, newest);
    } else if (gcc[0] == '\0') {
        doctor_cure(check, "nvcc needs a host compiler: apt-get install g++");
    }
    return major * 1000 + minor * 10;
}

/* ---- driver and GPUs ------------------------------------------------------------------------ */

/* The few calls of the driver's library that tell what is there. Names and meanings: CUDA Driver
 * API reference; the two attribute numbers are CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
 * _MINOR.
 */
typedef struct Driver {
    void *library;
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *count);
    int (*device)(int *device, int ordinal);
    int (*name)(char *name, int bytes, int device);
    int (*memory)(size_t *bytes, int device);
    int (*attribute)(int *value, int attribute, int device);
} Driver;
enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };

/* dlsym's pointer goes into a function pointer by its bytes, as POSIX has it. */
static bool load(const Driver *driver, void *function, const char *name) {
    void *symbol = dlsym(driver->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_driver(Driver *driver) {
    driver->library = dlopen("libcuda.so.1", RTLD_NOW);
    return driver->library != NULL && load(driver, &driver->init, "cuInit") &&
           load(driver, &driver->version, "cuDriverGetVersion") &&
           load(driver, &driver->count, "cuDeviceGetCount") &&
           load(driver, &driver->device, "cuDeviceGet") &&
           load(driver, &driver->name, "cuDeviceGetName") &&
           load(driver, &driver->memory, "cuDeviceTotalMem_v2") &&
           load(driver, &driver->attribute, "cuDeviceGetAttribute");
}

static void describe_gpu(Doctor *doctor, const Driver *driver, int ordinal) {
    char name[128] = "?";
    int device = 0, major = 0, minor = 0;
    size_t bytes = 0;
    driver->device(&device, ordinal);
    driver->name(name, sizeof name, device);
    driver->memory(&bytes, device);
    driver->attribute(&major, ATTRIBUTE_MAJOR, device);
    driver->attribute(&minor, ATTRIBUTE_MINOR, device);
    doctor_add(doctor, "GPU", false, "%s, compute capability %d.%d, %.1f GiB", name, major, minor,
               (double)bytes / 0x1p30);
}

static void look_at_gpus(Doctor *doctor, bool module_loaded, int toolkit) {
    Driver driver = {0};
    int count = 0, version = 0, error = -1;
    if (open_driver(&driver)) {
        error = driver.init(0);
        driver.version(&version);
    }
    if (error == 0) {
        driver.count(&count);
    }
    for (int i = 0; i < count && doctor->count < DOCTOR_MAX_CHECKS - 4; i++) {
        describe_gpu(doctor, &driver, i);
    }
    if (count == 0) {
        DoctorCheck *check = doctor_add(doctor, "GPU", false, "none that can be used");
        doctor_cure(check, "optional; everything else works without an NVIDIA GPU");
        if (module_loaded && error > 0) {
            doctor_cure(check,
                        "the driver answers with error %d: reboot after a driver update, and "
                        "in a container pass the GPU through",
                        error);
        }
    } else if (toolkit / 1000 > version / 1000) {
        doctor_cure(&doctor->checks[doctor->count - 1],
                    "the driver knows CUDA up to %d.%d and the toolkit is %d.%d: update the driver",
                    version / 1000, version % 1000 / 10, toolkit / 1000, toolkit % 1000 / 10);
    }
    if (driver.library != NULL) {
        dlclose(driver.library);
    }
}

void doctor_look_at_cuda(Doctor *doctor) {
    char text[OUTPUT_BYTES], version[64] = "";
    int toolkit = look_at_nvcc(doctor);
    bool loaded = read_text(text, sizeof text, "/proc/driver/nvidia/version") &&
                  parse_driver_version(version, sizeof version, text);
    if (!loaded && output_of(text, "nvidia-smi --query-gpu=driver_version --format=csv,noheader "
                                   "2>/dev/null")) {
        snprintf(version, sizeof version, "%.*s", (int)strcspn(text, "\n"), text);
        loaded = version[0] != '\0';
    }
    DoctorCheck *check =
        doctor_add(doctor, "NVIDIA driver", false, "%s", loaded ? version : "none loaded");
    if (!loaded) {
        doctor_cure(check, "optional; with an NVIDIA GPU: apt-get install nvidia-driver, then "
                           "reboot");
    }
    look_at_gpus(doctor, loaded, toolkit);
}

/* ---- display -------------------------------------------------------------------------------- */

void doctor_look_at_display(Doctor *doctor) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    if (LOCKSTEP_HAVE_SDL2) {
        doctor_add(doctor, "SDL2", false, "built in");
    } else {
        doctor_cure(doctor_add(doctor, "SDL2", false, "not built in"),
                    "optional, for windows: apt-get install libsdl2-dev libsdl2-ttf-dev, then "
                    "make");
    }
    if (wayland != NULL && *wayland != '\0') {
        doctor_add(doctor, "display", false, "Wayland %.100s", wayland);
    } else if (x != NULL && *x != '\0') {
        doctor_add(doctor, "display", false, "X %.100s", x);
    } else {
        doctor_cure(doctor_add(doctor, "display", false, "none"),
                    "optional; the terminal and pictures work without one. Over ssh: "
                    "ssh -X");
    }
}
