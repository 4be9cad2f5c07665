// What a link promises, the same over memory and over TCP; and what only TCP can do wrong.
#include "engine/cluster/link.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "engine/cluster/link_tcp.h"
#include "engine/cluster/session.h"
#include "engine/cluster/socket.h"
#include "tests/support/need.h"
#include "tests/support/reserved_port.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;
const std::string kKey(32, 'k');

struct Ends {
  std::unique_ptr<Link> worker, server;
};

Ends tcp_ends() {
  const std::unique_ptr<Listener> listener = test::need(listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0}));
  auto accepted = std::async(std::launch::async, [&] { return listener->accept(30000ms); });
  Result<std::unique_ptr<Link>> worker =
      connect_tcp(listener->address(), kKey, {Role::Worker, 7}, {Role::Server, 0}, 30000ms);
  Result<std::unique_ptr<Link>> server = accepted.get();
  return {test::need(std::move(worker)), test::need(std::move(server))};
}

class LinkTest : public testing::TestWithParam<std::string> {
 protected:
  Ends ends() {
    if (GetParam() == "tcp") return tcp_ends();
    auto [a, b] = make_memory_links({Role::Worker, 7}, {Role::Server, 0});
    return {std::move(a), std::move(b)};
  }
};

std::string pattern(size_t size) {
  std::string out(size, '\0');
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 2654435761u >> 13);
  return out;
}

TEST_P(LinkTest, KnowsItsPeer) {
  Ends e = ends();
  EXPECT_EQ(e.server->peer().role, Role::Worker);
  EXPECT_EQ(e.server->peer().index, 7u);
  EXPECT_EQ(e.worker->peer().role, Role::Server);
  EXPECT_EQ(e.server->name().substr(0, 8), "worker/7");
}

// Sizes around the borders of records, in order, both ways at once.
TEST_P(LinkTest, CarriesMessagesOfAnySizeInOrder) {
  Ends e = ends();
  std::vector<size_t> sizes = {0,
                               1,
                               kRecordSize - kHeaderSize - 1,
                               kRecordSize - kHeaderSize,
                               kRecordSize - kHeaderSize + 1,
                               2 * kRecordSize,
                               3 * kRecordSize - 16,
                               5000001};
  for (Link* link : {e.worker.get(), e.server.get()}) link->set_limit(6000000);
  auto talk = [&](Link& link) {
    auto sender = std::async(std::launch::async, [&] {
      for (size_t size : sizes) {
        Status sent = link.send({MessageType::Push, pattern(size)}, 30000ms);
        ASSERT_TRUE(sent.ok()) << sent.text();
      }
    });
    Message m;
    for (size_t size : sizes) {
      Status got = link.receive(m, 30000ms);
      ASSERT_TRUE(got.ok()) << got.text();
      ASSERT_EQ(m.type, MessageType::Push);
      ASSERT_EQ(m.payload.size(), size);
      ASSERT_TRUE(m.payload == pattern(size));
    }
  };
  auto other = std::async(std::launch::async, [&] { talk(*e.server); });
  talk(*e.worker);
}

TEST_P(LinkTest, CountsWhatTravelsEachWay) {
  Ends e = ends();
  e.server->set_limit(6000000);
  const Traffic before = e.worker->traffic();
  auto taken = std::async(std::launch::async, [&] {
    Message m;
    return e.server->receive(m, 5000ms);
  });
  ASSERT_TRUE(e.worker->send({MessageType::Push, pattern(5000001)}, 5000ms).ok());
  ASSERT_TRUE(taken.get().ok());
  const uint64_t sent = e.worker->traffic().sent - before.sent;
  EXPECT_GE(sent, 5000001 + kHeaderSize);
  EXPECT_LE(sent, 5000001 * 1.01) << "records and their tags are a small part";
  EXPECT_EQ(e.worker->traffic().received, before.received);
  EXPECT_EQ(e.server->traffic().received, sent) << "the other side counts the same";
  if (GetParam() == "tcp") {
    EXPECT_GT(e.worker->traffic().round_trip_seconds, 0) << "the kernel measured it";
  }
}

TEST(Traffic, OfSeveralLinksAddsUpAndTheNarrowestCounts) {
  const Traffic both = together({10, 20, 0.001, 5e6}, {1, 2, 0.003, 4e6});
  EXPECT_EQ(both.sent, 11u);
  EXPECT_EQ(both.received, 22u);
  EXPECT_EQ(both.round_trip_seconds, 0.003);
  EXPECT_EQ(both.bytes_per_second, 4e6);
  EXPECT_EQ(together({0, 0, 0, 0}, {0, 0, 0, 4e6}).bytes_per_second, 4e6) << "one of them is not known";
}

TEST_P(LinkTest, SilenceIsATimeoutAndTheLinkGoesOn) {
  Ends e = ends();
  Message m;
  EXPECT_EQ(e.worker->receive(m, 20ms).code(), Code::Timeout);
  ASSERT_TRUE(e.server->send({MessageType::Ready, {}}, 30000ms).ok());
  EXPECT_TRUE(e.worker->receive(m, 30000ms).ok());
}

TEST_P(LinkTest, TheEndOfTheOtherSideIsSeen) {
  Ends e = ends();
  auto waiting = std::async(std::launch::async, [&] {
    Message m;
    return e.worker->receive(m, 10000ms);
  });
  e.server.reset();
  EXPECT_EQ(waiting.get().code(), Code::Lost);
}

TEST_P(LinkTest, CloseWakesWhoeverWaits) {
  Ends e = ends();
  auto waiting = std::async(std::launch::async, [&] {
    Message m;
    return e.worker->receive(m, 60000ms);
  });
  std::this_thread::sleep_for(20ms);  // most often it waits by then; it must end as well when it does not yet
  e.worker->close();
  EXPECT_EQ(waiting.get().code(), Code::Lost);
  EXPECT_FALSE(e.worker->send({MessageType::Ready, {}}, 100ms).ok());
}

TEST_P(LinkTest, MessagesAboveTheLimitAreRefused) {
  Ends e = ends();
  ASSERT_TRUE(e.worker->send({MessageType::Push, std::string(kSmallMessage + 1, 'x')}, 30000ms).ok());
  Message m;
  EXPECT_EQ(e.server->receive(m, 30000ms).code(), Code::Corrupt);
}

// The limit is raised while the reader already waits for the message that needs it.
TEST_P(LinkTest, ARaisedLimitHoldsForWhoeverWaitsAlready) {
  Ends e = ends();
  auto waiting = std::async(std::launch::async, [&] {
    Message m;
    return e.server->receive(m, 30000ms);
  });
  std::this_thread::sleep_for(50ms);  // it waits by then, most often; the other order must work as well
  e.server->set_limit(1 << 20);
  ASSERT_TRUE(e.worker->send({MessageType::Push, std::string(kSmallMessage + 1, 'x')}, 30000ms).ok());
  EXPECT_TRUE(waiting.get().ok());
}

TEST_P(LinkTest, ASessionKeepsAQuietPeerAndHandsMessagesOver) {
  Ends e = ends();
  Session worker(std::move(e.worker), 700ms), server(std::move(e.server), 700ms);
  Message m;
  EXPECT_EQ(worker.receive(m, 1600ms).code(),
            Code::Timeout);  // more than twice the peer timeout, and still there
  EXPECT_TRUE(worker.health().ok()) << worker.health().text();
  ASSERT_TRUE(server.send(encode(Fetch{1})).ok());
  ASSERT_TRUE(worker.receive(m, 30000ms).ok());
  EXPECT_EQ(m.type, MessageType::Fetch);
}

TEST(SessionTest, ALongerPeerTimeoutAllowsLongerCutsOfTheNetwork) {
  EXPECT_EQ(unreachable_after(1s), 2500ms);
  EXPECT_EQ(unreachable_after(10s), 2500ms);
  EXPECT_EQ(unreachable_after(60s), 15s);
}

TEST_P(LinkTest, ASessionGivesUpAPeerThatIsFrozen) {
  Ends e = ends();
  std::promise<std::string> lost;
  auto begin = Clock::now();
  Session server(std::move(e.server), 300ms, [&](const Status& s, double silent) {
    EXPECT_GT(silent, 0.2);
    lost.set_value(s.message());
  });
  std::string why = lost.get_future().get();  // nobody answers at the other end, which stays open
  EXPECT_LT(Clock::now() - begin, 20s);
  EXPECT_NE(why.find("nothing heard for"), std::string::npos) << why;
  Message m;
  EXPECT_EQ(server.receive(m, radl::Stop()).code(), Code::Lost);
  EXPECT_EQ(server.send({MessageType::Ready, {}}).code(), Code::Lost);
}

TEST_P(LinkTest, APeerThatTakesNothingIsGivenUp) {
  Ends e = ends();
  Status sent;
  for (int i = 0; i < 100 && sent.ok(); ++i)
    sent = e.worker->send({MessageType::Push, pattern(1 << 20)}, 100ms);
  EXPECT_FALSE(sent.ok());
}

INSTANTIATE_TEST_SUITE_P(Kinds, LinkTest, testing::Values("memory", "tcp"),
                         [](const auto& info) { return info.param; });

TEST(TcpLink, APortInUseIsNamed) {
  Result<std::unique_ptr<Listener>> first = listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0});
  ASSERT_TRUE(first.ok());
  Result<std::unique_ptr<Listener>> second = listen_tcp((*first)->address(), kKey, {Role::Server, 1});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::Conflict);
  EXPECT_EQ(second.status().message(), "cannot listen at " + (*first)->address() + ": the address is in use");
}

TEST(TcpLink, AnAddressOfAnotherMachineIsSaidToBeOne) {
  Result<std::unique_ptr<Listener>> listener = listen_tcp("192.0.2.1:40000", kKey, {Role::Server, 0});
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.status().message(),
            "cannot listen at 192.0.2.1:40000: this machine has no such address");
}

TEST(TcpLink, WaitsForAServerThatComesLate) {
  const test::ReservedPort port;
  const std::string address = port.address();
  auto late = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(200ms);
    Result<std::unique_ptr<Listener>> listener = listen_tcp(address, kKey, {Role::Server, 0});
    return listener.ok() && (*listener)->accept(30000ms).ok();
  });
  EXPECT_TRUE(connect_tcp(address, kKey, {Role::Worker, 0}, {Role::Server, 0}, 30000ms).ok());
  EXPECT_TRUE(late.get());
}

TEST(TcpLink, GivesUpWhenNobodyComes) {
  const test::ReservedPort port;
  const std::string address = port.address();
  Status s = connect_tcp(address, kKey, {Role::Worker, 0}, {Role::Server, 0}, 200ms).status();
  EXPECT_EQ(s.code(), Code::Timeout);
  EXPECT_NE(s.message().find(address), std::string::npos) << s.message();
}

TEST(TcpLink, AWrongKeyIsRefusedAtOnceOnBothSides) {
  std::unique_ptr<Listener> listener;
  ListenOptions options;
  options.refused = [&](uint64_t, const std::string&) { listener->close(); };
  listener = std::move(*listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0}, options));
  auto accepted = std::async(std::launch::async, [&] { return listener->accept(30000ms).status(); });
  auto begin = Clock::now();
  Status s =
      connect_tcp(listener->address(), std::string(32, 'w'), {Role::Worker, 0}, {Role::Server, 0}, 30000ms)
          .status();
  EXPECT_EQ(s.code(), Code::Auth) << s.text();
  EXPECT_LT(Clock::now() - begin, 20s);
  EXPECT_FALSE(accepted.get().ok());
}

// Bytes of whoever finds the port: no handshake, no parser.
TEST(TcpLink, AStrangerGetsNothingButAnEnd) {
  std::unique_ptr<Listener> listener;
  std::string why;
  ListenOptions options;
  options.refused = [&](uint64_t, const std::string& last) {
    why = last;
    listener->close();
  };
  listener = std::move(*listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0}, options));
  auto accepted = std::async(std::launch::async, [&] { return listener->accept(30000ms).status(); });
  Result<int> fd = connect_once(*split_address(listener->address()), 30000ms);
  ASSERT_TRUE(fd.ok());
  Socket socket(*fd);
  ASSERT_TRUE(socket
                  .write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: somebody\r\nAccept: */*\r\n\r\n" +
                             std::string(64, ' '),
                         30000ms)
                  .ok());
  EXPECT_EQ(accepted.get().code(), Code::Cancelled);
  EXPECT_NE(why.find("does not speak the protocol of a training job"), std::string::npos) << why;
  char byte;
  EXPECT_EQ(socket.read(&byte, 1, 30000ms).code(), Code::Lost);
}

// A member that was let in and then sends rubbish instead of records.
TEST(TcpLink, RubbishAfterTheHandshakeEndsTheLink) {
  Result<std::unique_ptr<Listener>> listener = listen_tcp("127.0.0.1:0", kKey, {Role::Server, 0});
  auto accepted = std::async(std::launch::async, [&] { return (*listener)->accept(30000ms); });
  Result<int> fd = connect_once(*split_address((*listener)->address()), 30000ms);
  ASSERT_TRUE(fd.ok());
  Socket socket(*fd);
  auto client = SecureEnd::client(kKey, {Role::Worker, 0}, {Role::Server, 0});
  std::string in, out;
  while (client->shake(in, out).code() == Code::Retry) {
    ASSERT_TRUE(socket.write(out, 30000ms).ok());
    out.clear();
    in.resize(kMostHandshake);
    Result<size_t> n = socket.read_any(in.data(), in.size(), 30000ms);
    ASSERT_TRUE(n.ok()) << n.status().text();
    in.resize(*n);
  }
  Result<std::unique_ptr<Link>> link = accepted.get();
  ASSERT_TRUE(link.ok());
  ASSERT_TRUE(socket.write(std::string("\x17\x03\x03\0\x20", 5) + std::string(32, 'x'), 30000ms).ok());
  Message m;
  EXPECT_EQ((*link)->receive(m, 30000ms).code(), Code::Auth);
  EXPECT_EQ((*link)->send({MessageType::Heartbeat, {}}, 30000ms).code(), Code::Lost) << "from another thread";
}

}  // namespace
}  // namespace radl::engine::cluster
