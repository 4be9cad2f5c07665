// A model ready to run: what training, distribution, export and serving see of the compute half of the
// engine.
//
// In: a model description (docs/models.md) and a batch size. Everything is allocated by build(); the calls
// below allocate nothing. Parameters live in one flat fp32 buffer (the master weights), gradients in another
// of the same layout, and non-trained state (batch-norm running statistics) in a third, so that a parameter
// server, a checkpoint or an all-reduce can treat each as one span.
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
  int batch_size = 128;  // the largest batch that will be given
  int threads = 0;       // 0: all cores this process may use
  Precision precision = Precision::Fp32;
  uint64_t seed = 1;             // initial weights, dropout
  bool training = true;          // false: no gradients are allocated
  std::string kernels = "auto";  // auto, accurate, ref, eigen, onednn, own, direct (docs/engine.md)
  float label_smoothing = 0;
};

struct ParameterInfo {
  std::string name;        // "layer2.0.conv1.weight"
  std::vector<int> shape;  // convolution: [out, in/groups, kh, kw]; linear: [out, in] (PyTorch's order)
  size_t offset = 0;       // in floats, into the flat buffer
  size_t size = 0;
  bool decays = true;   // false for bias and normalisation: no weight decay
  bool frozen = false;  // keeps its first value: optimizers leave it alone
};

// Images as fp32 NHWC, already normalised; labels as class numbers.
struct Batch {
  std::span<const float> images;    // size x height x width x channels
  std::span<const int32_t> labels;  // size; empty when only predictions are wanted
  int size = 0;
};

struct InputShape {
  int height = 32, width = 32, channels = 3;
};

struct OperationTime {
  std::string name;    // layers: "layer1.0.bn1+relu"; also "loss", "weights" (packing)
  std::string kernel;  // implementation; empty for element-wise work
  double forward_seconds = 0, backward_seconds = 0;
  double forward_flop = 0, backward_flop = 0;    // done in that time
  double forward_bytes = 0, backward_bytes = 0;  // of activations read and written at least once, estimated
};

struct Graph;  // engine/model/graph.h

// Called when the gradients [begin, end) of a step are final, while the backward pass computes others.
using GradientsReady = std::function<void(size_t begin, size_t end)>;

class Network {
 public:
  // `model`: a zoo name ("resnet20") or the text of a description. Invalid names the line and what is wrong;
  // Quota when the memory it needs is more than there is (with the number).
  static Result<std::unique_ptr<Network>> build(const std::string& model, InputShape input, int classes,
                                                const BuildOptions& options);
  virtual ~Network() = default;

  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradients() = 0;
  virtual std::span<float> statistics() = 0;
  virtual const std::vector<ParameterInfo>& parameter_layout() const = 0;
  virtual const std::vector<ParameterInfo>& statistics_layout() const = 0;
  // To be called after parameters() were written from outside (reduced-precision copies are refreshed).
  virtual void parameters_changed() = 0;

  // Forward and backward; gradients() = gradient of the mean loss (set, not added). `ready` is called once
  // for each gradient, from this thread, in the order in which they become final.
  virtual StepResult forward_backward(const Batch& batch, const GradientsReady& ready = {}) = 0;
  // Forward only, with running statistics; writes size x classes logits when `logits` is not empty.
  virtual StepResult evaluate(const Batch& batch, std::span<float> logits) = 0;

  virtual std::string description() const = 0;  // the model's canonical text
  virtual InputShape input() const = 0;
  virtual int classes() const = 0;
  virtual size_t memory_bytes() const = 0;

  // The layers with their attributes and parameter names, for exporters and reports.
  virtual const Graph& graph() const = 0;
  // The number of training steps done; it selects dropout's random numbers. A resumed run sets it.
  virtual uint64_t step() const = 0;
  virtual void set_step(uint64_t step) = 0;
  // Sets a first convolution that the model marks `whiten=yes` from the patches of these images (they must
  // be many more than its inputs); does nothing for models without one. Before the first step, on one worker.
  virtual Status whiten(const Batch& batch) = 0;
  // The processor, then a line for each layer that has a choice of kernels: which one, and why.
  virtual std::string kernel_listing() const = 0;
  // From now on each operation's time is taken (a few nanoseconds a call); see profile().
  virtual void set_profiling(bool on) = 0;
  // Seconds per operation since profiling was turned on; empty for `--kernels ref`.
  virtual std::vector<OperationTime> profile() const = 0;
};

}  // namespace radl::engine
