// Ranks as processes: killed, frozen, and restarted ones.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/reserved_port.h"
#include "tests/support/wait_until.h"
#include "tests/unit/engine/cluster/toy_cluster.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
using namespace toy;

// A child that runs `body` and exits with 0 when that is true.
class Process {
 public:
  explicit Process(const std::function<bool()>& body) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(body() ? 0 : 1);
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void signal(int number) const { ::kill(pid_, number); }
  // The exit status within that time, or -1.
  int wait(Milliseconds patience) {
    for (auto end = Clock::now() + patience; Clock::now() < end; std::this_thread::sleep_for(5ms)) {
      int status;
      if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }

 private:
  pid_t pid_;
};

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

// Counts the steps of processes that were forked after it was made.
class SharedCount {
 public:
  SharedCount()
      : page_(::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        count_(new (page_) Count(0)) {}
  ~SharedCount() { ::munmap(page_, sizeof(Count)); }
  SharedCount(const SharedCount&) = delete;
  void add() { ++*count_; }
  int value() const { return *count_; }

 private:
  using Count = std::atomic<int>;
  void* page_;
  Count* count_;
};

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
