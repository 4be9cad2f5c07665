// What chief, servers and workers must agree on beyond messages: the shards' borders and the optimizer's
// text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

std::vector<std::pair<uint64_t, uint64_t>> split_layout(const std::vector<ParameterInfo>& layout,
                                                        size_t shards) {
  uint64_t total = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  std::vector<std::pair<uint64_t, uint64_t>> out;
  uint64_t first = 0;
  size_t at = 0;
  for (size_t s = 0; s < shards; ++s) {
    uint64_t want = total * (s + 1) / shards, end = first;
    // A parameter belongs to the shard in which its middle lies.
    while (at < layout.size() && layout[at].offset + layout[at].size / 2 < want) {
      end = layout[at].offset + layout[at].size;
      ++at;
    }
    if (s + 1 == shards) end = total;
    out.emplace_back(first, end);
    first = end;
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
