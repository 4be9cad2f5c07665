// Optimizers over flat fp32 spans: one fused pass over parameters, gradients and state.
//
// The spans passed to step() cover the plan's range: all parameters or a part of them (whole tensors for LARS
// and Muon). A parameter server creates one optimizer for its range.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"
#include "engine/optim/optimizer_config.h"

namespace radl::engine {

// Consecutive parameters with the same settings.
struct Run {
  uint64_t begin = 0, end = 0;  // elements of the plan's range
  bool decays = false;
  float decay = 0;  // weight decay
  float rate = 1;   // factor on the learning rate
  int rows = 0;     // above 0: a matrix with this many rows, in its own run (muon only)
  friend bool operator==(const Run&, const Run&) = default;
};

// Everything needed to create an optimizer for a range of parameters, except its state. Runs are ascending
// and disjoint. Parameters outside all runs are frozen.
struct OptimizerPlan {
  OptimizerConfig config;
  uint64_t size = 0;
  std::vector<Run> runs;

  // For everything that `layout` describes. Invalid names the setting that is out of bounds.
  static Result<OptimizerPlan> make(const OptimizerConfig& config, const std::vector<ParameterInfo>& layout);
  // For the elements [begin, end). Invalid: this would split a tensor that the optimizer needs as a
  // whole.
  Result<OptimizerPlan> within(uint64_t begin, uint64_t end) const;
  // Validates the plan, whatever its origin.
  Status check() const;
};

// True if the optimizer of this name needs whole tensors.
bool needs_whole_tensors(const std::string& optimizer);

class Optimizer {
 public:
  // Invalid: the plan is invalid.
  static Result<std::unique_ptr<Optimizer>> make(const OptimizerPlan& plan);
  // For the range [begin, end) of the flat buffer that `layout` describes; end = 0 means its end. Invalid:
  // the range is empty.
  static Result<std::unique_ptr<Optimizer>> make(const OptimizerConfig& config,
                                                 const std::vector<ParameterInfo>& layout, size_t begin = 0,
                                                 size_t end = 0);
  virtual ~Optimizer() = default;
  // Makes one update; the spans have size() elements. Multiplies the gradient by `gradient_scale` first (1/n
  // for means).
  virtual void step(std::span<float> parameters, std::span<const float> gradients, float learning_rate,
                    float gradient_scale = 1.0f) = 0;
  virtual size_t size() const = 0;
  // Momenta. A checkpoint stores and restores them (with steps()) for a bit-identical continuation.
  virtual std::span<float> state() = 0;
  virtual uint64_t steps() const = 0;
  virtual void set_steps(uint64_t steps) = 0;
};

// 2-norm, summed in fp64 in a fixed order.
double norm2(std::span<const float> values);
// Returns `scale`, reduced if a gradient of this norm (`scale` included) exceeds `clip`. A clip of 0, or one
// too small for fp32, has no effect.
float clipped(double clip, double norm, float scale);

struct AverageConfig {
  enum class Kind : uint8_t { None, Ema, Mean };
  Kind kind = Kind::None;
  float decay = 0;    // Ema: average = decay * average + (1 - decay) * weights
  uint64_t from = 0;  // the first batch that it includes
};

// An average of the weights over all updates from batch `from` on: exponential (Polyak and Juditsky 1992 with
// a decay) or with equal shares (SWA, Izmailov et al. 2018, at each update).
class WeightAverage {
 public:
  explicit WeightAverage(const AverageConfig& config) : config_(config) {}
  // Adds the weights after an update with this batch's gradient.
  void update(std::span<const float> weights, uint64_t batch);
  // Empty until something has been averaged.
  std::span<const float> values() const { return values_; }
  uint64_t count() const { return count_; }  // updates included
  void restore(std::vector<float> values, uint64_t count);

 private:
  AverageConfig config_;
  std::vector<float> values_;
  uint64_t count_ = 0;
};

}  // namespace radl::engine
