#include "engine/model/initialise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/kernels/random.h"

namespace radl::engine {

namespace {

class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : key_(mix64(mix64(seed) ^ stream)) {}
  double uniform() {
    return (static_cast<double>(mix64(key_ ^ ++count_) >> 11) + 0.5) * 0x1p-53;
  }                  // in (0, 1)
  double normal() {  // Box and Muller 1958
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t key_, count_ = 0;
};

void fill_normal(std::span<float> values, Random& random, double deviation) {
  for (float& x : values) x = static_cast<float>(random.normal() * deviation);
}

void fill_uniform(std::span<float> values, Random& random, double bound) {
  for (float& x : values) x = static_cast<float>((2 * random.uniform() - 1) * bound);
}

struct Fans {
  double in, out;
};

Fans fans_of(const Layer& l, const ParameterInfo& p) {
  double in = 1;
  for (size_t i = 1; i < p.shape.size(); ++i) in *= p.shape[i];
  const double area = p.shape.size() == 4 ? p.shape[2] * p.shape[3] : 1;
  return {in, p.shape[0] * area / (l.kind == Kind::Conv ? l.groups : 1)};
}

void fill_weight(const Layer& l, const ParameterInfo& p, Random& random, std::span<float> values) {
  const Fans fans = fans_of(l, p);
  switch (l.init) {
    case Init::He:
      return fill_normal(values, random, std::sqrt(2 / fans.in));  // He et al. 2015
    case Init::HeOut:
      return fill_normal(values, random, std::sqrt(2 / fans.out));
    case Init::Torch:
      return fill_uniform(values, random, 1 / std::sqrt(fans.in));  // PyTorch's default
    case Init::Normal002:
      return fill_normal(values, random, 0.02);
    case Init::Zero:
      return std::fill(values.begin(), values.end(), 0.0f);
    case Init::One:
      return std::fill(values.begin(), values.end(), 1.0f);
    case Init::Dirac: {  // the first filters pass their input through (Zagoruyko and Komodakis 2017)
      fill_uniform(values, random, 1 / std::sqrt(fans.in));
      const size_t filter = values.size() / p.shape[0], area = static_cast<size_t>(p.shape[2]) * p.shape[3];
      const size_t centre = static_cast<size_t>(p.shape[2] / 2) * p.shape[3] + p.shape[3] / 2;
      for (int o = 0; o < std::min(p.shape[0], p.shape[1]); ++o) {
        std::fill_n(values.begin() + o * filter, filter, 0.0f);
        values[o * filter + o * area + centre] = 1;
      }
    }
  }
}

void fill_bias(const Layer& l, const ParameterInfo& weight, Random& random, std::span<float> values) {
  if (l.init == Init::Torch && (l.kind == Kind::Linear || l.kind == Kind::Conv))
    fill_uniform(values, random, 1 / std::sqrt(fans_of(l, weight).in));
  else
    std::fill(values.begin(), values.end(), 0.0f);
}

}  // namespace

void initialise(const Graph& graph, uint64_t seed, std::span<float> parameters, std::span<float> statistics) {
  const auto values = [&](int index) {
    const ParameterInfo& p = graph.parameters[index];
    return parameters.subspan(p.offset, p.size);
  };
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& l = graph.layers[i];
    Random random(seed, i);
    const bool norm = l.kind == Kind::BatchNorm || l.kind == Kind::LayerNorm || l.kind == Kind::GroupNorm;
    if (norm && l.weight >= 0) {
      const std::span<float> gamma = values(l.weight);
      std::fill(gamma.begin(), gamma.end(), l.init == Init::Zero ? 0.0f : 1.0f);
    } else if (l.weight >= 0) {
      fill_weight(l, graph.parameters[l.weight], random, values(l.weight));
    }
    if (l.bias_param >= 0 && !norm) fill_bias(l, graph.parameters[l.weight], random, values(l.bias_param));
    if (l.weight2 >= 0) fill_weight(l, graph.parameters[l.weight2], random, values(l.weight2));
    if (l.running_mean >= 0) {
      const ParameterInfo& variance = graph.statistics[l.running_var];
      std::fill_n(statistics.begin() + variance.offset, variance.size, 1.0f);
    }
  }
}

}  // namespace radl::engine
