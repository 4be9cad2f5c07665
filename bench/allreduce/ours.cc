// A member of an all-reduce by the engine, for bench/allreduce/run.py.
//
//   allreduce_ours RANK ADDRESS... : a sum of 1, 10 and 100 MB each, encrypted as always. Rank 0 prints
// "MEGABYTES MEDIAN-MS" a line. Wrong sums end with status 1.
//   allreduce_ours plain RANK ADDRESS... : the same over connections without encryption, which the engine
// itself never uses.
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "engine/cluster/party.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kMegabytes[] = {1, 10, 100};

using Sum = std::function<Status(std::vector<float>&)>;

// A link as link_tcp.cc has, without TLS.
class PlainLink : public Link {
 public:
  PlainLink(int fd, Identity peer) : socket_(fd), peer_(peer) { tune(fd); }
  Status send(const Message& message, Milliseconds timeout) override {
    std::lock_guard lock(sending_);
    char header[kHeaderSize];
    write_header(message.type, message.payload.size(), header);
    Status sent = socket_.write({header, kHeaderSize}, timeout);
    return sent.ok() ? socket_.write(message.payload, timeout) : sent;
  }
  Status receive(Message& message, Milliseconds timeout) override {
    char header[kHeaderSize];
    uint64_t length = 0;
    Status got = socket_.read(header, kHeaderSize, timeout);
    if (got.ok()) got = read_header(header, limit_, message.type, length);
    if (got.ok()) message.payload.resize(length);
    if (got.ok() && length > 0) got = socket_.read(message.payload.data(), length, timeout, true);
    return got;
  }
  Traffic traffic() const override { return {}; }
  void close() override { socket_.shut(); }
  void set_limit(size_t bytes) override { limit_ = bytes; }
  Identity peer() const override { return peer_; }
  std::string name() const override { return "worker/" + std::to_string(peer_.index); }

 private:
  Socket socket_;
  const Identity peer_;
  std::mutex sending_;
  size_t limit_ = kSmallMessage;
};

RingOptions ring_options(uint32_t rank, size_t size) {
  return {.rank = rank, .size = static_cast<uint32_t>(size), .parameters = 100 * kMegabyte / sizeof(float)};
}

// Connects to the members after this one, each of which reads its rank, and accepts those before it.
Result<std::unique_ptr<Collective>> link_plainly(uint32_t rank, const std::vector<std::string>& addresses) {
  const RingOptions options = ring_options(rank, addresses.size());
  std::vector<std::unique_ptr<Session>> sessions(addresses.size());
  Result<int> listening = listen_at(*split_address(addresses[rank]));
  if (!listening.ok()) return std::move(listening).status();
  const auto add = [&](int fd, uint32_t other) {
    sessions[other] = ring_session(options, std::make_unique<PlainLink>(fd, Identity{Role::Worker, other}));
  };
  for (uint32_t other = rank + 1; other < addresses.size(); ++other) {
    Result<int> fd = Status(Code::NotFound, "");
    while (fd.status().code() == Code::NotFound)
      fd = connect_once(*split_address(addresses[other]), Milliseconds(2000));
    if (!fd.ok()) return std::move(fd).status();
    if (::send(*fd, &rank, sizeof rank, 0) != sizeof rank) return Status(Code::Lost, "cannot greet");
    add(*fd, other);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    const int fd = [&] {
      int got = -1;
      while ((got = ::accept(*listening, nullptr, nullptr)) < 0) std::this_thread::sleep_for(Milliseconds(1));
      return got;
    }();
    uint32_t other = 0;
    if (::recv(fd, &other, sizeof other, MSG_WAITALL) != sizeof other || other >= rank)
      return Status(Code::Corrupt, "not a member");
    add(fd, other);
  }
  return Collective::direct(options, std::move(sessions));
}

int measure(uint32_t rank, size_t size, const Sum& sum) {
  for (size_t megabytes : kMegabytes) {
    std::vector<float> numbers(megabytes * kMegabyte / sizeof(float));
    std::vector<double> seconds;
    Status ready;
    for (int i = 0; ready.ok() && i < (megabytes < 100 ? 20 : 6); ++i) {
      std::fill(numbers.begin(), numbers.end(), static_cast<float>(rank + 1));
      const auto begin = SteadyClock::now();
      ready = sum(numbers);
      seconds.push_back(seconds_since(begin));
      const auto want = static_cast<float>(size * (size + 1) / 2);
      if (std::any_of(numbers.begin(), numbers.end(), [want](float v) { return v != want; }))
        ready = Status(Code::Internal, "wrong sum");
    }
    if (!ready.ok()) {
      std::fprintf(stderr, "%s\n", ready.text().c_str());
      return 1;
    }
    std::sort(seconds.begin(), seconds.end());
    if (rank == 0) std::printf("%zu %.3f\n", megabytes, 1000 * seconds[seconds.size() / 2]);
  }
  return 0;
}

int run_plain(uint32_t rank, const std::vector<std::string>& addresses) {
  Result<std::unique_ptr<Collective>> collective = link_plainly(rank, addresses);
  if (!collective.ok()) {
    std::fprintf(stderr, "%s\n", collective.status().text().c_str());
    return 1;
  }
  return measure(rank, addresses.size(), [&](std::vector<float>& numbers) {
    Contribution own(numbers, {});
    return (*collective)->sum(own).status();
  });
}

int run(uint32_t rank, const std::vector<std::string>& addresses) {
  PartyOptions options{.addresses = addresses, .key = std::string(32, 'k'), .job_digest = "bench"};
  options.ring = ring_options(rank, addresses.size());
  Result<std::unique_ptr<Party>> party = Party::join(options);
  TrainingState state;
  const Status ready = party.ok() ? (*party)->next_view(state, false) : party.status();
  if (!ready.ok()) {
    std::fprintf(stderr, "%s\n", ready.text().c_str());
    return 1;
  }
  const int outcome = measure(rank, addresses.size(), [&](std::vector<float>& numbers) {
    Contribution own(numbers, {});
    return (*party)->sum(own).status();
  });
  if (outcome == 0 && rank > 0) (void)(*party)->wait_for_end();
  (*party)->stop({});
  return outcome;
}

}  // namespace
}  // namespace radl::engine::cluster

int main(int argc, char** argv) {
  const bool plain = argc > 1 && std::strcmp(argv[1], "plain") == 0;
  char** rest = argv + (plain ? 2 : 1);
  if (argv + argc - rest < 2) return 2;
  const auto rank = static_cast<uint32_t>(std::atoi(rest[0]));
  const std::vector<std::string> addresses(rest + 1, argv + argc);
  return plain ? radl::engine::cluster::run_plain(rank, addresses)
               : radl::engine::cluster::run(rank, addresses);
}
