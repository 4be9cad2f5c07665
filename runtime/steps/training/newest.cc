#include "runtime/steps/training/newest.h"

#include <mutex>

#include "common/checkpoint_file.h"
#include "runtime/steps/jobs/for_all.h"

namespace radl::training {

std::optional<size_t> newest_checkpoint(const std::vector<std::unique_ptr<jobs::Member>>& members) {
  std::mutex mutex;
  std::optional<size_t> node;
  std::optional<CheckpointName> newest;
  (void)jobs::for_all(members.size(), [&](size_t i) -> Status {
    const auto files = members[i]->files("checkpoint/");
    if (!files) return {};
    std::lock_guard lock(mutex);
    for (const jobs::NodeFile& file : *files) {
      const std::optional<CheckpointName> name = parse_checkpoint_name(file.name);
      if (!name || (newest && *name <= *newest)) continue;
      newest = name;
      node = i;
    }
    return {};
  });
  return node;
}

}  // namespace radl::training
