// Strangers without the key cannot stop a job, hold its end up or fill its progress lines.
#include "tests/unit/engine/cluster/strangers.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <mutex>

#include "engine/cluster/party.h"
#include "tests/support/reserved_port.h"
#include "tests/support/wait_until.h"
#include "tests/unit/engine/cluster/toy_cluster.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
using namespace toy;

// Accepts links at the listener until it is closed.
class Acceptor {
 public:
  explicit Acceptor(ListenOptions options = {}) {
    options.refused = [this](uint64_t count, const std::string& last) {
      ++told_;
      refused_ += count;
      std::lock_guard lock(mutex_);
      last_ = last;
    };
    listener_ = std::move(*listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0}, std::move(options)));
    thread_ = std::thread([this] {
      for (;;) {
        Result<std::unique_ptr<Link>> link = listener_->accept(100ms);
        if (link.status().code() == Code::Cancelled) return;
        if (link.ok()) links_.push_back(std::move(*link));
      }
    });
  }
  ~Acceptor() { close(); }
  void close() {
    listener_->close();
    if (thread_.joinable()) thread_.join();
  }
  std::string address() const { return listener_->address(); }
  std::string last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  std::atomic<uint64_t> told_ = 0, refused_ = 0;

 private:
  std::mutex mutex_;
  std::string last_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Link>> links_;
  std::thread thread_;
};

TEST(Strangers, ADripDoesNotExtendTheHandshake) {
  ListenOptions options;
  options.handshake = 300ms;
  Acceptor acceptor(options);
  Strangers drip(acceptor.address(), Manner::DripsAHello, 3);
  EXPECT_TRUE(test::wait_until([&] { return drip.cut_off() > 3; }));
  EXPECT_TRUE(test::wait_until([&] { return acceptor.refused_ > 0; }));
  acceptor.close();
  EXPECT_NE(acceptor.last().find("a client at 127.0.0.1:"), std::string::npos) << acceptor.last();
}

// Whatever limits the time: what a hello is decides.
TEST(Strangers, AHelloWithAnotherKeyOrAboveTheLimitIsCutOff) {
  for (const auto& [manner, why] : {std::pair(Manner::AnotherKey, "does not have this job's key"),
                                    std::pair(Manner::LongHello, "does not speak the protocol")}) {
    ListenOptions options;
    options.handshake = 3600s;
    Acceptor acceptor(options);
    Strangers strangers(acceptor.address(), manner, 3);
    EXPECT_TRUE(test::wait_until([&] { return strangers.cut_off() > 3; })) << why;
    EXPECT_TRUE(test::wait_until([&] { return acceptor.refused_ > 0; })) << why;
    acceptor.close();
    EXPECT_NE(acceptor.last().find(why), std::string::npos) << acceptor.last();
  }
}

// With all places taken a member gets in, and the oldest stranger has made room for it.
TEST(Strangers, TheOldestGivesWay) {
  ListenOptions options;
  options.handshake = 3600s;
  options.most_pending = 8;
  Acceptor acceptor(options);
  Strangers silent(acceptor.address(), Manner::Silent, 8);
  ASSERT_TRUE(test::wait_until([&] { return silent.connects() >= 8; }));
  Result<std::unique_ptr<Link>> link =
      connect_tcp(acceptor.address(), kKey, {Role::Worker, 0}, {Role::Server, 0}, 20000ms);
  EXPECT_TRUE(link.ok()) << link.status().text();
  EXPECT_TRUE(test::wait_until([&] { return silent.cut_off() > 0; }));
}

TEST(Strangers, AreToldOfOnceInAnInterval) {
  ListenOptions options;
  options.tell_every = 3600s;
  Acceptor acceptor(options);
  {
    Strangers many(acceptor.address(), Manner::ComesAndGoes, 50);
    ASSERT_TRUE(test::wait_until([&] { return many.connects() >= 3000; }));
    ASSERT_TRUE(test::wait_until([&] { return acceptor.told_ > 0; }));
  }
  Result<std::unique_ptr<Link>> link =
      connect_tcp(acceptor.address(), kKey, {Role::Worker, 0}, {Role::Server, 0}, 20000ms);
  EXPECT_TRUE(link.ok()) << link.status().text();  // behind the last of them
  acceptor.close();
  EXPECT_EQ(acceptor.told_, 2u) << "the first at once, the others at the end";
  EXPECT_GE(acceptor.refused_, 3000u);
}

// The answer of whoever listens there instead of the job's server.
TEST(Strangers, AServerThatDripsDoesNotHoldAClient) {
  Result<int> fd = listen_at({"127.0.0.1", "0"});
  ASSERT_TRUE(fd.ok());
  Socket listening(*fd);
  std::atomic<bool> stopped = false;
  std::thread drips([&] {
    std::vector<std::unique_ptr<Socket>> here;
    while (!stopped) {
      int client = ::accept(listening.fd(), nullptr, nullptr);
      if (client >= 0) {
        here.push_back(std::make_unique<Socket>(client));
        (void)here.back()->write_some(std::string("\x16\x03\x03\x02\x00", 5));  // a record of 512 bytes
      }
      for (auto& socket : here) (void)socket->write_some("x");
      std::this_thread::sleep_for(20ms);
    }
  });
  Status s =
      connect_tcp(own_address(listening.fd()), kKey, {Role::Worker, 0}, {Role::Server, 0}, 500ms).status();
  EXPECT_EQ(s.code(), Code::Timeout) << s.text();
  stopped = true;
  drips.join();
}

class Events {
 public:
  void note(const ServerEvent& e) {
    std::lock_guard lock(mutex_);
    refusals_ += e.kind == "peer_refused";
  }
  size_t refusals() {
    std::lock_guard lock(mutex_);
    return refusals_;
  }

 private:
  std::mutex mutex_;
  size_t refusals_ = 0;
};

class StrangersTest : public testing::TestWithParam<Manner> {};

// A whole job, from the first connection to the server's end, with strangers all the time.
TEST_P(StrangersTest, DoNotStopAJobOrHoldItsEndUp) {
  Events events;
  auto begun = Clock::now();
  auto server = std::move(*ParameterServer::start(server_options(0, Mode::Sync, 3),
                                                  [&](const ServerEvent& e) { events.note(e); }));
  Strangers strangers(server->address(), GetParam(), 300);
  ASSERT_TRUE(test::wait_until([&] { return strangers.connects() >= 300; }));
  std::vector<std::string> at = {server->address()};
  auto patient = [&](Identity self) -> Connector {
    return [=](uint32_t) { return connect_tcp(at[0], kKey, self, {Role::Server, 0}, 60000ms); };
  };
  auto chief = ChiefClient::connect(client_options(0, 1), patient({Role::Chief, 0}));
  ASSERT_TRUE(chief.ok()) << chief.status().text();
  ASSERT_TRUE((*chief)->init(start(90), *split_layout(layout(), 1)).ok());
  std::vector<std::future<Status>> workers;
  for (uint32_t w = 0; w < 3; ++w) {
    workers.push_back(std::async(std::launch::async, [&, w] {
      auto client = WorkerClient::connect(client_options(w, 1), patient({Role::Worker, w}));
      return client.ok() ? work(**client) : client.status();
    }));
  }
  for (auto& w : workers) {
    Status done = w.get();
    EXPECT_TRUE(done.ok()) << done.text();
  }
  EXPECT_EQ((*chief)->report()->tickets_done, 90u);
  (*chief)->stop({});
  EXPECT_TRUE(server->wait({}).ok());
  server.reset();  // while they are still there
  auto intervals = static_cast<size_t>((Clock::now() - begun) / ListenOptions().tell_every);
  EXPECT_LE(events.refusals(), intervals + 3);
}

TEST_P(StrangersTest, DoNotKeepARingFromForming) {
  const std::array<test::ReservedPort, 3> ports;
  std::vector<std::string> addresses;
  for (const test::ReservedPort& port : ports) addresses.push_back(port.address());
  std::vector<std::unique_ptr<Strangers>> strangers;
  for (const std::string& a : addresses) strangers.push_back(std::make_unique<Strangers>(a, GetParam(), 150));
  std::vector<std::future<Status>> members;
  for (uint32_t r = 0; r < 3; ++r) {
    members.push_back(std::async(std::launch::async, [&, r]() -> Status {
      Result<std::unique_ptr<Party>> party = Party::join({.ring = {r, 3, 100, 1, 5000ms, nullptr, {}},
                                                          .addresses = addresses,
                                                          .key = kKey,
                                                          .job_digest = "job",
                                                          .start_timeout = 60000ms});
      if (!party) return party.status();
      TrainingState state;
      if (r == 0) state.weights.assign(100, 1), state.statistics = {1};
      if (Status view = (*party)->next_view(state, r > 0); !view.ok()) return view;
      std::vector<float> numbers(100, 1), statistics(1, 1);
      Contribution own(numbers, statistics);
      Result<std::vector<RingNote>> notes = (*party)->sum(own);
      if (!notes) return notes.status();
      if (r > 0) (void)(*party)->wait_for_end();
      (*party)->stop({});
      return numbers[99] == 3 ? Status() : Status(Code::Internal, "a wrong sum");
    }));
  }
  for (auto& m : members) {
    Status done = m.get();
    EXPECT_TRUE(done.ok()) << done.text();
  }
}

std::string name_of(const testing::TestParamInfo<Manner>& info) {
  const char* names[] = {"silent",         "drips",       "drips_a_hello", "rubbish",
                         "comes_and_goes", "another_key", "long_hello"};
  return names[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Manners, StrangersTest,
                         testing::Values(Manner::Silent, Manner::Drips, Manner::DripsAHello, Manner::Rubbish,
                                         Manner::ComesAndGoes, Manner::AnotherKey, Manner::LongHello),
                         name_of);

}  // namespace
}  // namespace radl::engine::cluster
