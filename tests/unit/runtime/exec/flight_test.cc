// What radlc holds in memory for a machine that is being made, or removed: little, so that thousands may be
// under way at once.
#include <gtest/gtest.h>
#include <malloc.h>

#include <iostream>

#include "runtime/clouds/simulated/simulated_cloud.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

// What malloc() has handed out, in bytes.
size_t bytes_held() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

// Designs as the simulated cloud does, and takes everything at its word: it remembers nothing, so that what
// is held while machines boot or go is radlc's own. How much that is at most is noted at each look.
class ForgetfulCloud : public Cloud {
 public:
  explicit ForgetfulCloud(Clock& clock) : clock_(clock) {
    designer_ = std::move(*simulated::SimulatedCloud::make({}, clock));
  }

  size_t most_held = 0;

  const CloudId& id() const override { return designer_->id(); }
  Result<Survey> survey(const Context& context, const ir::Program& program) override {
    return designer_->survey(context, program);
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return designer_->can_make(node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return designer_->design(input); }
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    return designer_->impact(type, before, after);
  }
  Asked ask_create(const Context&, const Order&) override { return ask(Asked::accepted()); }
  Asked ask_update(const Context&, const Order&) override { return ask(Asked::accepted()); }
  Asked ask_destroy(const Context&, const Order&) override { return ask(Asked::accepted()); }
  Result<std::vector<Seen>> look(const Context&, const Query& query) override {
    most_held = std::max(most_held, bytes_held());
    std::vector<Seen> seen;
    // A minute after the last request all is as it was asked for; before that, what is to go is still there.
    const bool over = clock_.wall_seconds() >= asked_at_ + 60;
    for (const std::string& token : query.tokens) {
      if (over) seen.push_back({"", "", "id-" + token, token, ResourcePhase::Ready, {}, Json::object(), ""});
    }
    for (const std::string& id : query.ids) {
      if (!over) seen.push_back({"", "", id, "", ResourcePhase::Leaving, {}, Json::object(), ""});
    }
    return seen;
  }
  std::chrono::milliseconds settles_after() const override { return std::chrono::minutes(9); }

 private:
  Asked ask(Asked asked) {
    asked_at_ = clock_.wall_seconds();
    return asked;
  }
  Clock& clock_;
  std::unique_ptr<simulated::SimulatedCloud> designer_;
  double asked_at_ = 0;
};

struct Held {
  double making = 0, removing = 0;  // bytes, at most; of the latter beside the records of the state
};

Held held_for(int nodes) {
  Bench bench;
  ForgetfulCloud cloud(bench.fake.clock);
  bench.clouds = {};
  bench.clouds.add(cloud);
  bench.clouds.fallback = "simulated";
  bench.options.parallelism = 1;
  const ir::Program program = ProgramBuilder().deploy({"worker", nodes}).build();
  std::unique_ptr<Store> store = bench.store();
  EXPECT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
  Held held;
  {
    const Plan plan = *bench.try_plan(program, *store->snapshot());
    const size_t before = bytes_held();
    const RunReport report = apply(bench.run(*store, &program), plan);
    EXPECT_TRUE(report.status.ok()) << report.status.text();
    held.making = static_cast<double>(cloud.most_held - before);
  }
  const Plan removal = make_destroy_plan(*store->snapshot());
  size_t before = 0;
  {
    const Snapshot records = *store->snapshot();
    before = bytes_held();
  }
  cloud.most_held = 0;
  const RunReport removed = destroy(bench.run(*store, nullptr), removal);
  EXPECT_TRUE(removed.status.ok()) << removed.status.text();
  held.removing = static_cast<double>(cloud.most_held - before);
  return held;
}

TEST(InFlight, ANodeTakesLessThanTwoKiB) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has its own malloc";
#endif
  // Two sizes: what there is but once cancels out, SQLite's cache of 2 MiB among it, which is full by then;
  // and vectors that double have as much room to spare.
  constexpr int kFew = 4000, kMany = 8000;
  const Held few = held_for(kFew), many = held_for(kMany);
  const double making = (many.making - few.making) / (kMany - kFew);
  const double removing = (many.removing - few.removing) / (kMany - kFew);
  std::cout << "bytes a node: " << making << " while it is made, " << removing
            << " while it goes, beside the state's record of it\n";
  EXPECT_LT(making, 2048);
  EXPECT_LT(removing, 2048);
}

}  // namespace
}  // namespace radl::test
