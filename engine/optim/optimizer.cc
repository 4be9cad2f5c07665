#include "engine/optim/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/optim/base.h"

namespace radl::engine {

namespace {

Status check(const OptimizerConfig& c) {
  const auto in = [](float value, float low, float high) { return value >= low && value <= high; };
  if (!in(c.momentum, 0, 0.99999f))
    return invalid(fmt::format("momentum is from 0 to 1, not {}", c.momentum));
  if (!in(c.weight_decay, 0, 100))
    return invalid(fmt::format("weight_decay is from 0 to 100, not {}", c.weight_decay));
  if (!in(c.beta1, 0, 0.99999f) || !in(c.beta2, 0, 0.9999999f))
    return invalid("beta1 and beta2 are from 0 to 1");
  if (!in(c.eps, 1e-30f, 1)) return invalid(fmt::format("eps is from 1e-30 to 1, not {}", c.eps));
  if (!in(c.trust, 1e-9f, 10)) return invalid(fmt::format("trust is from 1e-9 to 10, not {}", c.trust));
  if (!in(c.clip_norm, 0, 1e9f))
    return invalid(fmt::format("clip_norm is 0 or positive, not {}", c.clip_norm));
  return ok_status();
}

// The parts of the layout within [begin, end), relative to begin; neighbours of one kind are joined unless
// `apart`.
std::vector<Run> runs_within(const std::vector<ParameterInfo>& layout, size_t begin, size_t end, bool apart) {
  std::vector<Run> runs;
  for (const ParameterInfo& p : layout) {
    const size_t from = std::max(begin, p.offset), to = std::min(end, p.offset + p.size);
    if (from >= to) continue;
    if (!apart && !runs.empty() && runs.back().decays == p.decays && runs.back().end == from - begin)
      runs.back().end = to - begin;
    else
      runs.push_back({from - begin, to - begin, p.decays});
  }
  return runs;
}

}  // namespace

Result<std::unique_ptr<Optimizer>> Optimizer::make(const OptimizerConfig& config,
                                                   const std::vector<ParameterInfo>& layout, size_t begin,
                                                   size_t end) {
  size_t total = 0;
  for (const ParameterInfo& p : layout) total = std::max(total, p.offset + p.size);
  if (end == 0) end = total;
  if (begin >= end || end > total)
    return invalid(fmt::format("no parameters in [{}, {}) of {}", begin, end, total));
  if (Status s = check(config); !s.ok()) return s;
  const size_t size = end - begin;
  if (config.name == "sgd" || config.name == "nesterov") {
    OptimizerConfig sgd = config;
    sgd.nesterov = config.nesterov || config.name == "nesterov";
    return make_sgd(sgd, runs_within(layout, begin, end, false), size);
  }
  if (config.name == "adamw") return make_adamw(config, runs_within(layout, begin, end, false), size);
  if (config.name == "lars") return make_lars(config, runs_within(layout, begin, end, true), size);
  return invalid(fmt::format("unknown optimizer \"{}\"", config.name))
      .with_hint("known are sgd, nesterov, adamw, lars");
}

double norm2(std::span<const float> values) {
  double part[8] = {};
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8)
    for (int j = 0; j < 8; ++j) part[j] += static_cast<double>(values[i + j]) * values[i + j];
  for (; i < values.size(); ++i) part[i % 8] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (double x : part) sum += x;
  return std::sqrt(sum);
}

double clip_to_norm(std::span<float> values, double limit) {
  const double norm = norm2(values);
  if (norm > limit)
    for (float& x : values) x = static_cast<float>(x * (limit / norm));
  return norm;
}

}  // namespace radl::engine
