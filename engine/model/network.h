// A model ready to run: the engine's compute half as seen by training, distribution, export and
// serving.
//
// In: a model description (docs/models.md) and a batch size. build() allocates everything; the other
// calls allocate nothing. Parameters are one flat fp32 buffer (the master weights), gradients another
// with the same layout, and untrained state (batch-norm running statistics) a third, so that a
// parameter server, a checkpoint or an all-reduce can treat each as one span.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/tensor/kinds.h"

namespace radl::engine {

enum class Precision { Fp32, Bf16 };

struct BuildOptions {
  int batch_size = 128;  // the largest batch that will be used
  int threads = 0;       // 0: all cores available to this process
  Precision precision = Precision::Fp32;
  uint64_t seed = 1;             // initial weights, dropout
  bool training = true;          // false: allocates no gradients
  std::string kernels = "auto";  // auto, accurate, ref, eigen, onednn, own, direct (docs/engine.md)
  float label_smoothing = 0;
};

struct ParameterInfo {
  std::string name;        // "layer2.0.conv1.weight"
  std::vector<int> shape;  // convolution: [out, in/groups, kh, kw]; linear: [out, in] (PyTorch's order)
  size_t offset = 0;       // in floats, into the flat buffer
  size_t size = 0;
  bool decays = true;   // false for bias and normalisation: no weight decay
  bool frozen = false;  // keeps its initial value: optimizers skip it
};

// Images as fp32 NHWC, already normalised; labels as class numbers.
struct Batch {
  std::span<const float> images;    // size x height x width x channels
  std::span<const int32_t> labels;  // size; empty if only predictions are needed
  int size = 0;
};

struct InputShape {
  int height = 32, width = 32, channels = 3;
};

struct OperationTime {
  std::string name;    // layers: "layer1.0.bn1+relu"; also "loss", "weights" (packing)
  std::string kernel;  // implementation; empty for element-wise operations
  double forward_seconds = 0, backward_seconds = 0;
  double forward_flop = 0, backward_flop = 0;    // executed in that time
  double forward_bytes = 0, backward_bytes = 0;  // lower estimate of the activations read and written
};

struct Graph;  // engine/model/graph.h

// Called when the gradients [begin, end) of a step are final, while the backward pass continues.
using GradientsReady = std::function<void(size_t begin, size_t end)>;

class Network {
 public:
  // `model`: a zoo name ("resnet20") or the text of a description. Invalid: names the line and the error.
  // Quota: needs more memory than is available; gives the number.
  static Result<std::unique_ptr<Network>> build(const std::string& model, InputShape input, int classes,
                                                const BuildOptions& options);
  virtual ~Network() = default;

  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradients() = 0;
  virtual std::span<float> statistics() = 0;
  virtual const std::vector<ParameterInfo>& parameter_layout() const = 0;
  virtual const std::vector<ParameterInfo>& statistics_layout() const = 0;
  // Call after writing to parameters(): refreshes reduced-precision copies.
  virtual void parameters_changed() = 0;

  // Forward and backward. Sets gradients() to the gradient of the mean loss. Calls `ready` once for each
  // gradient, on this thread, in the order in which they become final.
  virtual StepResult forward_backward(const Batch& batch, const GradientsReady& ready = {}) = 0;
  // Forward only, with running statistics. Writes size x classes logits unless `logits` is empty.
  virtual StepResult evaluate(const Batch& batch, std::span<float> logits) = 0;

  virtual std::string description() const = 0;  // the model's canonical text
  virtual InputShape input() const = 0;
  virtual int classes() const = 0;
  virtual size_t memory_bytes() const = 0;

  // The layers with their attributes and parameter names, for exporters and reports.
  virtual const Graph& graph() const = 0;
  // Number of completed training steps; it selects dropout's random numbers. Set it when resuming a run.
  virtual uint64_t step() const = 0;
  virtual void set_step(uint64_t step) = 0;
  // Initializes a first convolution marked `whiten=yes` from the patches of these images (many more than its
  // inputs are needed). No effect on other models. Call before the first step, on one worker.
  virtual Status whiten(const Batch& batch) = 0;
  // The processor, then a line for each layer with a choice of kernels: the chosen one, and why.
  virtual std::string kernel_listing() const = 0;
  // Turns timing of operations on or off (a few nanoseconds per call); see profile().
  virtual void set_profiling(bool on) = 0;
  // Seconds per operation since profiling was turned on; empty for `--kernels ref`.
  virtual std::vector<OperationTime> profile() const = 0;
};

}  // namespace radl::engine
