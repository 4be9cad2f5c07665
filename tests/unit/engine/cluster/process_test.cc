// Ranks as processes: killed, frozen, and restarted ones.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/reserved_port.h"
#include "tests/support/wait_until.h"
#include "tests/unit/engine/cluster/processes.h"
#include "tests/unit/engine/cluster/toy_cluster.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
using namespace toy;

bool serve(const std::string& address, Mode mode, uint64_t total) {
  ServerOptions options = server_options(0, mode, 2);
  options.address = address;
  auto server = ParameterServer::start(options, {});
  if (!server.ok()) return false;
  auto link = std::make_shared<std::unique_ptr<Link>>((*server)->local_link({Role::Chief, 0}));
  auto chief = ChiefClient::connect(
      client_options(0, 1), [link](uint32_t) -> Result<std::unique_ptr<Link>> { return std::move(*link); });
  if (!chief.ok() || !(*chief)->init(start(total), *split_layout(layout(), 1)).ok()) return false;
  for (;;) {
    Result<Report> report = (*chief)->report();
    if (!report.ok()) return false;
    if (report->tickets_done == report->tickets) break;
    std::this_thread::sleep_for(5ms);
  }
  bool good = distance_from_goal((*chief)->snapshot()->weights) < 0.05;
  (*chief)->stop({});
  return good;
}

bool be_worker(const std::string& address, uint32_t index, SharedCount& steps) {
  auto client = WorkerClient::connect(client_options(index, 1), connector({address}, {Role::Worker, index}));
  return client.ok() && work(**client, [&](uint64_t) {
                          std::this_thread::sleep_for(2ms);
                          steps.add();
                          return true;
                        }).ok();
}

// A few steps of each: everybody is at work, and far from the end.
bool at_work(const SharedCount& one, const SharedCount& other) {
  return test::wait_until([&] { return one.value() > 5 && other.value() > 5; });
}

class ProcessTest : public testing::TestWithParam<Mode> {};

TEST_P(ProcessTest, AKilledWorkerDoesNotStopTheOthers) {
  const test::ReservedPort port;
  const std::string address = port.address();
  SharedCount first, second;
  Process server([&] { return serve(address, GetParam(), 300); });
  Process stays([&] { return be_worker(address, 0, first); });
  Process dies([&] { return be_worker(address, 1, second); });
  ASSERT_TRUE(at_work(first, second));
  dies.signal(SIGKILL);
  EXPECT_EQ(dies.wait(30s), 128 + SIGKILL);
  EXPECT_EQ(stays.wait(30s), 0);
  EXPECT_EQ(server.wait(30s), 0);
}

// The connection stays open; only its silence says that it is gone.
TEST_P(ProcessTest, AFrozenWorkerDoesNotStopTheOthers) {
  const test::ReservedPort port;
  const std::string address = port.address();
  SharedCount first, second;
  Process server([&] { return serve(address, GetParam(), 300); });
  Process stays([&] { return be_worker(address, 0, first); });
  Process freezes([&] { return be_worker(address, 1, second); });
  ASSERT_TRUE(at_work(first, second));
  freezes.signal(SIGSTOP);
  EXPECT_EQ(stays.wait(30s), 0);
  EXPECT_EQ(server.wait(30s), 0);
  freezes.signal(SIGCONT);
  EXPECT_NE(freezes.wait(30s), -1) << "it ends by itself when it wakes up";
}

TEST_P(ProcessTest, AKilledServerEndsTheWorkers) {
  const test::ReservedPort port;
  const std::string address = port.address();
  SharedCount first, second;
  Process server([&] { return serve(address, GetParam(), 1000000); });
  Process a([&] { return be_worker(address, 0, first); }), b([&] { return be_worker(address, 1, second); });
  ASSERT_TRUE(at_work(first, second));
  server.signal(SIGKILL);
  EXPECT_EQ(a.wait(30s), 1);
  EXPECT_EQ(b.wait(30s), 1);
}

TEST_P(ProcessTest, AFrozenServerEndsTheWorkersWithinThePeerTimeout) {
  const test::ReservedPort port;
  const std::string address = port.address();
  SharedCount first, second;
  Process server([&] { return serve(address, GetParam(), 1000000); });
  Process a([&] { return be_worker(address, 0, first); }), b([&] { return be_worker(address, 1, second); });
  ASSERT_TRUE(at_work(first, second));
  server.signal(SIGSTOP);
  EXPECT_EQ(a.wait(30s), 1);
  EXPECT_EQ(b.wait(30s), 1);
}

INSTANTIATE_TEST_SUITE_P(Modes, ProcessTest, testing::Values(Mode::Async, Mode::Sync, Mode::Stale));

}  // namespace
}  // namespace radl::engine::cluster
