// All that a training has in buckets, for its runner: what it goes on from, what goes there while it runs,
// and its result. Where the file names no bucket it does nothing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "common/environment.h"
#include "common/guarded.h"
#include "runtime/steps/training/kept.h"
#include "runtime/steps/training/result.h"

namespace radl::training {

class Keeping {
 public:
  // `scratch`: a folder of this computer, of this training alone. `step`: its id. Nothing is asked of a
  // bucket yet.
  // `chief`: the member that has the chief now.
  static Result<std::unique_ptr<Keeping>> open(const Json& training, std::function<Member&()> chief,
                                               const std::string& job, const std::string& scratch,
                                               const std::string& step, const Environment& environment,
                                               Say say);
  ~Keeping();

  // Before the processes start: the buckets can be written; the chief has the checkpoint to go on from, or
  // begins anew.
  Status prepare(bool resume, const Stop& stop);
  // From now on checkpoints and events are sent as they come, by a thread of its own. What goes wrong is
  // said, and tried again.
  Status start();
  // There is something new on the chief's node.
  void news();
  // Lets the thread end what it sends, and sends what is left, which must succeed.
  Status finish(const Stop& stop);
  // Brings model, events and report to where the file says; the step's output.
  Result<Json> result(const RunFacts& facts, const Stop& stop);

 private:
  Keeping(const Json& training, std::function<Member&()> chief, std::string scratch, ResultOwner owner,
          const Environment& environment, Say say)
      : training_(training),
        chief_(std::move(chief)),
        scratch_(std::move(scratch)),
        owner_(std::move(owner)),
        say_(std::move(say)),
        http_(environment) {}
  bool any() const { return checkpoints_ || events_; }
  Status send(const Stop& stop);
  void send_as_it_comes();
  void end_thread();

  const Json& training_;
  const std::function<Member&()> chief_;
  std::string scratch_;
  ResultOwner owner_;
  Say say_;
  http::Client http_;
  std::optional<BucketFolder> result_, kept_;
  std::unique_ptr<KeptCheckpoints> checkpoints_;
  std::unique_ptr<KeptEvents> events_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool news_ = false, over_ = false, idle_ = true;
  StopSource stop_;
  std::unique_ptr<Threads> thread_;
};

}  // namespace radl::training
