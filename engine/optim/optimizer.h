// Optimizers over flat fp32 spans: one fused pass over parameters, gradients and state.
//
// The spans given to step() cover the layout given to make(), or a shard of it (whole parameters or, for
// every optimizer but LARS and Muon, any range): a parameter server makes one optimizer for the range that it
// owns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"

namespace radl::engine {

struct OptimizerConfig {
  std::string name = "sgd";  // sgd, nesterov (sgd with nesterov), adamw, lars, muon
  float momentum = 0.9f;     // sgd, lars, muon
  bool nesterov = false;     // sgd, muon
  float weight_decay =
      0;  // only where ParameterInfo::decays; sgd and lars add it to the gradient, adamw decouples it
  float beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;  // adamw (Loshchilov and Hutter 2019)
  float trust = 0.001f;                             // lars (You et al. 2017)
  int iterations = 5;          // muon: Newton-Schulz steps that make an update orthogonal
  float rest_momentum = 0.9f;  // muon: of the parameters that are no matrices, and of the last one's
  float bias_rate = 1;         // factors on the learning rate: of biases and normalisation,
  float head_rate = 1;         // of the last layer's weights
  float bias_decay = 0;        // weight decay where !ParameterInfo::decays; frozen ones have none
  float clip_norm = 0;         // > 0: scales the gradient of this span so that its 2-norm is at most this
  int threads = 1;
};

class Optimizer {
 public:
  // The range [begin, end) of the flat buffer that `layout` describes; end = 0: all of it.
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
