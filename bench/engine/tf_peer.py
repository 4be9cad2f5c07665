"""TensorFlow at a model that `radl-train bench --dump` wrote: python tf_peer.py DUMP MODE STEPS THREADS.

MODE is graph-fp32 or graph-bf16: one tf.function for forward, backward and update, NHWC. Convolutions, batch normalisation, ReLU,
sums, global average pooling and linear layers, which is what the CIFAR ResNets have. Prints the same line as torch_peer.py.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
THREADS = int(sys.argv[4])

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from safetensors import safe_open  # noqa: E402

from peer import layers_of, measure, pair  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)


class Model:
    def __init__(self, text, tensors, precision):
        self.layers, self.type, self.variables, self.statistics = list(layers_of(text)), precision, {}, {}
        for name, value in tensors.items():
            if name.endswith(("running_mean", "running_var")):
                self.statistics[name] = tf.Variable(value, trainable=False)
                continue
            if name.endswith("weight") and value.ndim == 4:
                value = value.transpose(2, 3, 1, 0)
            elif name.endswith("weight") and value.ndim == 2:
                value = value.T
            self.variables[name] = tf.Variable(np.ascontiguousarray(value))

    def conv(self, name, o, v):
        weight = tf.cast(self.variables[name + ".weight"], self.type)
        stride = pair(o["stride"])
        if o["pad"] == "same":
            y = tf.nn.conv2d(v, weight, stride, "SAME")
        else:
            (h, w) = pair(o["pad"])
            y = tf.nn.conv2d(v, weight, stride, [[0, 0], [h, h], [w, w], [0, 0]])
        bias = self.variables.get(name + ".bias")
        return y if bias is None else y + tf.cast(bias, self.type)

    def norm(self, name, o, v):
        mean, variance = self.statistics[name + ".running_mean"], self.statistics[name + ".running_var"]
        y, new_mean, new_variance = tf.compat.v1.nn.fused_batch_norm(
            v, self.variables[name + ".weight"], self.variables[name + ".bias"], epsilon=float(o["eps"]))
        momentum = float(o["momentum"])
        mean.assign_add(momentum * (new_mean - mean))
        variance.assign_add(momentum * (new_variance - variance))
        return y

    def forward(self, x):
        values = {"input": x}
        for name, kind, o, inputs in self.layers:
            v = values[inputs[0]]
            if kind == "conv":
                v = self.conv(name, o, v)
            elif kind == "batchnorm":
                v = self.norm(name, o, v)
            elif kind == "relu":
                v = tf.nn.relu(v)
            elif kind == "add":
                v = tf.add_n([values[i] for i in inputs])
            elif kind == "globalavgpool":
                v = tf.reduce_mean(v, [1, 2])
            elif kind == "linear":
                v = tf.cast(tf.reshape(v, [v.shape[0], -1]), tf.float32)
                v = tf.matmul(v, self.variables[name + ".weight"]) + self.variables[name + ".bias"]
            else:
                raise SystemExit(f"no TensorFlow form of layer kind {kind}")
            values[name] = v
        return tf.cast(v, tf.float32)


def main():
    dump, mode, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with safe_open(dump, "np") as f:
        text = f.metadata()["model"]
    tensors = load_file(dump)
    precision = tf.bfloat16 if mode.endswith("bf16") else tf.float32
    images = tf.cast(tf.constant(tensors.pop("bench.images")), precision)
    labels = tf.constant(tensors.pop("bench.labels").astype(np.int64))
    model = Model(text, tensors, precision)
    variables = list(model.variables.values())
    momenta = [tf.Variable(tf.zeros_like(v)) for v in variables]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model.forward(images)))
        for v, m, g in zip(variables, momenta, tape.gradient(loss, variables)):
            m.assign(0.9 * m + g)
            v.assign_sub(0.001 * m)
        return loss

    measure(steps, lambda: float(step()))


main()
