// Settings of an optimizer, shared by the job file, the engine and the wire format.
#pragma once

#include <limits>
#include <string>

namespace radl::engine {

struct OptimizerConfig {
  std::string name = "sgd";  // sgd, adamw, lars, muon; in a job also auto (train/defaults.h)
  double momentum = 0.9;     // sgd, lars, muon
  bool nesterov = false;     // sgd, muon
  double weight_decay =
      0;  // if ParameterInfo::decays; sgd and lars add it to the gradient, adamw decouples it
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adamw (Loshchilov and Hutter 2019)
  double trust = 0.001;                               // lars (You et al. 2017)
  int iterations = 5;          // muon: Newton-Schulz steps that orthogonalize an update
  double rest_momentum = 0.9;  // muon: for parameters that are not matrices, and for the last one
  double bias_rate = 1;        // factors on the learning rate: of biases and normalization,
  double head_rate = 1;        // of the last layer's weights
  double bias_decay = 0;       // weight decay if !ParameterInfo::decays
  double clip = 0;             // > 0: scales the gradient so that its 2-norm is at most this
  int threads = 1;             // local setting: neither in a job's optimizer nor on the wire
};

// The allowed range of a setting.
struct Bounds {
  double low, high;
};

// Calls each(key, member, bounds...) for every setting, with the keys of the job file. A setting added here
// is read, written, checked and sent to servers.
template <class Config, class Each>
void for_settings(Config& c, Each&& each) {
  const Bounds share{0, 1}, factor{0, 1e6};
  each("name", c.name);
  each("momentum", c.momentum, Bounds{0, 0.9999});
  each("nesterov", c.nesterov);
  each("weight_decay", c.weight_decay, share);
  each("beta1", c.beta1, Bounds{0, 0.9999});
  each("beta2", c.beta2, Bounds{0, 0.999999});
  // These divide or scale, so they must not become 0 in fp32.
  each("epsilon", c.epsilon, Bounds{1e-30, 1});
  each("trust", c.trust, Bounds{1e-9, 1});
  each("clip", c.clip, Bounds{0, std::numeric_limits<double>::infinity()});
  each("bias_rate", c.bias_rate, factor);
  each("head_rate", c.head_rate, factor);
  each("bias_decay", c.bias_decay, share);
  each("iterations", c.iterations, Bounds{1, 20});
  each("rest_momentum", c.rest_momentum, Bounds{0, 0.9999});
}

}  // namespace radl::engine
