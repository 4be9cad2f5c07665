// Rings whose members are linked within this process.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "engine/cluster/ring.h"

namespace radl::engine::cluster {

inline RingOptions ring_options(uint32_t rank, uint32_t size, const CodecOptions& codec = {}) {
  return {rank, size, 50001, 3, Milliseconds(2000), Codec::make(codec), {}};
}

inline std::vector<std::unique_ptr<Ring>> make_rings(uint32_t size, const CodecOptions& codec = {}) {
  std::vector<std::unique_ptr<Link>> previous(size), next(size);
  for (uint32_t i = 0; i < size && size > 1; ++i) {
    uint32_t then = (i + 1) % size;
    std::tie(next[i], previous[then]) = make_memory_links({Role::Worker, i}, {Role::Worker, then});
  }
  std::vector<std::unique_ptr<Ring>> out;
  for (uint32_t i = 0; i < size; ++i) {
    RingOptions o = ring_options(i, size, codec);
    out.push_back(size == 1 ? Ring::make(o, nullptr, nullptr)
                            : Ring::make(o, ring_session(o, std::move(previous[i])),
                                         ring_session(o, std::move(next[i]))));
  }
  return out;
}

}  // namespace radl::engine::cluster
