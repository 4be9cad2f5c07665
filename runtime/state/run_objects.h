// The events of runs beside a state in a bucket, so that another computer can follow a run:
//
//   NAME/runs/RUN/00000000000000000001.jsonl   lines, from the event of this number on; the last one grows
//   NAME/runs/RUN/alive                        rewritten periodically while the run is active
//   NAME/runs/RUN/end-00000000000000000042     the run has ended with the event of this number
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/state/bucket.h"
#include "runtime/state/place.h"

namespace radl {

class RunObjects {
 public:
  struct Listed {
    std::vector<unsigned long long> pieces;  // number of the first event of each, in order
    std::optional<unsigned long long> end;   // number of the last event, if the run has ended
  };
  static constexpr std::chrono::seconds kAliveEvery{20};

  // `directory`: in a bucket (is_bucket_place). Sends nothing.
  static Result<std::unique_ptr<RunObjects>> open(const std::string& directory, const std::string& name,
                                                  const Environment& environment);

  Result<std::map<std::string, Listed>> list(const Stop& stop);
  Result<std::string> read(const std::string& run, unsigned long long first, const Stop& stop);
  // For a run that has not ended: true if its process gave a recent sign of life, by the server's clock.
  Result<bool> is_alive(const std::string& run, const Stop& stop);

  // Makes one attempt; replaces the piece with this number.
  Status write(const std::string& run, unsigned long long first, const std::string& lines, const Stop& stop);
  Status note_alive(const std::string& run, const Stop& stop);
  Status note_end(const std::string& run, unsigned long long last, const Stop& stop);
  Status remove(const std::string& run, const Stop& stop);

 private:
  RunObjects(std::unique_ptr<Bucket> bucket, std::string prefix)
      : bucket_(std::move(bucket)), prefix_(std::move(prefix)) {}

  const std::unique_ptr<Bucket> bucket_;
  const std::string prefix_;  // of all keys; ends with '/'
};

}  // namespace radl
