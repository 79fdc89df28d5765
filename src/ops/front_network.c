/* The fronts of activations, losses and optimizers. Each reads the same: check what is checkable,
 * pass over empty work, then begin, call the chosen kernel, end with what the contract says the
 * operation needs. */
#include <math.h>

#include "ops/front_call.h"

/* ---- activations ----------------------------------------------------------------------------- */

Status op_relu_forward(const Backend *be, float *out, const float *inp, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_relu_forward, out, inp);
    OpSpan span = front_begin(be, OP_relu_forward);
    be->ops.relu_forward(out, inp, n);
    return front_end(span, 0, floats(2.0 * (double)n));
}

Status op_relu_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                        size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_relu_backward, dinp, dout, out);
    OpSpan span = front_begin(be, OP_relu_backward);
    be->ops.relu_backward(dinp, dout, out, n);
    return front_end(span, 0, floats(3.0 * (double)n));
}

Status op_sigmoid_forward(const Backend *be, float *out, const float *inp, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_sigmoid_forward, out, inp);
    OpSpan span = front_begin(be, OP_sigmoid_forward);
    be->ops.sigmoid_forward(out, inp, n);
    return front_end(span, 3.0 * (double)n, floats(2.0 * (double)n));
}

Status op_sigmoid_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                           size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_sigmoid_backward, dinp, dout, out);
    OpSpan span = front_begin(be, OP_sigmoid_backward);
    be->ops.sigmoid_backward(dinp, dout, out, n);
    return front_end(span, 3.0 * (double)n, floats(3.0 * (double)n));
}

Status op_tanh_forward(const Backend *be, float *out, const float *inp, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_tanh_forward, out, inp);
    OpSpan span = front_begin(be, OP_tanh_forward);
    be->ops.tanh_forward(out, inp, n);
    return front_end(span, (double)n, floats(2.0 * (double)n));
}

Status op_tanh_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                        size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_tanh_backward, dinp, dout, out);
    OpSpan span = front_begin(be, OP_tanh_backward);
    be->ops.tanh_backward(dinp, dout, out, n);
    return front_end(span, 3.0 * (double)n, floats(3.0 * (double)n));
}

/* ---- loss ----------------------------------------------------------------------------------- */

/* Labels may lie on a device, so their range is the business of whoever uploads them. */
static Status check_classes(OpId op, int N, int V) {
    CHECK_SIZES(op, N, V);
    if (N > 0 && V == 0) {
        return fail("%s: V is 0; a label needs at least one class", op_name(op));
    }
    return STATUS_OK;
}

Status op_softmax_cross_entropy_forward(const Backend *be, float *losses, float *probs,
                                        const float *logits, const int32_t *labels, int N, int V) {
    TRY(check_classes(OP_softmax_cross_entropy_forward, N, V));
    if (N == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_softmax_cross_entropy_forward, losses, probs, logits, labels);
    OpSpan span = front_begin(be, OP_softmax_cross_entropy_forward);
    be->ops.softmax_cross_entropy_forward(losses, probs, logits, labels, N, V);
    return front_end(span, N * (4.0 * V + 3), floats(N * (2.0 * V + 2)));
}

Status op_softmax_cross_entropy_backward(const Backend *be, float *dlogits, const float *probs,
                                         const int32_t *labels, float scale, int N, int V) {
    TRY(check_classes(OP_softmax_cross_entropy_backward, N, V));
    if (N == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_softmax_cross_entropy_backward, dlogits, probs, labels);
    OpSpan span = front_begin(be, OP_softmax_cross_entropy_backward);
    be->ops.softmax_cross_entropy_backward(dlogits, probs, labels, scale, N, V);
    return front_end(span, N * (V + 1.0), floats(N * (2.0 * V + 1)));
}

/* ---- optimizers ------------------------------------------------------------------------------ */

Status op_sgd(const Backend *be, float *param, const float *grad, float lr, float weight_decay,
              size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_sgd, param, grad);
    OpSpan span = front_begin(be, OP_sgd);
    be->ops.sgd(param, grad, lr, weight_decay, n);
    return front_end(span, 4.0 * (double)n, floats(3.0 * (double)n));
}

Status op_momentum(const Backend *be, float *param, float *velocity, const float *grad, float lr,
                   float beta, float weight_decay, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_momentum, param, velocity, grad);
    OpSpan span = front_begin(be, OP_momentum);
    be->ops.momentum(param, velocity, grad, lr, beta, weight_decay, n);
    return front_end(span, 6.0 * (double)n, floats(5.0 * (double)n));
}

/* beta = 1 would never learn and divide 0 by 0; a step of 0 as well. */
static Status check_adam(OpId op, float beta1, float beta2, int step) {
    if (step < 1) {
        return fail("%s: step is %d; steps count from 1", op_name(op), step);
    }
    if (!(beta1 >= 0.0f && beta1 < 1.0f) || !(beta2 >= 0.0f && beta2 < 1.0f)) {
        return fail("%s: beta1 is %g and beta2 is %g; both must be at least 0 and below 1",
                    op_name(op), (double)beta1, (double)beta2);
    }
    return STATUS_OK;
}

/* 1 - beta^step, in double: at beta = 0.999 fp32 would keep 4 digits of the first ones. */
static float adam_correction(float beta, int step) {
    return (float)(1.0 - pow((double)beta, step));
}

Status op_adam(const Backend *be, float *param, float *m, float *v, const float *grad, float lr,
               float beta1, float beta2, float eps, float weight_decay, int step, size_t n) {
    TRY(check_adam(OP_adam, beta1, beta2, step));
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_adam, param, m, v, grad);
    OpSpan span = front_begin(be, OP_adam);
    be->ops.adam(param, m, v, grad, lr, beta1, beta2, eps, weight_decay,
                 adam_correction(beta1, step), adam_correction(beta2, step), n);
    return front_end(span, 16.0 * (double)n, floats(7.0 * (double)n));
}

Status op_adamw(const Backend *be, float *param, float *m, float *v, const float *grad, float lr,
                float beta1, float beta2, float eps, float weight_decay, int step, size_t n) {
    TRY(check_adam(OP_adamw, beta1, beta2, step));
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_adamw, param, m, v, grad);
    OpSpan span = front_begin(be, OP_adamw);
    be->ops.adamw(param, m, v, grad, lr, beta1, beta2, eps, weight_decay,
                  adam_correction(beta1, step), adam_correction(beta2, step), n);
    return front_end(span, 16.0 * (double)n, floats(7.0 * (double)n));
}
