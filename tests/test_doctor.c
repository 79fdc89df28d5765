/* The doctor's parsers, on what the programs and files really say. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/doctor.h"

Test(doctor, nvcc_says_its_release) {
    int major = 0, minor = 0;
    cr_assert(parse_nvcc_version("nvcc: NVIDIA (R) Cuda compiler driver\n"
                                 "Copyright (c) 2005-2025 NVIDIA Corporation\n"
                                 "Cuda compilation tools, release 12.4, V12.4.131\n",
                                 &major, &minor));
    cr_assert(major == 12 && minor == 4);
    cr_assert_not(parse_nvcc_version("", &major, &minor));
    cr_assert_not(parse_nvcc_version("release candidate", &major, &minor));
}

Test(doctor, a_compiler_s_version_gives_its_major_number) {
    cr_assert_eq(parse_major("12.2.0"), 12);
    cr_assert_eq(parse_major("14\n"), 14);
    cr_assert_eq(parse_major(""), 0);
    cr_assert_eq(parse_major("none"), 0);
}

Test(doctor, the_cuda_header_says_its_newest_gcc) {
    cr_assert_eq(parse_host_config("#if defined(__GNUC__)\n\n#if __GNUC__ > 13\n\n"
                                   "#error -- unsupported GNU version! gcc versions later than 13 "
                                   "are not supported!\n#endif /* __GNUC__ > 13 */\n"),
                 13);
    /* CUDA 9: older header, with a second condition on the same line */
    cr_assert_eq(parse_host_config("#if __GNUC__ > 6\n#if __GNUC__ > 6 || (__GNUC__ == 6)"), 6);
    cr_assert_eq(parse_host_config("nothing about it"), 0);
    cr_assert_eq(parse_host_config("__GNUC__ > "), 0);
}

/* NVIDIA's installation guides: 11.8 takes gcc 11, 12.0 to 12.3 gcc 12, 12.4 to 12.6 gcc 13, 12.8
 * and 12.9 gcc 14, 13.0 gcc 15. */
Test(doctor, the_table_of_host_compilers_follows_nvidia_s_guides) {
    cr_assert_eq(cuda_newest_gcc(10, 2), 8);
    cr_assert_eq(cuda_newest_gcc(11, 0), 9);
    cr_assert_eq(cuda_newest_gcc(11, 8), 11);
    cr_assert_eq(cuda_newest_gcc(12, 0), 12);
    cr_assert_eq(cuda_newest_gcc(12, 3), 12);
    cr_assert_eq(cuda_newest_gcc(12, 4), 13);
    cr_assert_eq(cuda_newest_gcc(12, 6), 13);
    cr_assert_eq(cuda_newest_gcc(12, 8), 14);
    cr_assert_eq(cuda_newest_gcc(13, 0), 15);
    cr_assert_eq(cuda_newest_gcc(99, 0), 0, "what is not known is not invented");
}

Test(doctor, the_driver_s_version_is_found_in_both_kinds_of_module) {
    char version[64];
    cr_assert(
        parse_driver_version(version, sizeof version,
                             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat "
                             "Aug 19 01:15:15 UTC 2023\nGCC version:  gcc version 12.2.0"));
    cr_assert_str_eq(version, "535.104.05");
    cr_assert(parse_driver_version(version, sizeof version,
                                   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                   "550.54.15  Release Build"));
    cr_assert_str_eq(version, "550.54.15");
    cr_assert_not(parse_driver_version(version, sizeof version, ""));
    cr_assert_not(parse_driver_version(version, sizeof version, "Kernel Module for x86_64"));
}

Test(doctor, blas_cores_without_fused_multiply_add_are_known) {
    cr_assert(is_old_blas_core("Prescott"));
    cr_assert(is_old_blas_core("Sandybridge"));
    cr_assert_not(is_old_blas_core("Zen"));
    cr_assert_not(is_old_blas_core("Haswell"));
    cr_assert_not(is_old_blas_core("SkylakeX"));
}

Test(doctor, more_checks_than_fit_overwrite_the_last_and_nothing_else) {
    static Doctor doctor;
    for (int i = 0; i < DOCTOR_MAX_CHECKS + 5; i++) {
        doctor_add(&doctor, "check", false, "%d", i);
    }
    cr_assert_eq(doctor.count, DOCTOR_MAX_CHECKS);
    cr_assert_str_eq(doctor.checks[0].found, "0");
    cr_assert_str_eq(doctor.checks[DOCTOR_MAX_CHECKS - 1].found, "36");
    doctor_cure(&doctor.checks[0], "do %s", "this");
    cr_assert_not(doctor.checks[0].ok);
    cr_assert_str_eq(doctor.checks[0].cure, "do this");
}
