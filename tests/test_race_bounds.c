/* The parts of the agreement check: distances, nudges, bounds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>

#include "bench/bounds.h"

Test(race_bounds, distances_are_l2_and_see_nan) {
    const float a[] = {1.0f, 2.0f, 3.0f}, b[] = {1.0f, 5.0f, 7.0f};
    const float broken[] = {1.0f, NAN, 3.0f};
    cr_assert_float_eq(distance_l2(a, b, 3), 5.0, 1e-15);
    cr_assert_float_eq(norm_l2(b, 2), sqrt(26.0), 1e-15);
    cr_assert(isnan(distance_l2(a, broken, 3)));
    cr_assert(isnan(distance_of_updates(broken, a, b, b, 3)));
    cr_assert_not(distance_l2(a, broken, 3) <= 1e30, "no bound lets NaN pass");
}

Test(race_bounds, updates_are_compared_whatever_they_start_from) {
    const float a[] = {100.0f, 1.0f}, a_after[] = {103.0f, 1.0f};
    const float b[] = {0.5f, -2.0f}, b_after[] = {0.5f, 2.0f};
    cr_assert_float_eq(distance_of_updates(a_after, a, b_after, b, 2), 5.0, 1e-15);
}

Test(race_bounds, a_nudge_moves_each_weight_to_a_neighbour_in_both_directions) {
    enum { N = 1000 };
    float weights[N], nudged[N];
    int up = 0;
    for (int i = 0; i < N; i++) {
        weights[i] = nudged[i] = i % 10 == 0 ? 0.0f : (i % 2 ? 1.0f : -1.0f) / (float)(i + 1);
    }
    nudge_weights(nudged, N, 1, (Philox){7, 3}, 0);
    for (int i = 0; i < N; i++) {
        bool is_up = nudged[i] == nextafterf(weights[i], INFINITY);
        bool is_down = nudged[i] == nextafterf(weights[i], -INFINITY);
        cr_assert(weights[i] == 0.0f ? nudged[i] == 0.0f : is_up != is_down, "weight %d", i);
        up += is_up;
    }
    cr_assert(up > 360 && up < 540, "%d of 900 went up: 450 and 6 standard deviations", up);
}

Test(race_bounds, the_bounds_grow_with_what_was_measured_and_with_the_reduction) {
    const double u = 0x1p-24;
    cr_assert_float_eq(bound_step(1.0, 0.0, 0.0, 1), 16.0, 1e-12);
    cr_assert_float_eq(bound_step(0.0, 1.0, 0.0, 10000), 100.0 * u, 1e-15);
    cr_assert_float_eq(bound_step(0.0, 1.0, 0.0, 4), 16.0 * u, 1e-15);
    cr_assert_float_eq(bound_step(0.0, 0.0, 3.0, 4), 6.0 * u, 1e-15);
    cr_assert_float_eq(bound_course(1.0, 0.0, 9), 4.0, 1e-12);
    cr_assert_float_eq(bound_course_loss(0.0, 1.0, 1024), 64.0 * u, 1e-15);
}
