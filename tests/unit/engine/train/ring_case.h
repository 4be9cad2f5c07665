// Whole runs of workers without servers, in threads of this process.
#pragma once

#include <cstring>

#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {

class RingTrainTest : public ClusterTest {
 protected:
  Job ring_job(const std::string& name, size_t workers) {
    Job j = cluster_job(name, SyncMode::AllReduce, 0, 0);
    for (size_t i = 0; i < workers; ++i) j.cluster.worker.push_back(own_address());
    j.epochs = 3;
    return j;
  }
  // Runs every worker; the chief's result. All must end alike.
  Result<RunSummary> run_ring(const Job& j, RunHooks chief_hooks = {}) {
    std::vector<std::future<Result<RunSummary>>> members;
    for (int i = 0; i < static_cast<int>(j.cluster.worker.size()); ++i) {
      Job own = member(j, "worker", i);
      if (i == 0) own.progress = j.progress;
      members.push_back(
          std::async(std::launch::async, [=] { return run_job(own, i == 0 ? chief_hooks : RunHooks()); }));
    }
    std::vector<Result<RunSummary>> results;
    for (auto& m : members) results.push_back(m.get());
    for (auto& r : results) EXPECT_EQ(r.status().code(), results[0].status().code()) << r.status().text();
    return results[0];
  }
  std::vector<float> numbers(const std::string& name) {
    const std::string bytes = test::need(read_file(folder_ + "/" + name + "/model/model.safetensors"));
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    std::vector<float> out((bytes.size() - 8 - header) / 4);
    std::memcpy(out.data(), bytes.data() + 8 + header, out.size() * 4);
    return out;
  }
};

}  // namespace radl::engine
