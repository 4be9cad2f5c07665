// A parameter server under load, for bench/ps/run.py.
//
//   ps_bench SERVERS MEGABYTES : a worker pushes gradients of so many MB to servers in processes of their own
// and reads the weights back. Prints {"servers", "bytes_per_second", "bytes_per_server_cpu_second",
// "step_ms"}.
//   ps_bench memcpy MEGABYTES, ps_bench loopback MEGABYTES : the limits. Print bytes/s.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "engine/cluster/client.h"
#include "engine/cluster/server.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr double kSeconds = 3;
const std::string kBenchKey(32, 'k');

double copy_rate(size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes);
  size_t copied = 0;
  const auto begin = SteadyClock::now();
  while (seconds_since(begin) < kSeconds) {
    std::memcpy(to.data(), from.data(), bytes);
    from[copied % bytes] = to[bytes - 1];
    copied += bytes;
  }
  return static_cast<double>(copied) / seconds_since(begin);
}

// One connection, without encryption, from one thread to another.
double loopback_rate(size_t bytes) {
  Result<int> listening = listen_at({"127.0.0.1", "0"});
  if (!listening.ok()) return 0;
  const std::string address = own_address(*listening);
  std::thread reader([&] {
    int fd = -1;
    while ((fd = ::accept(*listening, nullptr, nullptr)) < 0) std::this_thread::sleep_for(Milliseconds(1));
    std::vector<char> in(kMegabyte);
    while (::read(fd, in.data(), in.size()) > 0) {
    }
    ::close(fd);
  });
  Result<int> fd = connect_once(*split_address(address), Milliseconds(2000));
  double rate = 0;
  if (fd.ok()) {
    Socket socket(*fd);
    const std::string out(bytes, 'x');
    size_t sent = 0;
    const auto begin = SteadyClock::now();
    while (seconds_since(begin) < kSeconds && socket.write(out, Milliseconds(5000)).ok()) sent += bytes;
    rate = static_cast<double>(sent) / seconds_since(begin);
  }
  reader.join();
  ::close(*listening);
  return rate;
}

// In a process of its own: writes its address to `out`, and serves until the job ends.
[[noreturn]] void serve(uint32_t index, int out) {
  ServerOptions options{.index = index, .address = "127.0.0.1:0", .key = kBenchKey, .job_digest = "bench"};
  Result<std::unique_ptr<ParameterServer>> server = ParameterServer::start(options, {});
  if (!server.ok()) std::_Exit(1);
  const std::string line = (*server)->address() + "\n";
  if (::write(out, line.data(), line.size()) < 0) std::_Exit(1);
  ::close(out);
  (void)(*server)->wait({});
  server->reset();
  std::_Exit(0);
}

ClientOptions bench_client(uint32_t servers, size_t parameters) {
  ClientOptions options;
  options.shards = servers;
  options.job_digest = "bench";
  options.parameters = parameters;
  return options;
}

int run_servers(uint32_t servers, size_t megabytes) {
  std::vector<std::string> addresses;
  std::vector<pid_t> processes;
  for (uint32_t s = 0; s < servers; ++s) {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t child = ::fork();
    if (child == 0) serve(s, ends[1]);
    ::close(ends[1]);
    char text[64] = {};
    if (::read(ends[0], text, sizeof text - 1) <= 0) return 1;
    ::close(ends[0]);
    addresses.emplace_back(text, std::strcspn(text, "\n"));
    processes.push_back(child);
  }
  const size_t size = megabytes * kMegabyte / sizeof(float);
  const auto connector = [&](Role role) -> Connector {
    return [&addresses, role](uint32_t shard) {
      return connect_tcp(addresses[shard], kBenchKey, {role, 0}, {Role::Server, shard}, Milliseconds(5000));
    };
  };
  const std::vector<ParameterInfo> layout{
      {.name = "p", .shape = {static_cast<int>(size)}, .offset = 0, .size = size}};
  Init whole{.count = size, .parameters = size, .batches = uint64_t{1} << 40};
  whole.optimizer = *OptimizerPlan::make({.momentum = 0.9}, layout);
  whole.state.weights.assign(size, 0.0f);
  const ClientOptions options = bench_client(servers, size);
  Result<std::unique_ptr<ChiefClient>> chief = ChiefClient::connect(options, connector(Role::Chief));
  Status ready = chief.ok() ? (*chief)->init(whole, *split_layout(layout, servers)) : chief.status();
  Result<std::unique_ptr<WorkerClient>> worker =
      ready.ok() ? WorkerClient::connect(options, connector(Role::Worker)) : ready;
  std::vector<float> weights(size), gradients(size, 1e-3f);
  Result<Assignment> next = worker.ok() ? (*worker)->begin(weights, {}) : worker.status();
  uint64_t steps = 0;
  auto begin = SteadyClock::now();
  while (next.ok() && seconds_since(begin) < kSeconds) {
    next = (*worker)->push({.rate = 0.1f, .images = 1, .gradients = gradients}, weights, {});
    if (++steps == 3) begin = SteadyClock::now();  // connections are quick by now
  }
  const double seconds = seconds_since(begin);
  if (!next.ok() || steps < 4) {
    std::fprintf(stderr, "%s\n", next.status().text().c_str());
    return 1;
  }
  (*worker)->leave({});
  (*chief)->stop({});
  double cpu = 0;
  for (const pid_t child : processes) {
    struct rusage used {};
    int status = 0;
    ::wait4(child, &status, 0, &used);
    cpu += static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  }
  const double moved = 2.0 * static_cast<double>(steps - 3) * static_cast<double>(size * sizeof(float)),
               all = 2.0 * static_cast<double>(steps) * static_cast<double>(size * sizeof(float));
  fmt::print(
      R"({{"servers": {}, "bytes_per_second": {:.0f}, "bytes_per_server_cpu_second": {:.0f}, "step_ms": {:.2f}}})"
      "\n",
      servers, moved / seconds, all / cpu, 1000 * seconds / static_cast<double>(steps - 3));
  return 0;
}

}  // namespace
}  // namespace radl::engine::cluster

int main(int argc, char** argv) {
  using namespace radl::engine::cluster;
  if (argc < 3) return 2;
  const std::string what = argv[1];
  const auto megabytes = static_cast<size_t>(std::atoi(argv[2]));
  if (what == "memcpy") return fmt::print("{:.0f}\n", copy_rate(megabytes * kMegabyte)), 0;
  if (what == "loopback") return fmt::print("{:.0f}\n", loopback_rate(megabytes * kMegabyte)), 0;
  return run_servers(static_cast<uint32_t>(std::atoi(argv[1])), megabytes);
}
