// A TCP proxy that makes loopback as far and as narrow as a network between machines.
//
//   delay_proxy ONE-WAY-MS BITS-PER-SECOND [loss=SHARE] LISTEN-PORT=TARGET-PORT...
//
// Every byte arrives ONE-WAY-MS after the link has carried it; a link carries BITS-PER-SECOND in each
// direction and is shared by all connections to one target, as one machine's network card is (0: no limit).
// A share of the packets is lost: what contains one arrives a round trip later, and all that follows waits
// for it, as TCP retransmits. The sender's window does not shrink, unlike TCP's.
// Prints "ready" when all ports listen; ends when its standard input does.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kChunk = 64 << 10;
constexpr double kPacket = 1448;  // bytes
constexpr size_t kMostQueued =
    64 << 20;  // bytes under way: more than bandwidth times delay of what is measured

// One direction of one machine's network card.
class Direction {
 public:
  explicit Direction(double bits_per_second) : bytes_per_second_(bits_per_second / 8) {}
  // When the link has carried these bytes too.
  Clock::time_point carry(size_t bytes) {
    const Clock::time_point now = Clock::now();
    if (bytes_per_second_ <= 0) return now;
    std::lock_guard lock(mutex_);
    free_at_ = std::max(free_at_, now) +
               std::chrono::duration_cast<Clock::duration>(
                   std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second_));
    return free_at_;
  }

 private:
  double bytes_per_second_;
  std::mutex mutex_;
  Clock::time_point free_at_;
};

struct Sent {
  Clock::time_point due;
  std::vector<char> bytes;  // empty: the end
};

// Bytes under way from one end to the other.
class Wire {
 public:
  void put(Sent sent) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_ < kMostQueued; });
    queued_ += sent.bytes.size();
    sent_.push_back(std::move(sent));
    changed_.notify_all();
  }
  Sent take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !sent_.empty(); });
    Sent first = std::move(sent_.front());
    sent_.pop_front();
    queued_ -= first.bytes.size();
    changed_.notify_all();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sent> sent_;
  size_t queued_ = 0;
};

double loss = 0;  // share of the packets

// `seed`: of the losses, another one for each connection and direction.
void read_all(int from, Wire& wire, Direction& link, Clock::duration delay, uint32_t seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<double> uniform;
  for (;;) {
    std::vector<char> bytes(kChunk);
    const ssize_t got = recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0) return wire.put({Clock::now() + delay, {}});
    bytes.resize(static_cast<size_t>(got));
    Clock::time_point carried = link.carry(bytes.size());
    if (loss > 0 && uniform(random) > std::pow(1 - loss, std::ceil(static_cast<double>(got) / kPacket)))
      carried += 2 * delay;
    wire.put({carried + delay, std::move(bytes)});
  }
}

void write_all(int to, Wire& wire) {
  for (;;) {
    const Sent sent = wire.take();
    std::this_thread::sleep_until(sent.due);
    if (sent.bytes.empty()) {
      shutdown(to, SHUT_WR);
      return;
    }
    for (size_t at = 0; at < sent.bytes.size();) {
      const ssize_t put = send(to, sent.bytes.data() + at, sent.bytes.size() - at, MSG_NOSIGNAL);
      if (put <= 0) break;  // the other end is gone: what is left is read and thrown away
      at += static_cast<size_t>(put);
    }
  }
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A connection is over for the one who asked when the target does not answer: as if nobody listened there.
void serve(int client, int target_port, Direction& in, Direction& out, Clock::duration delay, uint32_t seed) {
  const int target = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(target_port);
  if (connect(target, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    at_once(client);
    at_once(target);
    Wire there, back;
    std::thread threads[] = {std::thread(read_all, client, std::ref(there), std::ref(in), delay, seed),
                             std::thread(write_all, target, std::ref(there)),
                             std::thread(read_all, target, std::ref(back), std::ref(out), delay, seed + 1),
                             std::thread(write_all, client, std::ref(back))};
    for (std::thread& thread : threads) thread.join();
  }
  close(target);
  close(client);
}

void listen_at(int listener, int target_port, double bits_per_second, Clock::duration delay) {
  Direction in(bits_per_second), out(bits_per_second);
  for (uint32_t connection = 0;; ++connection) {
    const int client = accept(listener, nullptr, nullptr);
    if (client < 0) return;
    const uint32_t seed = 1 + 2 * connection + 10007 * static_cast<uint32_t>(target_port);
    std::thread(serve, client, target_port, std::ref(in), std::ref(out), delay, seed).detach();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: delay_proxy ONE-WAY-MS BITS-PER-SECOND [loss=SHARE] LISTEN-PORT=TARGET-PORT...\n");
    return 1;
  }
  const auto delay = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(std::atof(argv[1])));
  const double bits_per_second = std::atof(argv[2]);
  for (int i = 3; i < argc; ++i) {
    if (std::sscanf(argv[i], "loss=%lf", &loss) == 1) continue;
    int listen_port = 0, target_port = 0;
    if (std::sscanf(argv[i], "%d=%d", &listen_port, &target_port) != 2) {
      std::fprintf(stderr, "delay_proxy: %s is not LISTEN-PORT=TARGET-PORT\n", argv[i]);
      return 1;
    }
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address = loopback(listen_port);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 64) != 0) {
      std::perror("delay_proxy: bind");
      return 1;
    }
    std::thread(listen_at, listener, target_port, bits_per_second, delay).detach();
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);
}
