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
  if (c.iterations < 1 || c.iterations > 20)
    return invalid(fmt::format("iterations is from 1 to 20, not {}", c.iterations));
  if (!in(c.rest_momentum, 0, 0.99999f))
    return invalid(fmt::format("rest_momentum is from 0 to 1, not {}", c.rest_momentum));
  if (!in(c.bias_rate, 0, 1e6f) || !in(c.head_rate, 0, 1e6f))
    return invalid("bias_rate and head_rate are from 0 to 1e6");
  if (!in(c.bias_decay, 0, 100))
    return invalid(fmt::format("bias_decay is from 0 to 100, not {}", c.bias_decay));
  return ok_status();
}

bool is_matrix(const ParameterInfo& p) { return p.decays && p.shape.size() > 1; }

// The last layer's weights: the last matrix, if there are several.
const ParameterInfo* head_of(const std::vector<ParameterInfo>& layout) {
  const ParameterInfo* last = nullptr;
  size_t count = 0;
  for (const ParameterInfo& p : layout)
    if (is_matrix(p)) last = &p, ++count;
  return count > 1 ? last : nullptr;
}

bool alike(const Run& a, const Run& b) {
  return a.decays == b.decays && a.decay == b.decay && a.rate == b.rate && a.rows == 0 && b.rows == 0;
}

// The parts of the layout within [begin, end), relative to begin; neighbours that are treated alike are
// joined, but for lars.
std::vector<Run> runs_within(const OptimizerConfig& config, const std::vector<ParameterInfo>& layout,
                             size_t begin, size_t end) {
  std::vector<Run> runs;
  const ParameterInfo* head = head_of(layout);
  for (const ParameterInfo& p : layout) {
    const size_t from = std::max(begin, p.offset), to = std::min(end, p.offset + p.size);
    if (from >= to || p.frozen) continue;
    Run run{from - begin, to - begin, p.decays};
    run.decay = p.decays ? config.weight_decay : config.bias_decay;
    run.rate = &p == head ? config.head_rate : p.decays ? 1 : config.bias_rate;
    run.rows = config.name == "muon" && is_matrix(p) && &p != head ? p.shape[0] : 0;
    if (config.name != "lars" && !runs.empty() && alike(runs.back(), run) && runs.back().end == run.begin)
      runs.back().end = run.end;
    else
      runs.push_back(run);
  }
  return runs;
}

// What takes a tensor as a whole must not be given a part of one.
Status check_whole(const std::vector<ParameterInfo>& layout, size_t begin, size_t end) {
  for (const ParameterInfo& p : layout) {
    const size_t from = std::max(begin, p.offset), to = std::min(end, p.offset + p.size);
    if (from < to && to - from != p.size)
      return invalid(fmt::format("[{}, {}) holds only a part of {}", begin, end, p.name));
  }
  return ok_status();
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
  std::vector<Run> runs = runs_within(config, layout, begin, end);
  if (config.name == "sgd" || config.name == "nesterov") {
    OptimizerConfig sgd = config;
    sgd.nesterov = config.nesterov || config.name == "nesterov";
    return make_sgd(sgd, std::move(runs), size);
  }
  if (config.name == "adamw") return make_adamw(config, std::move(runs), size);
  if (config.name == "lars" || config.name == "muon") {
    if (Status whole = check_whole(layout, begin, end); !whole.ok()) return whole;
    return config.name == "lars" ? make_lars(config, std::move(runs), size)
                                 : make_muon(config, std::move(runs), size);
  }
  return invalid(fmt::format("unknown optimizer \"{}\"", config.name))
      .with_hint("known are sgd, nesterov, adamw, lars, muon");
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

}  // namespace radl::engine
