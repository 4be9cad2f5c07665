// Whole jobs over servers, chief and workers: in every mode, over several shards, and with members that fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>

#include "tests/support/need.h"
#include "tests/unit/engine/cluster/toy_cluster.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
using namespace toy;

// Servers and a chief; workers are the test's. Links are TCP, or memory for everything when `memory`.
class Job {
 public:
  Job(Mode mode, size_t shards, size_t workers, uint64_t total, bool memory = false) : memory_(memory) {
    for (uint32_t s = 0; s < shards; ++s) {
      ServerOptions options = server_options(s, mode, workers);
      if (memory) options.address = "";
      servers.push_back(
          test::need(ParameterServer::start(options, [this](const ServerEvent& e) { note(e); })));
      addresses.push_back(servers.back()->address());
    }
    chief = test::need(ChiefClient::connect(client_options(0, shards_()), connect({Role::Chief, 0})));
    test::need(chief->init(start(total), *split_layout(layout(), shards)));
  }

  Connector connect(Identity self) {
    if (!memory_) return connector(addresses, self);
    return [this, self](uint32_t shard) -> Result<std::unique_ptr<Link>> {
      return servers[shard]->local_link(self);
    };
  }

  std::future<Status> worker(uint32_t index, std::function<bool(uint64_t)> each = {}) {
    return std::async(std::launch::async, [this, index, each] {
      Result<std::unique_ptr<WorkerClient>> client =
          WorkerClient::connect(client_options(index, shards_()), connect({Role::Worker, index}));
      return client.ok() ? work(**client, each) : client.status();
    });
  }

  long count(const std::string& kind, const std::string& peer) {
    std::lock_guard lock(mutex_);
    return std::count_if(events_.begin(), events_.end(),
                         [&](const ServerEvent& e) { return e.kind == kind && e.peer == peer; });
  }
  bool saw(const std::string& kind, const std::string& peer) { return count(kind, peer) > 0; }

 private:
  std::mutex mutex_;  // these two outlive the servers, whose threads use them
  std::vector<ServerEvent> events_;

 public:
  std::vector<std::unique_ptr<ParameterServer>> servers;
  std::vector<std::string> addresses;
  std::unique_ptr<ChiefClient> chief;

 private:
  uint32_t shards_() const { return static_cast<uint32_t>(servers.size()); }
  void note(const ServerEvent& e) {
    std::lock_guard lock(mutex_);
    events_.push_back(e);
  }
  bool memory_;
};

struct Kind {
  const char* name;
  Mode mode;
  size_t shards, workers;
  bool memory;
};

class JobTest : public testing::TestWithParam<Kind> {};

TEST_P(JobTest, TrainsToTheGoalWithEveryBatchDoneOnce) {
  const Kind& k = GetParam();
  Job job(k.mode, k.shards, k.workers, 300, k.memory);
  std::mutex mutex;
  std::multiset<uint64_t> seen;
  std::vector<std::future<Status>> workers;
  for (uint32_t w = 0; w < k.workers; ++w) {
    workers.push_back(job.worker(w, [&](uint64_t ticket) {
      std::lock_guard lock(mutex);
      seen.insert(ticket);
      return true;
    }));
  }
  for (auto& w : workers) {
    Status done = w.get();
    EXPECT_TRUE(done.ok()) << done.text();
  }
  EXPECT_EQ(seen.size(), 300u);
  EXPECT_EQ(std::set<uint64_t>(seen.begin(), seen.end()).size(), 300u);
  Report report = *job.chief->report();
  EXPECT_EQ(report.tickets_done, 300u);
  EXPECT_EQ(report.images, 600u);
  Result<TrainingState> end = job.chief->snapshot();
  ASSERT_TRUE(end.ok());
  EXPECT_LT(distance_from_goal(end->weights), 0.05);
  double rounds = k.mode == Mode::Sync ? 300.0 / static_cast<double>(k.workers) : 300;
  EXPECT_NEAR(end->statistics[0], 0.5 * rounds, k.mode == Mode::Sync ? 5 : 0.01);
  job.chief->stop({});
  for (auto& s : job.servers) EXPECT_TRUE(s->wait({}).ok());
}

INSTANTIATE_TEST_SUITE_P(Kinds, JobTest,
                         testing::Values(Kind{"async_tcp", Mode::Async, 1, 2, false},
                                         Kind{"async_memory", Mode::Async, 1, 2, true},
                                         Kind{"sync_tcp", Mode::Sync, 1, 3, false},
                                         Kind{"sync_memory", Mode::Sync, 1, 3, true},
                                         Kind{"stale_tcp", Mode::Stale, 1, 2, false},
                                         Kind{"async_3_shards", Mode::Async, 3, 2, false},
                                         Kind{"sync_3_shards", Mode::Sync, 3, 2, false},
                                         Kind{"sync_3_shards_memory", Mode::Sync, 3, 2, true},
                                         Kind{"stale_2_shards", Mode::Stale, 2, 3, false},
                                         Kind{"async_alone", Mode::Async, 1, 1, false}),
                         [](const auto& info) { return info.param.name; });

// Same seed, same workers: the same bits, whatever the timing and the number of servers.
TEST(Job, SyncIsBitIdentical) {
  auto run = [](size_t shards, bool memory, bool jitter) {
    Job job(Mode::Sync, shards, 3, 60, memory);
    std::vector<std::future<Status>> workers;
    for (uint32_t w = 0; w < 3; ++w) {
      workers.push_back(job.worker(w, [=](uint64_t ticket) {
        if (jitter) std::this_thread::sleep_for(std::chrono::microseconds((ticket * 7919 + w * 131) % 3000));
        return true;
      }));
    }
    for (auto& w : workers) EXPECT_TRUE(w.get().ok());
    return job.chief->snapshot()->weights;
  };
  std::vector<float> first = run(1, false, false);
  EXPECT_EQ(first, run(1, false, true));
  EXPECT_EQ(first, run(1, true, true));
  EXPECT_EQ(first, run(3, false, true));
}

class LostWorkerTest : public testing::TestWithParam<Mode> {};

// Worker 1 vanishes in the middle of a step, without a word: the others finish all batches.
TEST_P(LostWorkerTest, TheOthersGoOn) {
  Job job(GetParam(), 2, 2, 100);
  std::atomic<int> steps = 0;
  // Where nobody waits for the other, all could be done before it is in the middle.
  auto stays = job.worker(0, [&](uint64_t ticket) {
    while (GetParam() != Mode::Sync && ticket > 50 && steps < 10) std::this_thread::sleep_for(1ms);
    return true;
  });
  auto goes = job.worker(1, [&](uint64_t) { return ++steps < 10; });
  EXPECT_EQ(goes.get().code(), Code::Cancelled);
  auto begin = Clock::now();
  Status done = stays.get();
  EXPECT_TRUE(done.ok()) << done.text();
  EXPECT_LT(Clock::now() - begin, 10s);
  EXPECT_EQ(job.chief->report()->tickets_done, 100u);
  EXPECT_EQ(job.chief->report()->members.at(1).state, 2);
}

// ... and comes back.
TEST_P(LostWorkerTest, ARestartedWorkerRejoins) {
  Job job(GetParam(), 1, 2, 200);
  std::atomic<bool> back = false;
  auto stays = job.worker(0, [&](uint64_t ticket) {
    // In a round it must not be waited for by the one it waits for: it only goes slowly once that one is
    // here.
    auto here = [&] { return GetParam() == Mode::Sync && job.count("peer_joined", "worker/1") > 1; };
    while (ticket > 100 && !back && !here()) std::this_thread::sleep_for(1ms);
    if (ticket > 100 && !back) std::this_thread::sleep_for(20ms);
    return true;
  });
  int steps = 0;
  EXPECT_EQ(job.worker(1, [&](uint64_t) { return ++steps < 5; }).get().code(), Code::Cancelled);
  std::atomic<int> later = 0;
  auto again = job.worker(1, [&](uint64_t) {
    ++later;
    back = true;
    return true;
  });
  EXPECT_TRUE(again.get().ok());
  back = true;
  EXPECT_TRUE(stays.get().ok());
  EXPECT_GT(later, 0);
  EXPECT_EQ(job.chief->report()->tickets_done, 200u);
}

INSTANTIATE_TEST_SUITE_P(Modes, LostWorkerTest, testing::Values(Mode::Async, Mode::Sync, Mode::Stale));

TEST(Job, ALostServerEndsTheWorkersWithItsName) {
  Job job(Mode::Async, 2, 1, 1000000);
  std::atomic<int> steps = 0;
  auto worker = job.worker(0, [&](uint64_t) { return ++steps > 0; });
  while (steps < 5) std::this_thread::sleep_for(1ms);
  job.servers[1].reset();
  auto begin = Clock::now();
  Status end = worker.get();
  EXPECT_FALSE(end.ok());
  EXPECT_LT(Clock::now() - begin, 5s);
  Status seen;
  for (int i = 0; i < 100 && seen.ok(); ++i) {
    seen = job.chief->report().status();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_FALSE(seen.ok()) << "the chief notices as well";
}

TEST(Job, ALostChiefEndsServersAndWorkers) {
  Job job(Mode::Sync, 2, 1, 1000000);
  std::atomic<int> steps = 0;
  auto worker = job.worker(0, [&](uint64_t) { return ++steps > 0; });
  while (steps < 5) std::this_thread::sleep_for(1ms);
  job.chief.reset();
  Status end = worker.get();
  EXPECT_EQ(end.code(), Code::Lost) << end.text();
  EXPECT_NE(end.message().find("the chief was lost"), std::string::npos) << end.message();
  for (auto& s : job.servers) EXPECT_EQ(s->wait({}).code(), Code::Lost);
}

TEST(Job, TheChiefsStopReachesWorkersThatWaitInABarrier) {
  Job job(Mode::Sync, 1, 2, 1000);  // the second worker never comes
  auto worker = job.worker(0, [&](uint64_t) { return true; });
  std::this_thread::sleep_for(50ms);  // whether it waits by now or comes too late, it must end the same way
  job.chief->stop(Status(Code::Cancelled, "interrupted"));
  Status end = worker.get();
  EXPECT_EQ(end.code(), Code::Cancelled) << end.text();
}

TEST(Job, AWrongKeyGetsNobodyIn) {
  Job job(Mode::Async, 1, 1, 10);
  Result<std::unique_ptr<WorkerClient>> client = WorkerClient::connect(
      client_options(0, 1), connector(job.addresses, {Role::Worker, 0}, std::string(32, 'w')));
  EXPECT_EQ(client.status().code(), Code::Auth) << client.status().text();
  EXPECT_TRUE(job.worker(0).get().ok()) << "the job goes on for those who have it";
  EXPECT_TRUE(job.saw("peer_refused", ""));
}

TEST(Job, MembersOfAnotherJobOrModelAreToldSo) {
  Job job(Mode::Async, 1, 1, 10);
  ClientOptions options = client_options(0, 1);
  options.job_digest = "another";
  Status s = WorkerClient::connect(options, job.connect({Role::Worker, 0})).status();
  EXPECT_EQ(s.code(), Code::Invalid);
  EXPECT_NE(s.message().find("belongs to another job"), std::string::npos) << s.message();
  options = client_options(0, 1);
  options.parameters = 5;
  s = WorkerClient::connect(options, job.connect({Role::Worker, 0})).status();
  EXPECT_NE(s.message().find("a model of 5 parameters, the job's has 3000"), std::string::npos)
      << s.message();
}

TEST(Job, ASecondChiefIsRefused) {
  Job job(Mode::Async, 1, 1, 10);
  Result<std::unique_ptr<ChiefClient>> second =
      ChiefClient::connect(client_options(0, 1), job.connect({Role::Chief, 0}));
  EXPECT_EQ(second.status().code(), Code::Conflict);
  EXPECT_TRUE(job.worker(0).get().ok());
}

TEST(Job, WorkersThatComeBeforeTheChiefWait) {
  ServerOptions options = server_options(0, Mode::Async, 1);
  auto server = std::move(*ParameterServer::start(options, {}));
  auto early = std::async(std::launch::async, [&] {
    auto client =
        WorkerClient::connect(client_options(0, 1), connector({server->address()}, {Role::Worker, 0}));
    return client.ok() ? work(**client) : client.status();
  });
  EXPECT_EQ(early.wait_for(1300ms), std::future_status::timeout)
      << "longer than the peer timeout: heartbeats keep it";
  auto chief = std::move(
      *ChiefClient::connect(client_options(0, 1), connector({server->address()}, {Role::Chief, 0})));
  ASSERT_TRUE(chief->init(start(20), *split_layout(layout(), 1)).ok());
  Status done = early.get();
  EXPECT_TRUE(done.ok()) << done.text();
}

// It may read its data for longer than that first.
TEST(Job, AChiefInTheServersProcessMayBeSilentForLongerThanThePeerTimeout) {
  ServerOptions options = server_options(0, Mode::Async, 1);
  options.peer_timeout = 50ms;
  auto server = test::need(ParameterServer::start(options, {}));
  std::unique_ptr<Link> link = server->local_link({Role::Chief, 0});
  std::this_thread::sleep_for(4 * options.peer_timeout);
  auto chief = test::need(ChiefClient::connect(
      client_options(0, 1), [&](uint32_t) -> Result<std::unique_ptr<Link>> { return std::move(link); }));
  const Status begun = chief->init(start(20), *split_layout(layout(), 1));
  EXPECT_TRUE(begun.ok()) << begun.text();
}

TEST(Job, AServerWithoutAChiefGivesUp) {
  ServerOptions options = server_options(0, Mode::Async, 1);
  options.start_timeout = 200ms;
  auto server = std::move(*ParameterServer::start(options, {}));
  EXPECT_EQ(server->wait({}).code(), Code::Timeout);
}

TEST(Job, HalfPrecisionOnTheWireTrainsAsWell) {
  for (Numbers encoding : {Numbers::Bf16, Numbers::Fp16, Numbers::Int8}) {
    ServerOptions so = server_options(0, Mode::Async, 1);
    so.shard.weights = encoding == Numbers::Int8 ? Numbers::Fp32 : encoding;
    auto server = std::move(*ParameterServer::start(so, {}));
    auto chief = std::move(
        *ChiefClient::connect(client_options(0, 1), connector({server->address()}, {Role::Chief, 0})));
    ASSERT_TRUE(chief->init(start(300), *split_layout(layout(), 1)).ok());
    ClientOptions co = client_options(0, 1);
    co.gradients = encoding;
    auto client = std::move(*WorkerClient::connect(co, connector({server->address()}, {Role::Worker, 0})));
    ASSERT_TRUE(work(*client).ok());
    EXPECT_LT(distance_from_goal(chief->snapshot()->weights), 0.05);
  }
}

// What a push rounds away, the next ones bring: without that, the small gradient never reaches the server.
TEST(Job, AnInt8PushFeedsItsErrorBack) {
  auto server = test::need(ParameterServer::start(server_options(0, Mode::Async, 1), {}));
  auto chief = test::need(
      ChiefClient::connect(client_options(0, 1), connector({server->address()}, {Role::Chief, 0})));
  ASSERT_TRUE(chief->init(start(100), *split_layout(layout(), 1)).ok());
  ClientOptions co = client_options(0, 1);
  co.gradients = Numbers::Int8;
  auto client = test::need(WorkerClient::connect(co, connector({server->address()}, {Role::Worker, 0})));
  std::vector<float> weights(kSize), statistics(2), added(2), g(kSize);
  Result<Assignment> a = client->begin(weights, statistics);
  for (int i = 0; i < 50; ++i) {
    g.assign(kSize, 0.002f);
    g[0] = 1;  // the step of its block is 1/127
    a = client->push({.rate = 1, .images = 1, .gradients = g, .statistics = added}, weights, statistics);
    ASSERT_TRUE(a.ok()) << a.status().text();
  }
  // Momentum 0.5 doubles the sum of 50 times 0.002, but for what the last pushes still bring.
  EXPECT_NEAR(weights[1], -2 * 50 * 0.002f, 0.03f);
}

// Gradients that become final one after the other, with several servers.
TEST(Job, APushThatBeginsEarlyHasTheSameEffect) {
  std::vector<float> results[2];
  for (const bool early : {false, true}) {
    std::vector<std::unique_ptr<ParameterServer>> servers;
    std::vector<std::string> addresses;
    for (uint32_t s = 0; s < 3; ++s) {
      servers.push_back(test::need(ParameterServer::start(server_options(s, Mode::Async, 1), {})));
      addresses.push_back(servers.back()->address());
    }
    auto chief =
        test::need(ChiefClient::connect(client_options(0, 3), connector(addresses, {Role::Chief, 0})));
    ASSERT_TRUE(chief->init(start(100), *split_layout(layout(), 3)).ok());
    auto client =
        test::need(WorkerClient::connect(client_options(0, 3), connector(addresses, {Role::Worker, 0})));
    std::vector<float> weights(kSize), statistics(2), added(2), g(kSize);
    Result<Assignment> a = client->begin(weights, statistics);
    for (int step = 0; step < 5; ++step) {
      std::optional<Contribution> part;
      if (early) client->begin_push(part.emplace(g));
      for (size_t end = kSize; end > 0; end -= 300) {
        for (size_t i = end - 300; i < end; ++i) g[i] = 0.1f * static_cast<float>((i + a->ticket) % 7);
        if (part) part->announce(end - 300, end);
      }
      if (part) part->complete({}, {});
      a = client->push({.rate = 0.1f, .images = 1, .gradients = g, .statistics = added}, weights, statistics);
      ASSERT_TRUE(a.ok()) << a.status().text();
    }
    results[early] = weights;
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0][1], 0);
}

}  // namespace
}  // namespace radl::engine::cluster
