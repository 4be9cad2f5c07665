// A tiny training job over real servers and clients: each batch pulls the weights towards a point of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cluster/client.h"
#include "engine/cluster/server.h"

namespace radl::engine::cluster::toy {

inline constexpr size_t kSize = 3000;
inline const std::string kKey(32, 'k');

inline ServerOptions server_options(uint32_t index, Mode mode, size_t workers) {
  ServerOptions o;
  o.index = index;
  o.address = "127.0.0.1:0";
  o.key = kKey;
  o.job_digest = "job";
  o.shard.mode = mode;
  o.shard.expected_workers = workers;
  o.shard.staleness = 2;
  o.shard.gather = Milliseconds(2000);
  o.peer_timeout = Milliseconds(1000);
  o.start_timeout = Milliseconds(5000);
  return o;
}

inline ClientOptions client_options(uint32_t index, uint32_t shards) {
  ClientOptions o;
  o.index = index;
  o.shards = shards;
  o.job_digest = "job";
  o.parameters = kSize;
  o.statistics = 2;
  o.peer_timeout = Milliseconds(1000);
  o.start_timeout = Milliseconds(5000);
  return o;
}

inline Connector connector(const std::vector<std::string>& addresses, Identity self,
                           const std::string& key = kKey) {
  return [=](uint32_t shard) {
    return connect_tcp(addresses[shard], key, self, {Role::Server, shard}, Milliseconds(5000));
  };
}

// Servers that may be lost: others take over.
inline Dial dial(const std::vector<std::string>& addresses, Identity self) {
  return [=](uint32_t server, Milliseconds patience) {
    return try_connect_tcp(addresses[server], kKey, self, {Role::Server, server}, patience);
  };
}

inline std::vector<ParameterInfo> layout() {
  std::vector<ParameterInfo> out;
  for (size_t at = 0; at < kSize; at += 100)
    out.push_back({.name = "p", .shape = {100}, .offset = at, .size = 100});
  return out;
}

inline OptimizerPlan optimizer() {
  return *OptimizerPlan::make({.momentum = 0.5, .nesterov = false}, layout());
}

inline Init start(uint64_t batches) {
  Init out{.count = kSize, .parameters = kSize, .batches = batches, .optimizer = optimizer()};
  out.state.weights.assign(kSize, 0.0f);
  out.state.statistics = {0, 0};
  out.keep = {1, 1};  // sums, not means
  return out;
}

// Gradient of |w - target|^2 / 2, the target depending on the batch.
inline void gradient(uint64_t ticket, const std::vector<float>& weights, std::vector<float>& out) {
  for (size_t i = 0; i < weights.size(); ++i) {
    out[i] = weights[i] - 1.0f - 0.01f * static_cast<float>((ticket * 31 + i) % 17);
  }
}

// What a worker does until there is no more work; `each` is called before a batch is handed in and may end
// the worker by returning false.
inline Status work(WorkerClient& client, const std::function<bool(uint64_t ticket)>& each = {}) {
  std::vector<float> weights(kSize), statistics(2), g(kSize);
  Result<Assignment> a = client.begin(weights, statistics);
  while (a.ok() && !a->finished) {
    if (each && !each(a->ticket)) return {Code::Cancelled, "ended by the test"};
    gradient(a->ticket, weights, g);
    std::vector<float> added = {0.5f, -0.25f};
    a = client.push(
        {.rate = 0.05f, .loss = 1, .correct = 1, .images = 2, .gradients = g, .statistics = added}, weights,
        statistics);
  }
  client.leave(a.status());
  return a.status();
}

inline double distance_from_goal(const std::vector<float>& weights) {
  double most = 0;
  for (float w : weights) most = std::max(most, std::fabs(static_cast<double>(w) - 1.08));
  return most;
}

}  // namespace radl::engine::cluster::toy
