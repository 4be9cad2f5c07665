// A member of an all-reduce by Gloo over TCP, without encryption: the peer of ours.cc.
//
//   allreduce_gloo RANK SIZE EMPTY-FOLDER
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int rank = std::atoi(argv[1]), size = std::atoi(argv[2]);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(argv[3]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
  for (size_t megabytes : {1, 10, 100}) {
    std::vector<float> numbers(megabytes * (size_t{1} << 20) / sizeof(float));
    std::vector<double> seconds;
    for (int i = 0; i < (megabytes < 100 ? 20 : 6); ++i) {
      std::fill(numbers.begin(), numbers.end(), static_cast<float>(rank + 1));
      const auto begin = std::chrono::steady_clock::now();
      gloo::AllreduceOptions options(context);
      options.setOutput(numbers.data(), numbers.size());
      options.setReduceFunction(sum);
      options.setTag(static_cast<uint32_t>(i));
      gloo::allreduce(options);
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    if (rank == 0) std::printf("%zu %.3f\n", megabytes, 1000 * seconds[seconds.size() / 2]);
  }
  return 0;
}
