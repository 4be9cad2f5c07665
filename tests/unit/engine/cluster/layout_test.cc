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
  config.weight_decay = 0.1;
  config.bias_rate = 2;
  config.head_rate = 3;
  m.layout[2].frozen = true;
  Init model{.count = m.total, .parameters = m.total, .batches = 3};
  model.optimizer = *OptimizerPlan::make(config, m.layout);
  for (uint64_t i = 0; i < m.total; ++i) model.state.weights.push_back(static_cast<float>(i % 5));
  auto train = [&](size_t shards) {
    std::vector<float> out;
    const Borders borders = *split_layout(m.layout, shards);
    for (uint32_t s = 0; s < borders.size(); ++s) {
      const auto [first, end] = borders[s];
      auto shard = std::move(*Shard::make(*part_of(model, s, borders), {}));
      uint64_t pass = shard->join(0, 1);
      for (int step = 0; step < 3; ++step) {
        std::vector<float> gradient;
        for (uint64_t i = first; i < end; ++i) gradient.push_back(static_cast<float>(i % 3) - 1);
        Push p{.ticket = static_cast<uint64_t>(step), .rate = 0.1f, .loss = 1};
        (void)shard->next(0, pass);
        p.gradients = {reinterpret_cast<char*>(gradient.data()), gradient.size() * 4};
        EXPECT_TRUE(shard->push(0, pass, p).ok());
      }
      std::vector<float> weights = shard->snapshot().weights;
      out.insert(out.end(), weights.begin(), weights.end());
    }
    return out;
  };
  const std::vector<float> alone = train(1);
  EXPECT_EQ(std::vector<float>(alone.begin() + 597, alone.begin() + 627),
            std::vector<float>(model.state.weights.begin() + 597, model.state.weights.begin() + 627))
      << "frozen";
  for (size_t shards : {2, 3, 5, 100}) EXPECT_EQ(alone, train(shards)) << shards;
}

// A part of the state goes back to where it came from.
TEST(Layout, PartsOfAStateMakeItUpAgain) {
  TrainingState whole;
  whole.next = 9;
  whole.again = {3, 5};
  whole.version = 7;
  whole.statistics = {1, 2};
  whole.averaged = 4;
  whole.optimizer_steps = 6;
  for (int i = 0; i < 10; ++i) whole.weights.push_back(static_cast<float>(i));
  whole.average.assign(10, 0.5f);
  whole.optimizer = {std::vector<float>(10, 2), std::vector<float>(10, 3)};
  EXPECT_EQ(whole.done(), 7u);
  TrainingState again;
  again.weights.resize(10);
  for (auto [first, end] : Borders{{0, 4}, {4, 5}, {5, 10}})
    ASSERT_TRUE(put_part(engine::part_of(whole, first, end), first, end, again).ok());
  EXPECT_EQ(again, whole);
  EXPECT_EQ(put_part(engine::part_of(whole, 0, 4), 0, 5, again).code(), Code::Corrupt);
}

// Servers are asked one after another, and averaging begins meanwhile: the state can be resumed all the same.
TEST(Layout, PartsFromBeforeAndAfterAveragingBeganMakeUpAState) {
  const Borders borders{{0, 4}, {4, 10}};
  for (const uint64_t begun : {0, 1}) {  // the server that averages already
    TrainingState whole;
    whole.weights.resize(10);
    for (uint64_t s = 0; s < 2; ++s) {
      const auto [first, end] = borders[s];
      TrainingState part{.weights = std::vector<float>(end - first, 1)};
      if (s == begun) {
        part.average.assign(end - first, 0.5f);
        part.averaged = 1;
      }
      ASSERT_TRUE(put_part(std::move(part), first, end, whole).ok());
    }
    std::vector<float> average;  // server 0 decides
    if (begun == 0) average = {0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 1, 1, 1, 1};
    EXPECT_EQ(whole.average, average);
    EXPECT_EQ(whole.averaged, begun == 0 ? 1u : 0u);
    auto optimizer = std::move(*Optimizer::make(
        *OptimizerPlan::make({.momentum = 0}, {{.name = "p", .shape = {10}, .offset = 0, .size = 10}})));
    whole.optimizer.assign(optimizer->state().size() / 10, std::vector<float>(10, 0));
    std::vector<float> weights(10);
    WeightAverage mean({AverageConfig::Kind::Mean, 0, 0});
    EXPECT_TRUE((Trainee{weights, {}, *optimizer, mean}.restore(whole).ok()));
    const TrainingState last = engine::part_of(whole, 4, 10);  // what a server is given at the resumption
    EXPECT_EQ(last.average.size(), begun == 0 ? 6u : 0u);
  }
  TrainingState leftover{.weights = {1, 2}, .average = {3, 4}};
  EXPECT_TRUE(engine::part_of(leftover, 0, 1).average.empty()) << "of no update";
}

}  // namespace
}  // namespace radl::engine::cluster
