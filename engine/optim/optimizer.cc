#include "engine/optim/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/optim/base.h"

namespace radl::engine {

namespace {

Status check_settings(const OptimizerConfig& c) {
  Status wrong;
  const auto check = [&wrong](const char* key, double value, Bounds b) {
    if (!wrong.ok() || (value >= b.low && value <= b.high)) return;
    wrong = invalid(fmt::format("{} is from {} to {}, not {}", key, b.low, b.high, value));
  };
  for_settings(c, [&check]<class... B>(const char* key, const auto& value, B... bounds) {
    if constexpr (sizeof...(B) > 0) check(key, value, bounds...);
  });
  return wrong;
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

}  // namespace

bool needs_whole_tensors(const std::string& optimizer) { return optimizer == "lars" || optimizer == "muon"; }

// Neighbours that are treated alike are joined, but for lars.
Result<OptimizerPlan> OptimizerPlan::make(const OptimizerConfig& config,
                                          const std::vector<ParameterInfo>& layout) {
  if (Status wrong = check_settings(config); !wrong.ok()) return wrong;
  OptimizerPlan out{config, 0, {}};
  const ParameterInfo* head = head_of(layout);
  for (const ParameterInfo& p : layout) {
    out.size = std::max<uint64_t>(out.size, p.offset + p.size);
    if (p.frozen || p.size == 0) continue;
    Run run{p.offset, p.offset + p.size, p.decays};
    run.decay = static_cast<float>(p.decays ? config.weight_decay : config.bias_decay);
    run.rate = static_cast<float>(&p == head ? config.head_rate : p.decays ? 1 : config.bias_rate);
    run.rows = config.name == "muon" && is_matrix(p) && &p != head ? p.shape[0] : 0;
    if (config.name != "lars" && !out.runs.empty() && alike(out.runs.back(), run) &&
        out.runs.back().end == run.begin)
      out.runs.back().end = run.end;
    else
      out.runs.push_back(run);
  }
  return out;
}

Result<OptimizerPlan> OptimizerPlan::within(uint64_t begin, uint64_t end) const {
  if (begin >= end || end > size)
    return invalid(fmt::format("no parameters in [{}, {}) of {}", begin, end, size));
  OptimizerPlan out{config, end - begin, {}};
  for (Run run : runs) {
    const uint64_t from = std::max(begin, run.begin), to = std::min(end, run.end);
    if (from >= to) continue;
    if (to - from != run.end - run.begin && (run.rows > 0 || config.name == "lars"))
      return invalid(fmt::format("[{}, {}) holds only a part of a tensor", begin, end));
    run.begin = from - begin;
    run.end = to - begin;
    out.runs.push_back(run);
  }
  return out;
}

Status OptimizerPlan::check() const {
  uint64_t end = 0;
  for (const Run& run : runs) {
    const uint64_t rows = static_cast<uint64_t>(std::max(run.rows, 1));
    if (run.begin < end || run.end <= run.begin || run.end > size || run.rows < 0 ||
        (run.end - run.begin) % rows != 0 || !std::isfinite(run.rate) || !std::isfinite(run.decay))
      return invalid("the optimizer's runs of parameters contradict each other");
    end = run.end;
  }
  return check_settings(config);
}

Result<std::unique_ptr<Optimizer>> Optimizer::make(const OptimizerPlan& plan) {
  if (Status wrong = plan.check(); !wrong.ok()) return wrong;
  const std::string& name = plan.config.name;
  if (name == "sgd") return make_sgd(plan);
  if (name == "adamw") return make_adamw(plan);
  if (name == "lars") return make_lars(plan);
  if (name == "muon") return make_muon(plan);
  return invalid(fmt::format("unknown optimizer \"{}\"", name)).with_hint("known are sgd, adamw, lars, muon");
}

Result<std::unique_ptr<Optimizer>> Optimizer::make(const OptimizerConfig& config,
                                                   const std::vector<ParameterInfo>& layout, size_t begin,
                                                   size_t end) {
  Result<OptimizerPlan> plan = OptimizerPlan::make(config, layout);
  if (!plan) return std::move(plan).status();
  plan = plan->within(begin, end == 0 ? plan->size : end);
  return plan ? make(*plan) : Result<std::unique_ptr<Optimizer>>(std::move(plan).status());
}

float clipped(double clip, double norm, float scale) {
  const float most = static_cast<float>(clip);
  return most > 0 && norm > most ? static_cast<float>(scale * (most / norm)) : scale;
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
