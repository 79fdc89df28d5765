/* The table of all operations as data, and the adaptors that call their fronts from it. */
#include "ops/spec_table.h"

#include <limits.h>

#include "ops/front.h"

/* ---- adaptors: unpack a call. Short names, because each is used some forty times. ----------- */

static float number(const OpCall *call, int option) {
    return (float)call->option[option];
}

static int whole(const OpCall *call, int option) {
    return (int)call->option[option];
}

static bool flag(const OpCall *call, int option) {
    return call->option[option] != 0.0;
}

static int size(const OpCall *call, int dim) {
    return (int)call->dim[dim];
}

/* The first count dimensions are int in the contract. */
static Status check_int_dims(const OpCall *call, int count) {
    for (int i = 0; i < count; i++) {
        if (call->dim[i] > INT_MAX) {
            return fail("%s: %s is %zu; it can be at most %d", op_name(call->spec->op),
                        call->spec->dims[i], call->dim[i], INT_MAX);
        }
    }
    return STATUS_OK;
}

static Status call_fill(const Backend *be, const OpCall *c) {
    return op_fill(be, c->arg[0], number(c, 0), c->dim[0]);
}

static Status call_copy(const Backend *be, const OpCall *c) {
    return op_copy(be, c->arg[0], c->arg[1], c->dim[0]);
}

static Status call_vector_add(const Backend *be, const OpCall *c) {
    return op_vector_add(be, c->arg[0], c->arg[1], c->arg[2], c->dim[0]);
}

static Status call_axpy(const Backend *be, const OpCall *c) {
    return op_axpy(be, c->arg[0], c->arg[1], number(c, 0), c->dim[0]);
}

static Status call_transpose(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 2));
    return op_transpose(be, c->arg[0], c->arg[1], size(c, 0), size(c, 1));
}

static Status call_sum(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 1));
    return op_sum(be, c->arg[0], c->arg[1], size(c, 0), c->dim[1]);
}

static Status call_mean(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 1));
    return op_mean(be, c->arg[0], c->arg[1], size(c, 0), c->dim[1]);
}

static Status call_max(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 1));
    return op_max(be, c->arg[0], c->arg[1], size(c, 0), c->dim[1]);
}

static Status call_argmax(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 2));
    return op_argmax(be, c->arg[0], c->arg[1], size(c, 0), size(c, 1));
}

/* Leading dimensions of 0 stand for contiguous rows. */
static Status call_matmul(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 3));
    int M = size(c, 0), N = size(c, 1), K = size(c, 2);
    bool trans_a = flag(c, 2), trans_b = flag(c, 3);
    int lda = whole(c, 4) != 0 ? whole(c, 4) : (trans_a ? M : K);
    int ldb = whole(c, 5) != 0 ? whole(c, 5) : (trans_b ? K : N);
    int ldc = whole(c, 6) != 0 ? whole(c, 6) : N;
    return op_matmul(be, c->arg[0], c->arg[1], c->arg[2], number(c, 0), number(c, 1), trans_a,
                     trans_b, M, N, K, lda, ldb, ldc);
}

static Status call_matmul_forward(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 3));
    return op_matmul_forward(be, c->arg[0], c->arg[1], c->arg[2], c->arg[3], size(c, 0), size(c, 1),
                             size(c, 2));
}

static Status call_matmul_backward_input(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 3));
    return op_matmul_backward_input(be, c->arg[0], c->arg[1], c->arg[2], size(c, 0), size(c, 1),
                                    size(c, 2));
}

static Status call_matmul_backward_weight(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 3));
    return op_matmul_backward_weight(be, c->arg[0], c->arg[1], c->arg[2], flag(c, 0), size(c, 0),
                                     size(c, 1), size(c, 2));
}

static Status call_matmul_backward_bias(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 2));
    return op_matmul_backward_bias(be, c->arg[0], c->arg[1], flag(c, 0), size(c, 0), size(c, 1));
}

static Status call_relu_forward(const Backend *be, const OpCall *c) {
    return op_relu_forward(be, c->arg[0], c->arg[1], c->dim[0]);
}

static Status call_relu_backward(const Backend *be, const OpCall *c) {
    return op_relu_backward(be, c->arg[0], c->arg[1], c->arg[2], c->dim[0]);
}

static Status call_sigmoid_forward(const Backend *be, const OpCall *c) {
    return op_sigmoid_forward(be, c->arg[0], c->arg[1], c->dim[0]);
}

static Status call_sigmoid_backward(const Backend *be, const OpCall *c) {
    return op_sigmoid_backward(be, c->arg[0], c->arg[1], c->arg[2], c->dim[0]);
}

static Status call_tanh_forward(const Backend *be, const OpCall *c) {
    return op_tanh_forward(be, c->arg[0], c->arg[1], c->dim[0]);
}

static Status call_tanh_backward(const Backend *be, const OpCall *c) {
    return op_tanh_backward(be, c->arg[0], c->arg[1], c->arg[2], c->dim[0]);
}

static Status call_softmax_cross_entropy_forward(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 2));
    return op_softmax_cross_entropy_forward(be, c->arg[0], c->arg[1], c->arg[2], c->arg[3],
                                            size(c, 0), size(c, 1));
}

static Status call_softmax_cross_entropy_backward(const Backend *be, const OpCall *c) {
    TRY(check_int_dims(c, 2));
    return op_softmax_cross_entropy_backward(be, c->arg[0], c->arg[1], c->arg[2], number(c, 0),
                                             size(c, 0), size(c, 1));
}

static Status call_sgd(const Backend *be, const OpCall *c) {
    return op_sgd(be, c->arg[0], c->arg[1], number(c, 0), number(c, 1), c->dim[0]);
}

static Status call_momentum(const Backend *be, const OpCall *c) {
    return op_momentum(be, c->arg[0], c->arg[1], c->arg[2], number(c, 0), number(c, 1),
                       number(c, 2), c->dim[0]);
}

static Status call_adam(const Backend *be, const OpCall *c) {
    return op_adam(be, c->arg[0], c->arg[1], c->arg[2], c->arg[3], number(c, 0), number(c, 1),
                   number(c, 2), number(c, 3), number(c, 4), whole(c, 5), c->dim[0]);
}

static Status call_adamw(const Backend *be, const OpCall *c) {
    return op_adamw(be, c->arg[0], c->arg[1], c->arg[2], c->arg[3], number(c, 0), number(c, 1),
                    number(c, 2), number(c, 3), number(c, 4), whole(c, 5), c->dim[0]);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* An argument's name, shape and role; fp32 unless more is said beside it. */
#define IN(name_, shape_)    .name = name_, .shape = shape_, .role = ARG_IN
#define OUT(name_, shape_)   .name = name_, .shape = shape_, .role = ARG_OUT
#define INOUT(name_, shape_) .name = name_, .shape = shape_, .role = ARG_INOUT

const OpSpec spec_table[OP_COUNT] = {
    [OP_fill] = {
        .op = OP_fill,
        .formula = "x[i] = value",
        .dims = {"n"},
        .args = {
            {OUT("x", "n")},
        },
        .options = {
            {"value", OPTION_FLOAT, 0.0, "what every element becomes"},
        },
        .call = call_fill,
    },
    [OP_copy] = {
        .op = OP_copy,
        .formula = "out[i] = inp[i]",
        .dims = {"n"},
        .args = {
            {OUT("out", "n")},
            {IN("inp", "n")},
        },
        .call = call_copy,
    },
    [OP_vector_add] = {
        .op = OP_vector_add,
        .formula = "out[i] = a[i] + b[i]",
        .dims = {"n"},
        .args = {
            {OUT("out", "n")},
            {IN("a", "n")},
            {IN("b", "n")},
        },
        .call = call_vector_add,
    },
    [OP_axpy] = {
        .op = OP_axpy,
        .formula = "y[i] = y[i] + alpha * x[i]",
        .dims = {"n"},
        .args = {
            {INOUT("y", "n")},
            {IN("x", "n")},
        },
        .options = {
            {"alpha", OPTION_FLOAT, 1.0, "factor of x"},
        },
        .call = call_axpy,
    },
    [OP_transpose] = {
        .op = OP_transpose,
        .formula = "out[n][m] = inp[m][n]",
        .dims = {"M", "N"},
        .args = {
            {OUT("out", "N,M")},
            {IN("inp", "M,N")},
        },
        .call = call_transpose,
    },
    [OP_sum] = {
        .op = OP_sum,
        .formula = "out[m] = sum over n of inp[m][n]",
        .dims = {"M", "N"},
        .args = {
            {OUT("out", "M")},
            {IN("inp", "M,N")},
        },
        .call = call_sum,
    },
    [OP_mean] = {
        .op = OP_mean,
        .formula = "out[m] = (sum over n of inp[m][n]) / N",
        .dims = {"M", "N"},
        .args = {
            {OUT("out", "M")},
            {IN("inp", "M,N")},
        },
        .call = call_mean,
    },
    [OP_max] = {
        .op = OP_max,
        .formula = "out[m] = largest inp[m][n] over n; NaN wins",
        .dims = {"M", "N"},
        .args = {
            {OUT("out", "M")},
            {IN("inp", "M,N")},
        },
        .call = call_max,
    },
    [OP_argmax] = {
        .op = OP_argmax,
        .formula = "out[m] = lowest n with the largest inp[m][n]; the first NaN wins",
        .dims = {"M", "N"},
        .args = {
            {OUT("out", "M"), .dtype = DTYPE_INT32},
            {IN("inp", "M,N")},
        },
        .call = call_argmax,
    },
    [OP_matmul] = {
        .op = OP_matmul,
        .formula = "c[m][n] = alpha * sum over k of op(a)[m][k] * op(b)[k][n] + beta * c[m][n]",
        .dims = {"M", "N", "K"},
        .args = {
            {INOUT("c", "M,N"), .leading = "ldc", .read_if = "beta"},
            {IN("a", "M,K"), .swapped = "trans_a", .leading = "lda"},
            {IN("b", "K,N"), .swapped = "trans_b", .leading = "ldb"},
        },
        .options = {
            {"alpha", OPTION_FLOAT, 1.0, "factor of the product"},
            {"beta", OPTION_FLOAT, 0.0, "factor of the old c; 0 does not read it"},
            {"trans_a", OPTION_FLAG, 0, "a is stored as its transpose (K,M)"},
            {"trans_b", OPTION_FLAG, 0, "b is stored as its transpose (N,K)"},
            {"lda", OPTION_INT, 0, "elements from one stored row of a to the next; 0: contiguous"},
            {"ldb", OPTION_INT, 0, "the same for b"},
            {"ldc", OPTION_INT, 0, "the same for c"},
        },
        .call = call_matmul,
    },
    [OP_matmul_forward] = {
        .op = OP_matmul_forward,
        .formula = "out[n][oc] = sum over c of inp[n][c] * weight[oc][c] + bias[oc]",
        .dims = {"N", "C", "OC"},
        .args = {
            {OUT("out", "N,OC")},
            {IN("inp", "N,C")},
            {IN("weight", "OC,C")},
            {IN("bias", "OC"), .optional = true},
        },
        .call = call_matmul_forward,
    },
    [OP_matmul_backward_input] = {
        .op = OP_matmul_backward_input,
        .formula = "dinp[n][c] = sum over oc of dout[n][oc] * weight[oc][c]",
        .dims = {"N", "C", "OC"},
        .args = {
            {OUT("dinp", "N,C")},
            {IN("dout", "N,OC")},
            {IN("weight", "OC,C")},
        },
        .call = call_matmul_backward_input,
    },
    [OP_matmul_backward_weight] = {
        .op = OP_matmul_backward_weight,
        .formula = "dweight[oc][c] = sum over n of dout[n][oc] * inp[n][c] (+ dweight[oc][c])",
        .dims = {"N", "C", "OC"},
        .args = {
            {INOUT("dweight", "OC,C"), .read_if = "accumulate"},
            {IN("dout", "N,OC")},
            {IN("inp", "N,C")},
        },
        .options = {
            {"accumulate", OPTION_FLAG, 0, "1: add to what is there"},
        },
        .call = call_matmul_backward_weight,
    },
    [OP_matmul_backward_bias] = {
        .op = OP_matmul_backward_bias,
        .formula = "dbias[oc] = sum over n of dout[n][oc] (+ dbias[oc])",
        .dims = {"N", "OC"},
        .args = {
            {INOUT("dbias", "OC"), .read_if = "accumulate"},
            {IN("dout", "N,OC")},
        },
        .options = {
            {"accumulate", OPTION_FLAG, 0, "1: add to what is there"},
        },
        .call = call_matmul_backward_bias,
    },
    [OP_relu_forward] = {
        .op = OP_relu_forward,
        .formula = "out[i] = max(inp[i], 0)",
        .dims = {"n"},
        .args = {
            {OUT("out", "n")},
            {IN("inp", "n")},
        },
        .call = call_relu_forward,
    },
    [OP_relu_backward] = {
        .op = OP_relu_backward,
        .formula = "dinp[i] = dout[i] where out[i] > 0, else 0",
        .dims = {"n"},
        .args = {
            {OUT("dinp", "n")},
            {IN("dout", "n")},
            {IN("out", "n")},
        },
        .call = call_relu_backward,
    },
    [OP_sigmoid_forward] = {
        .op = OP_sigmoid_forward,
        .formula = "out[i] = 1 / (1 + exp(-inp[i]))",
        .dims = {"n"},
        .args = {
            {OUT("out", "n")},
            {IN("inp", "n")},
        },
        .call = call_sigmoid_forward,
    },
    [OP_sigmoid_backward] = {
        .op = OP_sigmoid_backward,
        .formula = "dinp[i] = dout[i] * out[i] * (1 - out[i])",
        .dims = {"n"},
        .args = {
            {OUT("dinp", "n")},
            {IN("dout", "n")},
            {IN("out", "n")},
        },
        .call = call_sigmoid_backward,
    },
    [OP_tanh_forward] = {
        .op = OP_tanh_forward,
        .formula = "out[i] = tanh(inp[i])",
        .dims = {"n"},
        .args = {
            {OUT("out", "n")},
            {IN("inp", "n")},
        },
        .call = call_tanh_forward,
    },
    [OP_tanh_backward] = {
        .op = OP_tanh_backward,
        .formula = "dinp[i] = dout[i] * (1 - out[i]^2)",
        .dims = {"n"},
        .args = {
            {OUT("dinp", "n")},
            {IN("dout", "n")},
            {IN("out", "n")},
        },
        .call = call_tanh_backward,
    },
    [OP_softmax_cross_entropy_forward] = {
        .op = OP_softmax_cross_entropy_forward,
        .formula = "probs[n] = exp(logits[n] - m) / s;  "
                   "losses[n] = m + log(s) - logits[n][labels[n]]",
        .dims = {"N", "V"},
        .args = {
            {OUT("losses", "N")},
            {OUT("probs", "N,V")},
            {IN("logits", "N,V")},
            {IN("labels", "N"), .dtype = DTYPE_INT32, .below = "V"},
        },
        .call = call_softmax_cross_entropy_forward,
    },
    [OP_softmax_cross_entropy_backward] = {
        .op = OP_softmax_cross_entropy_backward,
        .formula = "dlogits[n][v] = scale * (probs[n][v] - (1 where v = labels[n], else 0))",
        .dims = {"N", "V"},
        .args = {
            {OUT("dlogits", "N,V")},
            {IN("probs", "N,V")},
            {IN("labels", "N"), .dtype = DTYPE_INT32, .below = "V"},
        },
        .options = {
            {"scale", OPTION_FLOAT, 1.0, "1/N for a mean loss"},
        },
        .call = call_softmax_cross_entropy_backward,
    },
    [OP_sgd] = {
        .op = OP_sgd,
        .formula = "param = param - lr * (grad + weight_decay * param)",
        .dims = {"n"},
        .args = {
            {INOUT("param", "n")},
            {IN("grad", "n")},
        },
        .options = {
            {"lr", OPTION_FLOAT, 0.01, "learning rate"},
            {"weight_decay", OPTION_FLOAT, 0.0, "pull towards 0"},
        },
        .call = call_sgd,
    },
    [OP_momentum] = {
        .op = OP_momentum,
        .formula = "velocity = beta * velocity + grad + weight_decay * param;  "
                   "param = param - lr * velocity",
        .dims = {"n"},
        .args = {
            {INOUT("param", "n")},
            {INOUT("velocity", "n")},
            {IN("grad", "n")},
        },
        .options = {
            {"lr", OPTION_FLOAT, 0.01, "learning rate"},
            {"beta", OPTION_FLOAT, 0.9, "what the velocity keeps"},
            {"weight_decay", OPTION_FLOAT, 0.0, "pull towards 0"},
        },
        .call = call_momentum,
    },
    [OP_adam] = {
        .op = OP_adam,
        .formula = "m, v = means of g, g^2, g = grad + weight_decay * param;  "
                   "param = param - lr * m^ / (sqrt(v^) + eps)",
        .dims = {"n"},
        .args = {
            {INOUT("param", "n")},
            {INOUT("m", "n")},
            {INOUT("v", "n"), .nonnegative = true},
            {IN("grad", "n")},
        },
        .options = {
            {"lr", OPTION_FLOAT, 0.01, "learning rate"},
            {"beta1", OPTION_FLOAT, 0.9, "what m keeps"},
            {"beta2", OPTION_FLOAT, 0.999, "what v keeps"},
            {"eps", OPTION_FLOAT, 1e-8, "added to the root of v"},
            {"weight_decay", OPTION_FLOAT, 0.0, "pull towards 0"},
            {"step", OPTION_INT, 1, "number of this step, from 1"},
        },
        .call = call_adam,
    },
    [OP_adamw] = {
        .op = OP_adamw,
        .formula = "m, v = means of grad, grad^2;  "
                   "param = param - lr * (m^ / (sqrt(v^) + eps) + weight_decay * param)",
        .dims = {"n"},
        .args = {
            {INOUT("param", "n")},
            {INOUT("m", "n")},
            {INOUT("v", "n"), .nonnegative = true},
            {IN("grad", "n")},
        },
        .options = {
            {"lr", OPTION_FLOAT, 0.01, "learning rate"},
            {"beta1", OPTION_FLOAT, 0.9, "what m keeps"},
            {"beta2", OPTION_FLOAT, 0.999, "what v keeps"},
            {"eps", OPTION_FLOAT, 1e-8, "added to the root of v"},
            {"weight_decay", OPTION_FLOAT, 0.0, "pull towards 0"},
            {"step", OPTION_INT, 1, "number of this step, from 1"},
        },
        .call = call_adamw,
    },
};
