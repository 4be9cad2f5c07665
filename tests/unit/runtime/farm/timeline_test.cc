#include "runtime/farm/timeline.h"

#include <gtest/gtest.h>

namespace radl::farm {
namespace {

Json timeline(const std::vector<Event>& events, size_t most = 100) {
  Timeline made;
  for (const Event& event : events) made.observe(event);
  return made.to_json(most);
}

TEST(FarmTimeline, AnAttemptLastsFromItsStartToItsFirstEnd) {
  const Json made = timeline({start_event("a", 1, "n", 10), end_event("a", 1, End::Succeeded, 0, "", 14),
                              end_event("a", 1, End::Lost, -1, "", 20), start_event("a", 2, "m", 21)});
  EXPECT_EQ(made["attempts"], Json::parse(R"([
      {"task": "a", "attempt": 1, "node": "n", "started": 10.0, "ended": 14.0, "how": "lost"},
      {"task": "a", "attempt": 2, "node": "m", "started": 21.0, "ended": null, "how": ""}])"));
}

TEST(FarmTimeline, ANodeStaysUntilItIsGoneOrTheRunEnds) {
  const Json made = timeline({node_event("n", {}, 1),
                              node_event("m", {}, 2),
                              node_event("n", {}, 3),
                              gone_event("m", "", 5),
                              gone_event("m", "", 6),
                              {{"event", "closed"}, {"at", 9}},
                              node_event("n", {}, 20)});
  EXPECT_EQ(made["nodes"], Json::parse(R"([{"node": "n", "since": 1.0, "until": 9.0},
      {"node": "m", "since": 2.0, "until": 5.0}, {"node": "n", "since": 20.0, "until": null}])"));
}

TEST(FarmTimeline, TheOldestAttemptsAreLeftOutAndCounted) {
  const Json made = timeline({start_event("a", 1, "n", 1), start_event("b", 1, "n", 2),
                              start_event("c", 1, "n", 3), end_event("a", 1, End::Failed, 1, "", 4)},
                             2);
  EXPECT_EQ(made["left_out"], 1);
  EXPECT_EQ(made["attempts"].size(), 2u);
  EXPECT_EQ(made["attempts"][0]["task"], "b");
}

}  // namespace
}  // namespace radl::farm
