/* The chain of trust below the verifier: the reference's forward results against cases worked by
 * hand, and its backward results against differences of its forward ones, in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "call_fixture.h"

/* ---- forward, by hand ------------------------------------------------------------------------ */

/* Expected numbers and how many. */
#define VALUES(...) (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)

static void expect_values(const OpCall *call, const char *name, const double *expected,
                          size_t count) {
    Reference reference;
    const Approx *found = refer(&reference, call, name);
    cr_assert_eq(reference.count[spec_arg(call->spec, name)], count);
    for (size_t i = 0; i < count; i++) {
        cr_assert(fabs(found[i].value - expected[i]) <= 1e-8 * fabs(expected[i]),
                  "%s %s[%zu]: found %.12g, expected %.12g", op_name(call->spec->op), name, i,
                  found[i].value, expected[i]);
    }
    reference_release(&reference);
}

static OpCall unary(OpId op, const float *inp, size_t n) {
    OpCall call = call_of(op, n, 0, 0);
    give(&call, "inp", inp);
    return call;
}

Test(reference, vectors_by_hand) {
    const float x[] = {1, -2, 3}, y[] = {10, 20, -30};
    OpCall call = call_of(OP_axpy, 3, 0, 0);
    give(&call, "x", x);
    give(&call, "y", y);
    set(&call, "alpha", -2);
    expect_values(&call, "y", VALUES(8, 24, -36));
    call = call_of(OP_vector_add, 3, 0, 0);
    give(&call, "a", x);
    give(&call, "b", y);
    expect_values(&call, "out", VALUES(11, 18, -27));
    call = call_of(OP_fill, 2, 0, 0);
    set(&call, "value", 2.5);
    expect_values(&call, "x", VALUES(2.5, 2.5));
    call = unary(OP_copy, x, 3);
    expect_values(&call, "out", VALUES(1, -2, 3));
    call = call_of(OP_transpose, 2, 3, 0);
    give(&call, "inp", (float[]){1, 2, 3, 4, 5, 6});
    expect_values(&call, "out", VALUES(1, 4, 2, 5, 3, 6));
}

Test(reference, reductions_by_hand) {
    const float inp[] = {1, -5, 3, 7, 7, 2};
    OpCall call = call_of(OP_sum, 2, 3, 0);
    give(&call, "inp", inp);
    expect_values(&call, "out", VALUES(-1, 16));
    call = call_of(OP_mean, 2, 3, 0);
    give(&call, "inp", inp);
    expect_values(&call, "out", VALUES(-1.0 / 3.0, 16.0 / 3.0));
    call = call_of(OP_max, 2, 3, 0);
    give(&call, "inp", inp);
    expect_values(&call, "out", VALUES(3, 7));
    call = call_of(OP_argmax, 2, 3, 0);
    give(&call, "inp", inp);
    expect_values(&call, "out", VALUES(2, 0));
}

/* a = [[1,2],[3,4],[5,6]], b = [[1,0,-1],[2,1,0]]: a b = [[5,2,-1],[11,4,-3],[17,6,-5]]. */
Test(reference, matrix_products_by_hand) {
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, -1, 2, 1, 0};
    const float b_transposed[] = {1, 2, 0, 1, -1, 0}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    OpCall call = call_of(OP_matmul, 3, 3, 2);
    give(&call, "a", a);
    give(&call, "b", b);
    give(&call, "c", ones);
    expect_values(&call, "c", VALUES(5, 2, -1, 11, 4, -3, 17, 6, -5));
    set(&call, "alpha", 2);
    set(&call, "beta", -3);
    expect_values(&call, "c", VALUES(7, 1, -5, 19, 5, -9, 31, 9, -13));
    call = call_of(OP_matmul_forward, 3, 2, 3);
    give(&call, "inp", a);
    give(&call, "weight", b_transposed);
    give(&call, "bias", (float[]){100, 200, 300});
    expect_values(&call, "out", VALUES(105, 202, 299, 111, 204, 297, 117, 206, 295));
}

Test(reference, activations_by_hand) {
    const float inp[] = {-1.5f, 0.0f, 2.0f};
    OpCall call = unary(OP_relu_forward, inp, 3);
    expect_values(&call, "out", VALUES(0, 0, 2));
    call = unary(OP_sigmoid_forward, inp, 3);
    expect_values(&call, "out", VALUES(0.18242552380635635, 0.5, 0.8807970779778823));
    call = unary(OP_tanh_forward, inp, 3);
    expect_values(&call, "out", VALUES(-0.9051482536448665, 0, 0.9640275800758169));
}

/* Logits (0, 1, 3), label 1: s = e^-3 + e^-2 + 1, loss = 3 + log s - 1. */
Test(reference, softmax_by_hand) {
    const float logits[] = {0, 1, 3};
    const int32_t label = 1;
    double s = exp(-3.0) + exp(-2.0) + 1.0;
    OpCall call = call_of(OP_softmax_cross_entropy_forward, 1, 3, 0);
    give(&call, "logits", logits);
    give(&call, "labels", &label);
    expect_values(&call, "losses", VALUES(2.0 + log(s)));
    expect_values(&call, "probs", VALUES(exp(-3.0) / s, exp(-2.0) / s, 1.0 / s));
}

/* All numbers are exact in binary. */
Test(reference, sgd_and_momentum_by_hand) {
    const float param = 2.0f, grad = 3.0f, velocity = -4.0f;
    OpCall call = call_of(OP_sgd, 1, 0, 0);
    give(&call, "param", &param);
    give(&call, "grad", &grad);
    set(&call, "lr", 0.5);
    set(&call, "weight_decay", 0.25);
    expect_values(&call, "param", VALUES(2.0 - 0.5 * 3.5));
    call = call_of(OP_momentum, 1, 0, 0);
    give(&call, "param", &param);
    give(&call, "grad", &grad);
    give(&call, "velocity", &velocity);
    set(&call, "lr", 0.5);
    set(&call, "beta", 0.5);
    set(&call, "weight_decay", 0.25);
    expect_values(&call, "velocity", VALUES(1.5));
    expect_values(&call, "param", VALUES(1.25));
}

/* beta1 = 1/2, beta2 = 3/4, step 2: corrections 3/4 and 7/16. With g = 4 (adam: 3 + 0.5 * 2):
 * m = 0.5 * 1 + 0.5 * 4 = 2.5, v = 0.75 * 4 + 0.25 * 16 = 7, so the step is
 * lr * (10/3) / (sqrt(16) + eps). adamw has g = 3: m = 2, v = 3 + 9/4 = 5.25, 12 = v / c2. */
Test(reference, adam_and_adamw_by_hand) {
    const float param = 2.0f, grad = 3.0f, m = 1.0f, v = 4.0f;
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        OpCall call = call_of(decoupled ? OP_adamw : OP_adam, 1, 0, 0);
        give(&call, "param", &param);
        give(&call, "grad", &grad);
        give(&call, "m", &m);
        give(&call, "v", &v);
        set(&call, "lr", 0.5);
        set(&call, "beta1", 0.5);
        set(&call, "beta2", 0.75);
        set(&call, "eps", 1.0);
        set(&call, "weight_decay", 0.5);
        set(&call, "step", 2);
        expect_values(&call, "m", VALUES(decoupled ? 2.0 : 2.5));
        expect_values(&call, "v", VALUES(decoupled ? 5.25 : 7.0));
        double step =
            decoupled ? 0.5 * (8.0 / 3.0) / (sqrt(12.0) + 1.0) : 0.5 * (10.0 / 3.0) / (4.0 + 1.0);
        expect_values(&call, "param", VALUES(2.0 - step - (decoupled ? 0.5 : 0.0)));
    }
}

/* ---- backward, by differences --------------------------------------------------------------- */

/* The inputs are multiples of 2^-12, so that x + h and x - h are exact in fp32. */
static const float STEP = 0x1p-10f;

static float *random_grid(size_t count, uint64_t stream) {
    float *x = malloc((count + 1) * sizeof *x);
    cr_assert_not_null(x);
    for (size_t i = 0; i < count; i++) {
        float value = rintf(philox_normal((Philox){31, stream}, i) * 0x1p12f) * 0x1p-12f;
        /* relu's kink at 0 is not within reach of a step. */
        x[i] = fabsf(value) < 4.0f * STEP ? 0.25f : value;
    }
    return x;
}

/* The scalar whose gradient is taken: the sum of weight[j] * output[j]. */
static double weighted(const OpCall *call, const char *output, const float *weight) {
    Reference reference;
    const Approx *found = refer(&reference, call, output);
    double sum = 0.0;
    for (size_t j = 0; j < reference.count[spec_arg(call->spec, output)]; j++) {
        sum += (double)weight[j] * found[j].value;
    }
    reference_release(&reference);
    return sum;
}

static double central(const OpCall *call, const char *output, const float *weight, float *x,
                      float step) {
    float kept = *x;
    *x = kept + step;
    double up = weighted(call, output, weight);
    *x = kept - step;
    double down = weighted(call, output, weight);
    *x = kept;
    return (up - down) / (2.0 * (double)step);
}

/* d weighted / d *x: two central differences, whose errors in step^2 cancel (Richardson). What is
 * left is of the order of step^4 = 1e-12, and 2^-53 / step = 1e-13 from rounding. */
static double slope(const OpCall *call, const char *output, const float *weight, float *x) {
    return (4.0 * central(call, output, weight, x, 0.5f * STEP) -
            central(call, output, weight, x, STEP)) /
           3.0;
}

/* Differences above are exact to 1e-11; a backward operation that takes the forward's output takes
 * it rounded to fp32, which moves its result by a few 2^-24. */
static const double TOLERANCE = 1e-6;

static size_t disagreements(const OpCall *forward, const char *output, const float *weight,
                            float *x, const Approx *gradient, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        double found = slope(forward, output, weight, &x[i]);
        wrong += !(fabs(found - gradient[i].value) <= TOLERANCE * fmax(1.0, fabs(found)));
    }
    return wrong;
}

static void expect_gradient(const OpCall *forward, const char *output, const float *weight,
                            float *x, const OpCall *backward, const char *gradient) {
    Reference reference;
    const Approx *found = refer(&reference, backward, gradient);
    size_t count = reference.count[spec_arg(backward->spec, gradient)];
    cr_assert_eq(disagreements(forward, output, weight, x, found, count), 0, "%s",
                 op_name(backward->spec->op));
    reference_release(&reference);
}

Test(gradients, of_matrix_products) {
    enum { N = 5, C = 3, OC = 4 };
    float *inp = random_grid(N * C, 1), *weight = random_grid(OC * C, 2);
    float *bias = random_grid(OC, 3), *dout = random_grid(N * OC, 4);
    OpCall forward = call_of(OP_matmul_forward, N, C, OC);
    give(&forward, "inp", inp);
    give(&forward, "weight", weight);
    give(&forward, "bias", bias);
    OpCall backward = call_of(OP_matmul_backward_input, N, C, OC);
    give(&backward, "dout", dout);
    give(&backward, "weight", weight);
    expect_gradient(&forward, "out", dout, inp, &backward, "dinp");
    backward = call_of(OP_matmul_backward_weight, N, C, OC);
    give(&backward, "dout", dout);
    give(&backward, "inp", inp);
    expect_gradient(&forward, "out", dout, weight, &backward, "dweight");
    backward = call_of(OP_matmul_backward_bias, N, OC, 0);
    give(&backward, "dout", dout);
    expect_gradient(&forward, "out", dout, bias, &backward, "dbias");
    free(inp);
    free(weight);
    free(bias);
    free(dout);
}

Test(gradients, accumulate_adds_to_what_is_there) {
    const float dout[] = {1, 2, 3, 4}, inp[] = {5, 6}, before[] = {100, 200};
    OpCall call = call_of(OP_matmul_backward_weight, 2, 1, 2);
    give(&call, "dout", dout);
    give(&call, "inp", inp);
    give(&call, "dweight", before);
    expect_values(&call, "dweight", VALUES(1 * 5 + 3 * 6, 2 * 5 + 4 * 6));
    set(&call, "accumulate", 1);
    expect_values(&call, "dweight", VALUES(123, 234));
    call = call_of(OP_matmul_backward_bias, 2, 2, 0);
    give(&call, "dout", dout);
    give(&call, "dbias", before);
    set(&call, "accumulate", 1);
    expect_values(&call, "dbias", VALUES(104, 206));
}

/* The forward's output as a network would keep it: fp32. */
static float *rounded_output(const OpCall *forward, const char *name) {
    Reference reference;
    const Approx *found = refer(&reference, forward, name);
    size_t count = reference.count[spec_arg(forward->spec, name)];
    float *out = malloc((count + 1) * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)found[i].value;
    }
    reference_release(&reference);
    return out;
}

static void activation_gradient(OpId forward_op, OpId backward_op) {
    enum { N = 64 };
    float *inp = random_grid(N, 5), *dout = random_grid(N, 6);
    OpCall forward = unary(forward_op, inp, N), backward = call_of(backward_op, N, 0, 0);
    float *out = rounded_output(&forward, "out");
    give(&backward, "dout", dout);
    give(&backward, "out", out);
    expect_gradient(&forward, "out", dout, inp, &backward, "dinp");
    free(inp);
    free(dout);
    free(out);
}

Test(gradients, of_activations) {
    activation_gradient(OP_relu_forward, OP_relu_backward);
    activation_gradient(OP_sigmoid_forward, OP_sigmoid_backward);
    activation_gradient(OP_tanh_forward, OP_tanh_backward);
}

/* The kink itself: between the slopes on both sides, and 0 by the contract. */
Test(gradients, of_relu_at_0_is_0) {
    const float zero[] = {0.0f, -0.0f}, dout[] = {3.0f, -3.0f};
    OpCall call = call_of(OP_relu_backward, 2, 0, 0);
    give(&call, "dout", dout);
    give(&call, "out", zero);
    expect_values(&call, "dinp", VALUES(0, 0));
}

Test(gradients, of_softmax_cross_entropy) {
    enum { N = 4, V = 7 };
    const int32_t labels[N] = {0, 6, 3, 3};
    const float scale[N] = {0.25f, 0.25f, 0.25f, 0.25f};
    float *logits = random_grid(N * V, 7);
    OpCall forward = call_of(OP_softmax_cross_entropy_forward, N, V, 0);
    give(&forward, "logits", logits);
    give(&forward, "labels", labels);
    float *probs = rounded_output(&forward, "probs");
    OpCall backward = call_of(OP_softmax_cross_entropy_backward, N, V, 0);
    give(&backward, "probs", probs);
    give(&backward, "labels", labels);
    set(&backward, "scale", 0.25);
    expect_gradient(&forward, "losses", scale, logits, &backward, "dlogits");
    free(logits);
    free(probs);
}

/* The check itself can fail: a slope of 1 + out^2 is found wrong wherever out is not 0. */
Test(gradients, a_wrong_derivative_is_found) {
    enum { N = 16 };
    Approx wrong[N];
    float *inp = random_grid(N, 8), *dout = random_grid(N, 9);
    OpCall forward = unary(OP_tanh_forward, inp, N);
    for (size_t i = 0; i < N; i++) {
        double out = tanh((double)inp[i]);
        wrong[i] = approx_exact((double)dout[i] * (1.0 + out * out));
    }
    cr_assert_eq(disagreements(&forward, "out", dout, inp, wrong, N), N);
    free(inp);
    free(dout);
}
