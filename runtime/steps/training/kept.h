// What a training leaves in buckets while it runs: checkpoints, from which it goes on where its nodes are
// new, and TensorBoard's events. Decision 15 says why the bytes go by way of this computer.
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

// A folder in a bucket that holds, under the same names, what the chief's folder `checkpoint` holds. An
// object is there whole or not at all, so whatever is listed can be gone on from. Not thread-safe.
class KeptCheckpoints {
 public:
  // `scratch`: a folder of this computer for files on their way. `keep`: so many of the newest stay.
  KeptCheckpoints(BucketFolder folder, std::string scratch, size_t keep, Say say);

  // Before the processes start. Puts the newest whole checkpoint of the last run on the chief's node, unless
  // a newer one is there.
  Status bring(Member& chief, const Stop& stop);
  // The next run does not go on from what is there; its first checkpoints make way for nothing but older
  // ones.
  Status begin_anew(Member& chief, const Stop& stop);
  // Sends what the chief has written since, newest first, and removes what is older than the newest `keep`.
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

// Files of the chief's folder `events`, which only grow: sent again when they have grown. Not thread-safe.
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
