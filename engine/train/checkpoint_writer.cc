#include "engine/train/checkpoint_writer.h"

#include <nlohmann/json.hpp>

#include "common/clock.h"

namespace radl::engine {

CheckpointWriter::~CheckpointWriter() {
  if (thread_.joinable()) thread_.join();
}

void CheckpointWriter::write(Checkpoint checkpoint, double stall) {
  stall_seconds_ += stall;
  writing_ = true;
  thread_ = std::thread([this, stall, checkpoint = std::move(checkpoint)] {
    auto begin = SteadyClock::now();
    Result<std::string> path = keeper_.write(checkpoint);
    saved_ = path.status();
    writing_seconds_ += seconds_since(begin);
    last_cost_ = stall + processor_seconds(CLOCK_THREAD_CPUTIME_ID);
    writing_ = false;
    if (path.ok())
      progress_.emit("checkpoint",
                     {{"step", checkpoint.done()}, {"path", *path}, {"seconds", seconds_since(begin)}});
  });
}

Status CheckpointWriter::settle() {
  if (thread_.joinable()) thread_.join();
  return saved_;
}

// Waiting for the disk in the background costs training nothing; the writer's computation does.
bool CheckpointWriter::affordable(double share, double since) const {
  return share <= 0 || (!writing_ && last_cost_ <= share * since);
}

}  // namespace radl::engine
