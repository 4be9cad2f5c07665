// Optimizers over flat fp32 spans: one fused pass over parameters, gradients and state.
//
// The spans given to step() cover the plan's range: all parameters, or a part of them (for LARS and Muon, of
// whole tensors): a parameter server makes one optimizer for the range that it owns.
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

// Consecutive parameters that an optimizer treats alike.
struct Run {
  uint64_t begin = 0, end = 0;  // elements of the range that the plan is of
  bool decays = false;
  float decay = 0;  // weight decay
  float rate = 1;   // factor on the learning rate
  int rows = 0;     // above 0: a matrix of so many rows, a run of its own (muon only)
  friend bool operator==(const Run&, const Run&) = default;
};

// All that an optimizer of a range of parameters is made from, but for its state. Runs rise and do not
// overlap; a parameter that is in none of them is frozen.
struct OptimizerPlan {
  OptimizerConfig config;
  uint64_t size = 0;
  std::vector<Run> runs;

  // For all that `layout` describes. Invalid names the setting that is out of bounds.
  static Result<OptimizerPlan> make(const OptimizerConfig& config, const std::vector<ParameterInfo>& layout);
  // For the elements [begin, end). Invalid when that takes a part of a tensor that the optimizer takes as a
  // whole.
  Result<OptimizerPlan> within(uint64_t begin, uint64_t end) const;
  // Whether an optimizer can be made from it, whoever wrote it.
  Status check() const;
};

// Whether the optimizer of this name takes tensors as a whole.
bool needs_whole_tensors(const std::string& optimizer);

class Optimizer {
 public:
  // Invalid when the plan is not one.
  static Result<std::unique_ptr<Optimizer>> make(const OptimizerPlan& plan);
  // The range [begin, end) of the flat buffer that `layout` describes; end = 0: up to its end. Invalid if
  // that range is empty.
  static Result<std::unique_ptr<Optimizer>> make(const OptimizerConfig& config,
                                                 const std::vector<ParameterInfo>& layout, size_t begin = 0,
                                                 size_t end = 0);
  virtual ~Optimizer() = default;
  // One update; the spans have size() elements. `gradient_scale` multiplies the gradient first (1/n for
  // means).
  virtual void step(std::span<float> parameters, std::span<const float> gradients, float learning_rate,
                    float gradient_scale = 1.0f) = 0;
  virtual size_t size() const = 0;
  // Momenta; a checkpoint stores and restores them (with steps()) for a bit-identical continuation.
  virtual std::span<float> state() = 0;
  virtual uint64_t steps() const = 0;
  virtual void set_steps(uint64_t steps) = 0;
};

// 2-norm, summed in fp64 in a fixed order.
double norm2(std::span<const float> values);
// `scale`, or less where a gradient of this norm (`scale` included) is above `clip`. A clip of 0, or one that
// is too small for fp32, leaves it as it is.
float clipped(double clip, double norm, float scale);

struct AverageConfig {
  enum class Kind : uint8_t { None, Ema, Mean };
  Kind kind = Kind::None;
  float decay = 0;    // Ema: average = decay * average + (1 - decay) * weights
  uint64_t from = 0;  // first batch after which it counts
};

// An average of weights beside the training ones, of all updates from batch `from` on: exponential (Polyak
// and Juditsky 1992 with a decay) or with equal shares (SWA, Izmailov et al. 2018, at each update).
class WeightAverage {
 public:
  explicit WeightAverage(const AverageConfig& config) : config_(config) {}
  // The weights as they are after an update with this batch's gradient.
  void update(std::span<const float> weights, uint64_t batch);
  // Empty as long as nothing was averaged.
  std::span<const float> values() const { return values_; }
  uint64_t count() const { return count_; }  // updates in it
  void restore(std::vector<float> values, uint64_t count);

 private:
  AverageConfig config_;
  std::vector<float> values_;
  uint64_t count_ = 0;
};

}  // namespace radl::engine
