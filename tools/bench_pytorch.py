#!/usr/bin/env python3
"""PyTorch's side of `lockstep bench --against pytorch`.

A child of lockstep that stays alive: it reads one JSON command a line on standard input and answers
with one JSON object a line, so that both sides can take turns in short slices. It times its own
work with the system's monotonic clock; starting up, waiting and talking are not counted. Plain
eager PyTorch on the CPU; the environment and "threads" set how many threads it uses.

  {"do": "start", "threads": 2, "seed": 1}      -> {"torch": "2.5.1", "threads": 2, "blas": "..."}
  {"do": "train_step", "layers": [784,128,10], "batch": 64, "batches": 16, "lr": 0.1,
   "file": "..."}                               -> {"variant": "fused"}
  {"do": "op", "op": "matmul", "dims": [512,512,512]}                  -> {"variant": ""}
  {"do": "run", "count": 100}                   -> {"ns": 81000000, "loss": 2.3}   all 100 together
  {"do": "quit"}

An answer of {"error": "..."} says why a command failed.
"""
import json
import sys
import time


class TrainStep:
    """zero_grad, forward, loss, backward, SGD step, and the loss read: one whole training step.

    The file holds Lockstep's own first weights and its data in the order of its first epoch, so
    that both sides must come to the same losses: for each layer weight (OC,C) and bias (OC), then
    images (batches, batch, C), all fp32, then labels (batches, batch) as int32, in this machine's
    byte order. A step takes the next batch and begins again after the last.
    """

    def __init__(self, torch, layers, batch, batches, lr, file):
        parts = []
        for inputs, outputs in zip(layers, layers[1:]):
            parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
        self.torch, self.lr = torch, lr
        self.model = torch.nn.Sequential(*parts[:-1])
        self.criterion = torch.nn.CrossEntropyLoss()
        with open(file, "rb") as stream:
            for parameter in self.model.parameters():
                parameter.data.copy_(self.read(stream, torch.float32, *parameter.shape))
            self.images = self.read(stream, torch.float32, batches, batch, layers[0])
            self.labels = self.read(stream, torch.int32, batches, batch).long()
        self.batches = batches
        first = [parameter.detach().clone() for parameter in self.model.parameters()]
        self.step, self.loss = 0, 0.0
        self.variant, self.optimizer = self.fastest_optimizer()
        for parameter, value in zip(self.model.parameters(), first):
            parameter.data.copy_(value)
        self.step = 0

    def read(self, stream, dtype, *shape):
        count = 1
        for size in shape:
            count *= size
        data = bytearray(stream.read(4 * count))
        return self.torch.frombuffer(data, dtype=dtype).reshape(shape).clone()

    def fastest_optimizer(self):
        """The same update in the forms this PyTorch has: it is shown at its best."""
        best = None
        for variant in ({}, {"foreach": True}, {"fused": True}):
            try:
                self.optimizer = self.torch.optim.SGD(
                    self.model.parameters(), lr=self.lr, **variant
                )
                self.run(5)
                ns = min(self.run(10) for _ in range(3))
            except (TypeError, RuntimeError):
                continue  # this version does not have it
            name = next(iter(variant), "plain")
            if best is None or ns < best[0]:
                best = (ns, name, self.optimizer)
        return best[1], best[2]

    def run(self, count):
        start = time.perf_counter_ns()
        for _ in range(count):
            batch = self.step % self.batches
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.criterion(self.model(self.images[batch]), self.labels[batch])
            loss.backward()
            self.optimizer.step()
            self.loss = loss.item()
            self.step += 1
        return time.perf_counter_ns() - start


def op_function(torch, name, dims):
    """The operation as a function without arguments, writing into memory of its own."""

    def values(*shape):
        return torch.rand(*shape) * 2 - 1

    if name == "matmul":
        rows, columns, inner = dims
        a, b, out = values(rows, inner), values(inner, columns), torch.empty(rows, columns)
        return lambda: torch.mm(a, b, out=out)
    if name == "matmul_forward":
        n, c, oc = dims
        inp, weight, bias, out = values(n, c), values(oc, c), values(oc), torch.empty(n, oc)
        return lambda: torch.addmm(bias, inp, weight.t(), out=out)
    if name == "matmul_backward_input":
        n, c, oc = dims
        dout, weight, dinp = values(n, oc), values(oc, c), torch.empty(n, c)
        return lambda: torch.mm(dout, weight, out=dinp)
    if name == "matmul_backward_weight":
        n, c, oc = dims
        dout, inp, dweight = values(n, oc), values(n, c), torch.empty(oc, c)
        return lambda: torch.mm(dout.t(), inp, out=dweight)
    if name in ("relu_forward", "sigmoid_forward", "tanh_forward"):
        inp, out = values(*dims), torch.empty(*dims)
        if name == "relu_forward":
            return lambda: torch.clamp_min(inp, 0, out=out)
        function = torch.sigmoid if name == "sigmoid_forward" else torch.tanh
        return lambda: function(inp, out=out)
    if name == "vector_add":
        a, b, out = values(*dims), values(*dims), torch.empty(*dims)
        return lambda: torch.add(a, b, out=out)
    if name == "sum":
        inp, out = values(*dims), torch.empty(dims[0])
        return lambda: torch.sum(inp, 1, out=out)
    if name == "transpose":
        inp, out = values(*dims), torch.empty(dims[1], dims[0])
        return lambda: out.copy_(inp.t())
    if name == "softmax_cross_entropy_forward":
        logits, labels = values(*dims), torch.randint(0, dims[1], (dims[0],))
        return lambda: torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    raise ValueError("PyTorch's side has no '%s' yet; see op_function in bench_pytorch.py" % name)


class Op:
    """One operation, again and again."""

    variant, loss = "", None

    def __init__(self, torch, name, dims):
        self.function = op_function(torch, name, dims)
        self.no_grad = torch.no_grad

    def run(self, count):
        with self.no_grad():
            start = time.perf_counter_ns()
            for _ in range(count):
                self.function()
            return time.perf_counter_ns() - start


def blas_name(torch):
    for line in torch.__config__.show().splitlines():
        for name in ("Math Kernel Library", "OpenBLAS", "Accelerate"):
            if name in line and "DNN" not in line:
                return line.strip(" -")
    return "the system's BLAS (libblas.so.3)"


def main():
    try:
        import torch
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return 3
    work = None
    for line in sys.stdin:
        command = json.loads(line)
        answer = {}
        try:
            if command["do"] == "quit":
                break
            if command["do"] == "start":
                torch.set_num_threads(command["threads"])
                torch.manual_seed(command["seed"])
                answer = {
                    "torch": torch.__version__,
                    "python": sys.version.split()[0],
                    "threads": torch.get_num_threads(),
                    "blas": blas_name(torch),
                }
            elif command["do"] == "train_step":
                keys = ("layers", "batch", "batches", "lr", "file")
                work = TrainStep(torch, *(command[key] for key in keys))
                answer = {"variant": work.variant}
            elif command["do"] == "op":
                work = Op(torch, command["op"], command["dims"])
                answer = {"variant": work.variant}
            elif command["do"] == "run":
                answer = {"ns": work.run(command["count"]), "loss": work.loss}
            else:
                answer = {"error": "unknown command %r" % command["do"]}
        except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
