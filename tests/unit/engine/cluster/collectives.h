// Collectives whose members are linked within this process.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "engine/cluster/collective.h"

namespace radl::engine::cluster {

using Collectives = std::vector<std::unique_ptr<Collective>>;

inline RingOptions ring_options(uint32_t rank, uint32_t size, const CodecOptions& codec = {}) {
  return {rank, size, 500001, 3, Milliseconds(2000), Codec::make(codec), {}};
}

inline Collectives make_rings(uint32_t size, const CodecOptions& codec = {}) {
  std::vector<std::unique_ptr<Link>> previous(size), next(size);
  for (uint32_t i = 0; i < size && size > 1; ++i) {
    uint32_t then = (i + 1) % size;
    std::tie(next[i], previous[then]) = make_memory_links({Role::Worker, i}, {Role::Worker, then});
  }
  Collectives out;
  for (uint32_t i = 0; i < size; ++i) {
    RingOptions o = ring_options(i, size, codec);
    out.push_back(size == 1 ? Collective::ring(o, nullptr, nullptr)
                            : Collective::ring(o, ring_session(o, std::move(previous[i])),
                                               ring_session(o, std::move(next[i]))));
  }
  return out;
}

inline Collectives make_direct(uint32_t size, const CodecOptions& codec = {}) {
  std::vector<std::vector<std::unique_ptr<Session>>> sessions(size);
  for (auto& one : sessions) one.resize(size);
  for (uint32_t a = 0; a < size; ++a)
    for (uint32_t b = a + 1; b < size; ++b) {
      auto [near, far] = make_memory_links({Role::Worker, a}, {Role::Worker, b});
      sessions[a][b] = ring_session(ring_options(a, size), std::move(near));
      sessions[b][a] = ring_session(ring_options(b, size), std::move(far));
    }
  Collectives out;
  for (uint32_t i = 0; i < size; ++i)
    out.push_back(Collective::direct(ring_options(i, size, codec), std::move(sessions[i])));
  return out;
}

}  // namespace radl::engine::cluster
