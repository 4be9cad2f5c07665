// The part of a server's connection that takes gradients while their worker still computes others.
#pragma once

#include <vector>

#include "engine/cluster/contribution.h"
#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// The gradients of a push that arrived before it.
struct EarlyPush {
  std::vector<float> numbers;
  uint64_t sequence = 0;
  size_t buckets = 0;  // so far

  Status take(const Message& message) {
    Block block;
    if (Status bad = decode(message, block); !bad.ok()) return bad;
    if (block.exchange != sequence) sequence = block.exchange, buckets = 0;
    const size_t all = buckets_of(numbers.size(), 1);
    const Status corrupt(Code::Corrupt, "gradients that do not belong to this push");
    if (buckets == all || block.bucket != buckets) return corrupt;
    const std::span<float> bucket = bucket_of(std::span<float>(numbers), buckets, all);
    if (block.numbers.size() != bytes_of(block.encoding, bucket.size())) return corrupt;
    unpack_numbers(block.encoding, block.numbers.data(), bucket);
    ++buckets;
    return {};
  }

  // A push without gradients means these.
  void complete(Push& push) const {
    if (!push.gradients.empty() || push.sequence != sequence || buckets != buckets_of(numbers.size(), 1))
      return;
    push.encoding = Numbers::Fp32;
    push.gradients = {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
  }
};

}  // namespace radl::engine::cluster
