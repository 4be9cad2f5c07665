// Servers as processes that are killed: each shard goes on from its replica, and every batch is in it once.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/support/reserved_port.h"
#include "tests/support/wait_until.h"
#include "tests/unit/engine/cluster/processes.h"
#include "tests/unit/engine/cluster/toy_cluster.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
using namespace toy;

constexpr uint64_t kBatches = 300;
constexpr uint32_t kServers = 3;
constexpr Milliseconds kPeerTimeout{10000};

// Batch t adds 1 to one number of each shard, so the weights show which batches are in them.
Init counting() {
  Init out = start(kBatches);
  out.optimizer = *OptimizerPlan::make({.momentum = 0, .nesterov = false}, layout());
  return out;
}
size_t place_of(uint32_t shard, uint64_t ticket) { return shard * (kSize / kServers) + ticket; }

struct Shared {
  SharedCount steps;                 // of all workers
  SharedCount replicas, lost, back;  // of the chief: looks that found all replicas complete; servers
  SharedCount successors;            // servers that took over from a lost chief
  SharedCount hurry;                 // the workers need not leave time for losses
};

class Job {
 public:
  // `separate`: the chief has a process of its own; else it is that of server 0.
  explicit Job(Mode mode, bool separate = true) : mode_(mode), separate_(separate) {
    for (auto& port : ports_) addresses_.push_back(port.address());
  }

  Process server(uint32_t index) {
    return Process([this, index] { return serve(index); });
  }
  std::vector<Process> servers() {
    std::vector<Process> all;
    for (uint32_t i = 0; i < kServers; ++i) all.push_back(server(i));
    return all;
  }
  Process chief() {
    return Process([this] { return lead(connector(addresses_, {Role::Chief, 0})); });
  }
  Process worker(uint32_t index) {
    return Process([this, index] { return train(index); });
  }
  bool steps(int more) {
    const int now = shared.steps.value();
    return test::wait_until([&] { return shared.steps.value() >= now + more; });
  }

  Shared shared;

 private:
  bool serve(uint32_t index) {
    ServerOptions options = server_options(index, mode_, 2);
    options.address = addresses_[index];
    options.dial = dial(addresses_, {Role::Server, index});
    options.start_timeout = 30s;
    options.peer_timeout = kPeerTimeout;
    options.shard.gather = 10s;
    options.separate_chief = separate_;
    options.may_lead = [](const std::string& duties) { return duties == "count"; };
    auto server = ParameterServer::start(options, {});
    if (!server.ok()) return say(server.status().text());
    const Identity self{Role::Chief, index};
    const auto own = [&] { return (*server)->local_link(self); };
    if (!separate_ && index == 0 && !ChiefClient::has_begun(options_of(self)))
      return serve_beside(**server, [&] {
        const Connector others = connector(addresses_, self);
        return lead([&](uint32_t s) { return s == 0 ? Result<std::unique_ptr<Link>>(own()) : others(s); });
      });
    for (uint64_t attempt = 1;; ++attempt) {
      const Status ended = (*server)->wait({});
      if (ended.code() != Code::Retry) return ended.ok() || say(ended.text());
      auto chief = ChiefClient::take_over(options_of(self), (*server)->map(), attempt, separate_, own);
      if (chief.status().code() == Code::Retry) continue;
      if (!chief.ok()) return (*server)->stop(chief.status()), say(chief.status().text());
      shared.successors.add();
      (*chief)->resume(*split_layout(layout(), kServers));
      return serve_beside(**server, [&] { return watch(**chief); });
    }
  }

  static bool serve_beside(ParameterServer& server, const std::function<bool()>& chief) {
    bool well = false;
    std::thread beside([&] {
      well = chief();
      server.stop({});
    });
    while (server.wait({}).code() == Code::Retry) {
    }
    beside.join();
    return well;
  }

  ClientOptions options_of(const Identity& self) const {
    ClientOptions options = client_options(self.index, kServers);
    options.peer_timeout = kPeerTimeout;
    options.start_timeout = 30s;
    options.dial = dial(addresses_, self);
    return options;
  }

  bool lead(const Connector& connect) {
    ClientOptions options = options_of({Role::Chief, 0});
    options.separate = separate_;
    auto chief = ChiefClient::connect(options, connect);
    if (!chief.ok() || !(*chief)->init(counting(), *split_layout(layout(), kServers)).ok()) return false;
    return watch(**chief);
  }

  bool watch(ChiefClient& chief) {
    chief.share("count");
    for (;;) {
      Result<Report> report = chief.report();
      if (!report.ok()) return say(report.status().text());
      for (const ServerChange& change : chief.take_changes())
        change.lost ? shared.lost.add() : shared.back.add();
      if (report->replica == Replica::Complete) shared.replicas.add();
      // Both workers have heard the answers of all shards then.
      const auto left =
          std::ranges::count_if(report->members, [](const MemberReport& m) { return m.state == 1; });
      if (report->tickets_done == report->tickets && left == 2) break;
      std::this_thread::sleep_for(2ms);
    }
    const Result<TrainingState> end = chief.snapshot();
    chief.stop({});
    return end.ok() && holds_each_batch_once(end->weights);
  }

  bool holds_each_batch_once(const std::vector<float>& weights) const {
    for (uint32_t shard = 0; shard < kServers; ++shard) {
      for (uint64_t ticket = 0; ticket < kBatches; ++ticket) {
        const float value = weights[place_of(shard, ticket)];
        // A round of both workers adds half of each batch.
        const bool once = mode_ == Mode::Sync ? value == 0.5f || value == 1 : value == 1;
        if (!once || value != weights[place_of(0, ticket)])
          return say("shard " + std::to_string(shard) + ", batch " + std::to_string(ticket) + ": " +
                     std::to_string(value));
      }
    }
    return true;
  }

  bool train(uint32_t index) {
    const Identity self{Role::Worker, index};
    auto client = WorkerClient::connect(options_of(self), connector(addresses_, self));
    if (!client.ok()) return say(client.status().text());
    std::vector<float> weights(kSize), statistics(2), gradient(kSize), added = {0, 0};
    Result<Assignment> next = (*client)->begin(weights, statistics);
    while (next.ok() && !next->finished) {
      while (next->ticket > kBatches - 30 && shared.hurry.value() == 0) std::this_thread::sleep_for(5ms);
      std::this_thread::sleep_for(shared.hurry.value() == 0 ? 25ms : 1ms);
      for (uint32_t s = 0; s < kServers; ++s) gradient[place_of(s, next->ticket)] = -1;
      const uint64_t ticket = next->ticket;
      next = (*client)->push({.rate = 1, .images = 2, .gradients = gradient, .statistics = added}, weights,
                             statistics);
      for (uint32_t s = 0; s < kServers; ++s) gradient[place_of(s, ticket)] = 0;
      shared.steps.add();
    }
    (*client)->leave(next.status());
    return next.ok() || say(next.status().text());
  }

  static bool say(const std::string& what) {
    std::cerr << what << std::endl;
    return false;
  }

  const Mode mode_;
  const bool separate_;
  std::vector<test::ReservedPort> ports_ = std::vector<test::ReservedPort>(kServers);
  std::vector<std::string> addresses_;
};

class ServerLossTest : public testing::TestWithParam<Mode> {};

TEST_P(ServerLossTest, AKilledServersShardsGoOnFromTheirReplicas) {
  for (uint32_t victim = 0; victim < kServers; ++victim) {
    Job job(GetParam());
    std::vector<Process> servers = job.servers();
    Process chief = job.chief(), first = job.worker(0), second = job.worker(1);
    ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > 0; }));
    ASSERT_TRUE(job.steps(7 + 5 * static_cast<int>(victim)));
    servers[victim].signal(SIGKILL);
    job.shared.hurry.add();
    EXPECT_EQ(first.wait(60s), 0);
    EXPECT_EQ(second.wait(60s), 0);
    EXPECT_EQ(chief.wait(60s), 0);
    EXPECT_EQ(job.shared.lost.value(), 1);
    for (uint32_t i = 0; i < kServers; ++i) EXPECT_EQ(servers[i].wait(30s), i == victim ? 128 + SIGKILL : 0);
  }
}

// All servers of the beginning are lost one after another: what a new one has, it has by copying.
TEST_P(ServerLossTest, ARestartedServerHoldsReplicasAndTakesOver) {
  Job job(GetParam());
  std::vector<Process> servers = job.servers();
  Process chief = job.chief(), first = job.worker(0), second = job.worker(1);
  for (uint32_t victim = 0; victim < kServers; ++victim) {
    const int complete = job.shared.replicas.value();
    ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > complete + 1; }));
    ASSERT_TRUE(job.steps(5));
    servers[victim].signal(SIGKILL);
    ASSERT_EQ(servers[victim].wait(30s), 128 + SIGKILL);
    servers[victim] = job.server(victim);
    ASSERT_TRUE(test::wait_until([&] { return job.shared.back.value() == static_cast<int>(victim) + 1; }));
  }
  job.shared.hurry.add();
  EXPECT_EQ(first.wait(60s), 0);
  EXPECT_EQ(second.wait(60s), 0);
  EXPECT_EQ(chief.wait(60s), 0);
  EXPECT_EQ(job.shared.lost.value(), 3);
}

// Its links stay open; only its silence says that it is gone.
TEST(ServerLoss, AStoppedServerIsReplaced) {
  Job job(Mode::Sync);
  std::vector<Process> servers = job.servers();
  Process chief = job.chief(), first = job.worker(0), second = job.worker(1);
  ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > 0; }));
  servers[1].signal(SIGSTOP);
  job.shared.hurry.add();
  EXPECT_EQ(first.wait(60s), 0);
  EXPECT_EQ(second.wait(60s), 0);
  EXPECT_EQ(chief.wait(60s), 0);
  servers[1].signal(SIGCONT);
  EXPECT_NE(servers[1].wait(30s), -1) << "it ends by itself when it wakes up";
}

TEST_P(ServerLossTest, AServerTakesOverFromAKilledChief) {
  Job job(GetParam());
  std::vector<Process> servers = job.servers();
  Process chief = job.chief(), first = job.worker(0), second = job.worker(1);
  ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > 0; }));
  ASSERT_TRUE(job.steps(10));
  chief.signal(SIGKILL);
  ASSERT_TRUE(test::wait_until([&] { return job.shared.successors.value() > 0; }));
  job.shared.hurry.add();
  EXPECT_EQ(first.wait(60s), 0);
  EXPECT_EQ(second.wait(60s), 0);
  for (Process& server : servers) EXPECT_EQ(server.wait(30s), 0);
  EXPECT_EQ(job.shared.successors.value(), 1);
}

// Its chief and its shard are lost at once, and then those of its successor; a server that was started again
// takes part like the others.
TEST_P(ServerLossTest, TheServerWithTheChiefIsReplacedTwice) {
  Job job(GetParam(), false);
  std::vector<Process> servers = job.servers();
  Process first = job.worker(0), second = job.worker(1);
  for (uint32_t victim : {0, 1}) {
    const int complete = job.shared.replicas.value(), back = job.shared.back.value();
    ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > complete + 1; }));
    ASSERT_TRUE(job.steps(7));
    servers[victim].signal(SIGKILL);
    ASSERT_EQ(servers[victim].wait(30s), 128 + SIGKILL);
    servers[victim] = job.server(victim);
    ASSERT_TRUE(test::wait_until([&] { return job.shared.successors.value() > static_cast<int>(victim); }));
    ASSERT_TRUE(test::wait_until([&] { return job.shared.back.value() > back; }));
  }
  job.shared.hurry.add();
  EXPECT_EQ(first.wait(60s), 0);
  EXPECT_EQ(second.wait(60s), 0);
  for (Process& server : servers) EXPECT_EQ(server.wait(30s), 0);
  EXPECT_EQ(job.shared.successors.value(), 2);
}

TEST(ServerLoss, AStoppedServerWithTheChiefIsReplacedAndEndsWhenItWakes) {
  Job job(Mode::Async, false);
  std::vector<Process> servers = job.servers();
  Process first = job.worker(0), second = job.worker(1);
  ASSERT_TRUE(test::wait_until([&] { return job.shared.replicas.value() > 0; }));
  servers[0].signal(SIGSTOP);
  ASSERT_TRUE(test::wait_until([&] { return job.shared.successors.value() > 0; }));
  servers[0].signal(SIGCONT);
  job.shared.hurry.add();
  EXPECT_EQ(first.wait(60s), 0);
  EXPECT_EQ(second.wait(60s), 0);
  EXPECT_EQ(servers[1].wait(30s), 0);
  EXPECT_EQ(servers[2].wait(30s), 0);
  EXPECT_EQ(servers[0].wait(30s), 1) << "it does not continue on its own";
  EXPECT_EQ(job.shared.successors.value(), 1);
}

INSTANTIATE_TEST_SUITE_P(Modes, ServerLossTest, testing::Values(Mode::Async, Mode::Sync, Mode::Stale));

}  // namespace
}  // namespace radl::engine::cluster
