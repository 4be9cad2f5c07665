// What chief, servers and workers must agree on beyond messages: the shards' borders and the optimizer's
// text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

namespace {

constexpr uint64_t kGrain = 64;  // numbers; shards of many begin at the same place of a cache line

Status too_many(size_t shards, uint64_t most, std::string_view what) {
  return invalid(fmt::format(
      "cluster.ps: {} servers for a model of {} {}: some would have nothing to hold; at most {} are of use",
      shards, most, what, most));
}

Borders split_numbers(uint64_t total, size_t shards) {
  const uint64_t grain = total / shards >= 2 * kGrain ? kGrain : 1;
  Borders out;
  for (uint64_t s = 0, first = 0; s < shards; ++s) {
    const uint64_t end = s + 1 == shards ? total : total * (s + 1) / shards / grain * grain;
    out.emplace_back(first, end);
    first = end;
  }
  return out;
}

// Into how many runs of at most `limit` numbers the tensors can be cut, taken as they come.
size_t runs_of(const std::vector<ParameterInfo>& layout, uint64_t limit) {
  size_t runs = 1;
  uint64_t filled = 0;
  for (const ParameterInfo& p : layout) {
    if (filled + p.size > limit) {
      ++runs;
      filled = 0;
    }
    filled += p.size;
  }
  return runs;
}

// The largest run is as small as it can be, and no shard is empty.
Borders split_tensors(const std::vector<ParameterInfo>& layout, size_t shards) {
  uint64_t least = 0, most = 0;
  for (const ParameterInfo& p : layout) {
    least = std::max<uint64_t>(least, p.size);
    most += p.size;
  }
  while (least < most) {
    const uint64_t limit = least + (most - least) / 2;
    if (runs_of(layout, limit) <= shards)
      most = limit;
    else
      least = limit + 1;
  }
  Borders out;
  size_t at = 0;
  for (size_t left = shards; left > 0; --left) {
    const uint64_t first = layout[at].offset;
    uint64_t end = first;
    do {
      end = layout[at].offset + layout[at].size;
      ++at;
    } while (layout.size() - at >= left &&
             (left == 1 || layout[at].offset + layout[at].size - first <= most));
    out.emplace_back(first, end);
  }
  return out;
}

}  // namespace

bool needs_whole_tensors(const std::string& optimizer) { return optimizer == "lars" || optimizer == "muon"; }

Result<Borders> split_layout(const std::vector<ParameterInfo>& layout, size_t shards, bool whole) {
  const uint64_t total = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  if (whole) {
    if (layout.size() < shards)
      return too_many(shards, layout.size(), "tensors, which this optimizer takes whole");
    return split_tensors(layout, shards);
  }
  if (total < shards) return too_many(shards, total, "parameters");
  return split_numbers(total, shards);
}

std::vector<Segment> segments_within(const std::vector<Segment>& segments, uint64_t first, uint64_t end) {
  std::vector<Segment> out;
  for (const Segment& s : segments) {
    const uint64_t from = std::max(first, s.offset), to = std::min(end, s.offset + s.size);
    if (from < to) out.push_back({from - first, to - from, s.decays, s.frozen});
  }
  return out;
}

std::string write_optimizer(const OptimizerConfig& c) {
  nlohmann::ordered_json out = {{"name", c.name},
                                {"momentum", c.momentum},
                                {"nesterov", c.nesterov},
                                {"weight_decay", c.weight_decay},
                                {"beta1", c.beta1},
                                {"beta2", c.beta2},
                                {"eps", c.eps},
                                {"trust", c.trust},
                                {"clip_norm", c.clip_norm},
                                {"bias_rate", c.bias_rate},
                                {"bias_decay", c.bias_decay}};
  return out.dump();
}

Result<OptimizerConfig> read_optimizer(const std::string& json) {
  try {
    nlohmann::json in = nlohmann::json::parse(json);
    OptimizerConfig c;
    in.at("name").get_to(c.name);
    in.at("momentum").get_to(c.momentum);
    in.at("nesterov").get_to(c.nesterov);
    in.at("weight_decay").get_to(c.weight_decay);
    in.at("beta1").get_to(c.beta1);
    in.at("beta2").get_to(c.beta2);
    in.at("eps").get_to(c.eps);
    in.at("trust").get_to(c.trust);
    in.at("clip_norm").get_to(c.clip_norm);
    in.at("bias_rate").get_to(c.bias_rate);
    in.at("bias_decay").get_to(c.bias_decay);
    return c;
  } catch (const nlohmann::json::exception& error) {
    return Status(Code::Corrupt, fmt::format("the optimizer's description: {}", error.what()));
  }
}

}  // namespace radl::engine::cluster
