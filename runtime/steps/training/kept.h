// A training's continuous copies in buckets: checkpoints, from which it resumes on new nodes, and
// TensorBoard's events. Decision 15 explains why the data passes through this computer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/checkpoint_file.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/bucket_folder.h"

namespace radl::training {

using jobs::Member;
using jobs::NodeFile;

using Say = std::function<void(const std::string& line)>;

// A bucket folder that mirrors the chief's folder `checkpoint`. Objects are atomic, so every listed
// checkpoint is usable. Not thread-safe.
class KeptCheckpoints {
 public:
  // `scratch`: local folder for data in transfer. `keep`: number of newest checkpoints to keep.
  KeptCheckpoints(BucketFolder folder, std::string scratch, size_t keep, Say say);

  // Before the processes start: puts the newest complete checkpoint of the last run on the chief's node,
  // unless a newer one exists there.
  Status bring(Member& chief, const Stop& stop);
  // The next run does not resume from the existing checkpoints; its first checkpoints displace only older
  // ones.
  Status begin_anew(Member& chief, const Stop& stop);
  // Sends the chief's new checkpoints, newest first, and removes those older than the newest `keep`.
  Status send(Member& chief, const Stop& stop);

 private:
  struct Listed {
    std::map<CheckpointName, uint64_t> sizes;
    bool run_file = false;
  };
  Status look(const Stop& stop);
  Result<uint64_t> last_run(const Stop& stop);
  Status put_run(Member& chief, uint64_t run, const Stop& stop);
  Status send_newest(Member& chief, const Stop& stop);
  Status send_run(Member& chief, const Stop& stop);
  Result<bool> send_one(Member& chief, const CheckpointName& name, const Stop& stop);
  Status remove_old(const Stop& stop);

  BucketFolder folder_;
  std::string scratch_;
  size_t keep_;
  Say say_;
  std::optional<Listed> there_;
  std::string run_sent_;
};

// The chief's folder `events`, whose files only grow: files that have grown are sent again. Not thread-safe.
class KeptEvents {
 public:
  KeptEvents(BucketFolder folder, std::string scratch)
      : folder_(std::move(folder)), scratch_(std::move(scratch)) {}
  Status send(Member& chief, const Stop& stop);

 private:
  BucketFolder folder_;
  std::string scratch_;
  std::map<std::string, uint64_t> sent_;
};

}  // namespace radl::training
