"""ONNX files as PyTorch's and TensorFlow's exporters write them: what radl-train predicts by them is what onnxruntime does."""
import json
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

MEAN, DEVIATION = [0.48, 0.45, 0.41], [0.23, 0.22, 0.24]
CLASSES = 7


class Builder:
    def __init__(self, seed):
        self.random, self.nodes, self.constants = np.random.default_rng(seed), [], []

    def floats(self, name, *shape, scale=None):
        scale = scale if scale is not None else 1 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.constant(name, self.random.normal(0, scale, shape).astype(np.float32))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"node_{output}", **attributes))
        return output

    def norm(self, x, name, channels):
        values = [self.constant(f"{name}.{k}", self.random.uniform(0.5, 1.5, channels).astype(np.float32)) for k in "gbmv"]
        return self.node("BatchNormalization", [x, *values], name, epsilon=1e-3)

    def write(self, path, shape, output, opset=17):
        graph = helper.make_graph(self.nodes, "foreign", [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, [None, CLASSES])], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def as_pytorch_writes(path):
    """Residual block, depthwise convolution, silu, gelu by erf, `x.view(x.size(0), -1)`, Gemm with transB, MatMul and Add, Softmax."""
    b = Builder(3)
    x = b.node("Conv", ["pixels", b.floats("c1.w", 8, 3, 3, 3), b.floats("c1.b", 8)], "c1", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    x = b.node("Relu", [b.norm(x, "n1", 8)], "r1")
    y = b.node("Conv", [x, b.floats("c2.w", 8, 1, 3, 3)], "c2", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=8)
    y = b.node("Mul", [y, b.node("Sigmoid", [y], "gate")], "silu")
    x = b.node("Add", [x, y], "sum")
    x = b.node("MaxPool", [x], "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    e = b.node("Erf", [b.node("Div", [x, b.constant("root", np.float32(np.sqrt(2)))], "scaled")], "erf")
    e = b.node("Mul", [x, b.node("Add", [e, b.constant("one", np.float32(1))], "plus")], "times")
    x = b.node("Mul", [e, b.constant("half", np.float32(0.5))], "gelu")
    size = b.node("Gather", [b.node("Shape", [x], "shape"), b.constant("zero", np.int64(0))], "size", axis=0)
    size = b.node("Unsqueeze", [size, b.constant("axis", np.array([0]))], "size1")
    to = b.node("Concat", [size, b.constant("rest", np.array([-1]))], "to", axis=0)
    x = b.node("Reshape", [x, to], "flat")
    x = b.node("Gemm", [x, b.floats("f1.w", 20, 8 * 8 * 8), b.floats("f1.b", 20)], "f1", transB=1)
    x = b.node("Add", [b.node("MatMul", [b.node("LeakyRelu", [x], "lr", alpha=0.1), b.floats("f2.w", 20, CLASSES)], "f2"), b.floats("f2.b", CLASSES)], "logit")
    b.node("Softmax", [x], "out", axis=1)
    b.write(path, [1, 3, 32, 32], "out")


def as_tensorflow_writes(path):
    """Channels last at both ends, normalized in the graph, uneven padding, a mean over the map beside a flattened one."""
    b = Builder(4)
    x = b.node("Transpose", ["pixels"], "first", perm=[0, 3, 1, 2])
    x = b.node("Sub", [x, b.constant("mean", np.float32([110, 120, 130]).reshape(1, 3, 1, 1))], "centred")
    x = b.node("Div", [x, b.constant("by", np.float32(64))], "scaled")
    x = b.node("Conv", [x, b.floats("c1.w", 6, 3, 4, 4)], "c1", kernel_shape=[4, 4], auto_pad="SAME_UPPER", strides=[1, 1])
    x = b.node("Relu", [b.node("Add", [x, b.constant("c1.b", np.linspace(-0.5, 0.5, 6, dtype=np.float32).reshape(1, 6, 1, 1))], "biased")], "r1")
    x = b.node("AveragePool", [x], "pool", kernel_shape=[4, 4], strides=[4, 4])
    mean = b.node("Squeeze", [b.node("ReduceMean", [x], "mean_of", axes=[2, 3], keepdims=1), b.constant("axes", np.array([2, 3]))], "means")
    flat = b.node("Reshape", [b.node("Transpose", [x], "last", perm=[0, 2, 3, 1]), b.constant("to", np.array([-1, 6 * 8 * 8]))], "flat")
    one = b.node("MatMul", [b.node("Tanh", [flat], "tanh"), b.floats("f1.w", 6 * 8 * 8, CLASSES)], "f1")
    two = b.node("Gemm", [mean, b.floats("f2.w", 6, CLASSES), b.floats("f2.b", CLASSES)], "f2", alpha=0.5, beta=2.0)
    b.node("Add", [one, two], "logits")
    b.write(path, [None, 32, 32, 3], "logits", opset=13)


def probabilities(path, pixels):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    rows = np.concatenate([session.run(None, {name: one[None]})[0] for one in pixels])
    if path.name.startswith("pytorch"):
        return rows
    rows = np.exp(rows - rows.max(1, keepdims=True))
    return rows / rows.sum(1, keepdims=True)


def check_foreign(work, answers, make_images, call_program):
    folder = work / "foreign"
    folder.mkdir()
    images = make_images(folder / "images", (32, 32, 3), 12, np.random.default_rng(5))
    as_pytorch_writes(folder / "pytorch.onnx")
    as_tensorflow_writes(folder / "tensorflow.onnx")
    normal = (images / 255 - np.reshape(MEAN, (1, 3, 1, 1))) / np.reshape(DEVIATION, (1, 3, 1, 1))
    flags = ["--mean", ",".join(map(str, MEAN)), "--deviation", ",".join(map(str, DEVIATION))]
    worst = 0
    for name, pixels, options in (("pytorch.onnx", normal.astype(np.float32), flags),
                                  ("tensorflow.onnx", images.transpose(0, 2, 3, 1), ["--mean", "0", "--deviation", repr(1 / 255)])):
        theirs = probabilities(folder / name, pixels)
        assert theirs.std(0).max() > 1e-3, "the answers say nothing"
        for model in (folder / name, folder / (name + "-model")):
            ours = answers(model, folder / "images", CLASSES, *(options if model.is_file() else ()))
            difference = float(np.abs(ours - theirs).max())
            assert difference < 1e-4, f"{model}: probabilities differ by {difference}"
            worst = max(worst, difference)
            if model.is_file():
                call_program("import", model, "-o", folder / (name + "-model"), *options)
    return f"two files of others; onnxruntime differs by at most {worst:.2g}; {check_refused(folder, call_program)}"


def check_refused(folder, call_program):
    program = call_program.program
    b = Builder(6)
    x = b.node("Conv", ["pixels", b.floats("c.w", 4, 3, 3, 3)], "c", kernel_shape=[3, 3])
    x = b.node("Clip", [x, b.constant("low", np.float32(0)), b.constant("high", np.float32(6))], "relu6")
    b.node("Flatten", [b.node("Conv", [x, b.floats("d.w", CLASSES, 4, 30, 30)], "d", kernel_shape=[30, 30])], "out")
    b.write(folder / "clip.onnx", [1, 3, 32, 32], "out")
    whole = (folder / "pytorch.onnx").read_bytes()
    (folder / "half.onnx").write_bytes(whole[:len(whole) // 2])
    for file, options, said in (("clip.onnx", ["--mean", "0", "--deviation", "1"], "cannot run the operator Clip (node 'node_relu6')"),
                                ("pytorch.onnx", [], "does not say how its input is normalized"), ("half.onnx", [], "is not an ONNX file")):
        done = subprocess.run([program, "predict", folder / file, "--check", *options], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and said in done.stderr, (file, done.returncode, done.stderr)
    return "three refused"
