/* How far two right backends may part: distances, nudges and bounds for the agreement check.
 *
 * Neither of two backends is the truth. Both round, in different orders, and a training amplifies
 * that. So the bounds are measured in the race itself, on one backend, the referee:
 *
 * One step from equal weights. With G the gradient, a backend computes G + e, where a sum of n
 * products is off by up to gamma_n times the sum of its absolute terms, in all likelihood by about
 * sqrt(n) u of it (Higham, Mary 2019, "A new approach to probabilistic rounding error analysis");
 * u = 2^-24. What e does behind softmax, ReLU and an optimizer's division cannot be said in
 * advance, but it can be measured: move every weight to its neighbouring number, up or down at
 * random, and take the same step. That puts an error of u into each term, sqrt(n) u into each sum,
 * as rounding does, and it cancels where rounding cancels. sigma is the distance of the two
 * updates (after - before). Then
 *
 *     ||a - b|| <= 16 sigma + max(16, sqrt(n)) u ||update|| + 2 u ||weights||
 *
 * 16: a sum taken in order has partial sums that are longer than its terms (8 times, for the 784
 * pixels of a digit, in the worst of our kernels); both backends err; luck. The second term is the
 * optimizer's own arithmetic and what a nudge cannot reach (a bias of 0 has no neighbour worth the
 * name), n the longest reduction of the model; the third is the rounding of two stored results.
 *
 * ReLU makes exceptions: where a pre-activation lies within rounding of 0, two right backends take
 * different branches, and one image's part in the gradient appears or vanishes. With 10^4 to 10^5
 * activations a batch this happens about once in 1000 steps, and such a step is 100 times over the
 * bound. So a step that fails is looked at again, AGREE_SECOND_LOOKS times with the same batch,
 * from weights moved AGREE_LOOK_ULPS neighbours away (a ten-thousandth): far more than rounding, so
 * the coincidence is gone, far less than learning, so a fault is still there. The backend is
 * refused when AGREE_REFUSE_AT looks fail too: even if one look in 20 met a coincidence of its own,
 * that many would come together less than once in a million times.
 *
 * The whole course. From the first such exception on, two right courses part for good, and the
 * network sets the pace: measured, 10^-7 of the weights becomes 10^-4 in that step and 10^-3 a few
 * hundred steps later. A nudge of one rounding unit at each step, the obvious yardstick, shows this
 * only once it meets an exception itself; it did not in 512 steps of a race in which a right pair
 * had. So the yardstick is the smallest accident itself: a twin of the referee that is told one
 * wrong label in its first batch and nothing wrong ever after. It parts by at least one exception
 * in the first step, and from then on the network amplifies both alike:
 *
 *     ||a - b|| <= 4 max_steps ||twin - referee|| + max(16, sqrt(n)) u ||weights||
 *
 * This bound is loose, and must be: it catches what goes wrong now and then, if it does more than
 * one wrong label (and not in the referee, whose lapses would widen the bound). What is wrong in
 * each step is the first check's prey.
 *
 * Measured with serial, openmp and openblas, on three models, all optimizers, over 200 races of 40
 * to 1500 steps: right pairs came to at most 0.35 of the first bound and 0.2 of the second, none
 * was refused. tests/test_race_agree.c holds both against wrong kernels. */
#ifndef LOCKSTEP_BOUNDS_H
#define LOCKSTEP_BOUNDS_H

#include <stddef.h>

#include "base/philox.h"

enum { AGREE_SECOND_LOOKS = 8, AGREE_REFUSE_AT = 6, AGREE_LOOK_ULPS = 1024 };

/* ||a - b||, in double. NAN where either holds one: no comparison with a bound passes then. */
double distance_l2(const float *a, const float *b, size_t n);
double norm_l2(const float *a, size_t n);

/* ||(a_after - a_before) - (b_after - b_before)||: the distance of two updates. */
double distance_of_updates(const float *a_after, const float *a_before, const float *b_after,
                           const float *b_before, size_t n);

/* Moves each number `neighbours` representable numbers up or down, by the bits of rng from index
 * first on. Zeros stay: their neighbours are denormal. */
void nudge_weights(float *weights, size_t n, uint32_t neighbours, Philox rng, uint64_t first);

/* The bounds above. longest: n, the longest reduction. */
double bound_step(double sigma, double update_norm, double weight_norm, int longest);
double bound_course(double twin_distance, double weight_norm, int longest);

/* The same two for a loss: a mean of fp32 losses, each one off by sqrt(n) u of its logits. */
double bound_step_loss(double sigma, double loss, int longest);
double bound_course_loss(double twin_distance, double loss, int longest);

#endif
