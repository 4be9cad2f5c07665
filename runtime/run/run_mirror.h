// Copies the events of other computers' runs on a state in a bucket to this computer's event folder, where
// all readers look (event_log.h): a file per run, locked while the run continues.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/guarded.h"
#include "common/stop.h"
#include "runtime/state/run_objects.h"

namespace radl {

class RunMirror {
 public:
  // Copies existing events and then new ones until it is destroyed. `directory`, `name`: of the state;
  // `folder`: Store::run_directory(). Null for a state in a folder, whose events are already there.
  static Result<std::unique_ptr<RunMirror>> start(const std::string& directory, const std::string& name,
                                                  std::string folder, const Environment& environment,
                                                  const Stop& stop = {});
  ~RunMirror();
  RunMirror(const RunMirror&) = delete;
  RunMirror& operator=(const RunMirror&) = delete;

 private:
  struct File {
    int fd = -1;                  // locked; -1: the run has ended, or another process writes the file
    unsigned long long last = 0;  // number of the last event in it
    size_t pieces = 0;            // pieces completely copied
    int quiet = 0;                // consecutive rounds without news
    bool over = false;
    bool settled = false;  // false: a write has failed, so the file may end in the middle of a line
  };
  RunMirror(std::unique_ptr<RunObjects> objects, std::string folder)
      : objects_(std::move(objects)), folder_(std::move(folder)) {}
  Status bring(const Stop& stop);
  Status bring(const std::string& run, const RunObjects::Listed& listed, const Stop& stop);
  bool open(const std::string& run, File& file);
  Status settle(const std::string& run, File& file);
  Status append(const std::string& run, File& file, const std::string& lines);
  std::string path_of(const std::string& run) const { return folder_ + "/" + run + ".jsonl"; }

  const std::unique_ptr<RunObjects> objects_;
  const std::string folder_;
  std::map<std::string, File> files_;  // by run
  StopSource over_;
  Threads threads_;
};

}  // namespace radl
