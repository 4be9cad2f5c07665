// A member of an all-reduce by the engine, for bench/allreduce/run.py.
//
//   allreduce_ours RANK ADDRESS... : a sum of 1, 10 and 100 MB each, encrypted as always. Rank 0 prints
// "MEGABYTES MEDIAN-MS" a line. Wrong sums end with status 1.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/clock.h"
#include "engine/cluster/party.h"

namespace radl::engine::cluster {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;
constexpr size_t kMegabytes[] = {1, 10, 100};

int run(uint32_t rank, std::vector<std::string> addresses) {
  const auto size = static_cast<uint32_t>(addresses.size());
  PartyOptions options{.addresses = std::move(addresses), .key = std::string(32, 'k'), .job_digest = "bench"};
  options.ring = {.rank = rank, .size = size, .parameters = 100 * kMegabyte / sizeof(float)};
  Result<std::unique_ptr<Party>> party = Party::join(options);
  TrainingState state;
  Status ready = party.ok() ? (*party)->next_view(state, false) : party.status();
  for (size_t megabytes : kMegabytes) {
    std::vector<float> numbers(megabytes * kMegabyte / sizeof(float));
    std::vector<double> seconds;
    for (int i = 0; ready.ok() && i < (megabytes < 100 ? 20 : 6); ++i) {
      std::fill(numbers.begin(), numbers.end(), static_cast<float>(rank + 1));
      const auto begin = SteadyClock::now();
      ready = (*party)->sum(numbers, {}, {}).status();
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
  if (rank > 0) (void)(*party)->wait_for_end();
  (*party)->stop({});
  return 0;
}

}  // namespace
}  // namespace radl::engine::cluster

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return radl::engine::cluster::run(static_cast<uint32_t>(std::atoi(argv[1])), {argv + 2, argv + argc});
}
