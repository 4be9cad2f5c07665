// How a model is shared out among servers.
#include <fmt/format.h>

#include <algorithm>

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

Result<Init> part_of(const Init& whole, uint32_t shard, const Borders& borders) {
  const auto [first, end] = borders[shard];
  Result<OptimizerPlan> optimizer = whole.optimizer.within(first, end);
  if (!optimizer) return std::move(optimizer).status();
  Init out{.shard = shard,
           .shards = static_cast<uint32_t>(borders.size()),
           .first = first,
           .count = end - first,
           .parameters = whole.parameters,
           .batches = whole.batches,
           .optimizer = std::move(*optimizer),
           .average = whole.average};
  if (shard == 0) out.keep = whole.keep;
  out.state = engine::part_of(whole.state, first, end);
  out.state.next = whole.state.next;  // every shard knows which batches are in its weights
  out.state.again = whole.state.again;
  return out;
}

}  // namespace radl::engine::cluster
