// How a model is shared out among servers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {
namespace {

struct Model {
  std::vector<ParameterInfo> layout;
  size_t total = 0;
};

Model model_of(const std::vector<size_t>& sizes) {
  Model out;
  for (size_t size : sizes) {
    out.layout.push_back({.name = "p",
                          .shape = {static_cast<int>(size)},
                          .offset = out.total,
                          .size = size,
                          .decays = size > 9});
    out.total += size;
  }
  return out;
}

const std::vector<std::vector<size_t>> kModels = {
    {590000, 500}, {500, 590000}, {10, 1000, 5, 5, 2000, 7, 900}, {1, 1, 1}, {3}, {64, 64, 64, 1000000, 10}};

TEST(Layout, EveryServerGetsAnEqualPart) {
  for (const auto& sizes : kModels) {
    Model m = model_of(sizes);
    for (size_t shards : {1, 2, 3, 7, 64}) {
      Result<Borders> borders = split_layout(m.layout, shards);
      if (shards > m.total) {
        EXPECT_EQ(borders.status().code(), Code::Invalid);
        EXPECT_NE(borders.status().message().find(fmt::format("at most {} are of use", m.total)),
                  std::string::npos)
            << borders.status().message();
        continue;
      }
      ASSERT_TRUE(borders.ok()) << borders.status().text();
      ASSERT_EQ(borders->size(), shards);
      uint64_t end = 0, least = m.total, most = 0;
      for (auto [first, last] : *borders) {
        EXPECT_EQ(first, end);
        least = std::min(least, last - first);
        most = std::max(most, last - first);
        end = last;
      }
      EXPECT_EQ(end, m.total);
      EXPECT_GE(least, 1u);
      EXPECT_LE(most - least, 2 * 64u) << shards << " servers";
    }
  }
}

TEST(Layout, WholeTensorsAreSplitAsEquallyAsTheyAllow) {
  for (const auto& sizes : kModels) {
    Model m = model_of(sizes);
    for (size_t shards = 1; shards <= sizes.size() + 1; ++shards) {
      Result<Borders> borders = split_layout(m.layout, shards, true);
      if (shards > sizes.size()) {
        EXPECT_EQ(borders.status().code(), Code::Invalid);
        continue;
      }
      ASSERT_TRUE(borders.ok());
      ASSERT_EQ(borders->size(), shards);
      uint64_t end = 0, most = 0;
      for (auto [first, last] : *borders) {
        EXPECT_EQ(first, end);
        EXPECT_GT(last, first);
        most = std::max(most, last - first);
        bool on_border = last == m.total;
        for (const ParameterInfo& p : m.layout) on_border |= p.offset == last;
        EXPECT_TRUE(on_border) << shards << " shards, " << last;
        end = last;
      }
      EXPECT_EQ(end, m.total);
      uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
      EXPECT_LE(most, std::max<uint64_t>(largest, m.total / shards + largest)) << shards;
      if (shards == sizes.size()) {
        EXPECT_EQ(most, largest);
      }
    }
  }
}

// Also where a border cuts a tensor: each part knows what of it decays.
TEST(Layout, ServersWithPartsOfTensorsTrainAsOneDoes) {
  Model m = model_of({590, 7, 30, 3});
  OptimizerConfig config;
  config.momentum = 0.9f;
  config.weight_decay = 0.1f;
  config.bias_rate = 2;
  std::vector<Segment> segments;
  for (const ParameterInfo& p : m.layout) segments.push_back({p.offset, p.size, p.decays});
  auto train = [&](size_t shards) {
    std::vector<float> out;
    for (auto [first, end] : *split_layout(m.layout, shards)) {
      Init init{.count = end - first, .parameters = end - first, .optimizer = write_optimizer(config)};
      init.segments = segments_within(segments, first, end);
      init.tickets.total = 3;
      for (uint64_t i = first; i < end; ++i) init.weights.push_back(static_cast<float>(i % 5));
      auto shard = std::move(*Shard::make(init, {}));
      uint64_t pass = shard->join(0, 1);
      for (int step = 0; step < 3; ++step) {
        std::vector<float> gradient;
        for (uint64_t i = first; i < end; ++i) gradient.push_back(static_cast<float>(i % 3) - 1);
        Push p{.ticket = shard->next(0, pass)->ticket, .rate = 0.1f, .loss = 1};
        p.gradients = {reinterpret_cast<char*>(gradient.data()), gradient.size() * 4};
        EXPECT_TRUE(shard->push(0, pass, p).ok());
      }
      std::vector<float> weights = shard->snapshot().weights;
      out.insert(out.end(), weights.begin(), weights.end());
    }
    return out;
  };
  const std::vector<float> alone = train(1);
  for (size_t shards : {2, 3, 5, 100}) EXPECT_EQ(alone, train(shards)) << shards;
}

}  // namespace
}  // namespace radl::engine::cluster
