// The events of runs, kept beside the state so that another process can follow a run or read it again: in a
// folder (Store::run_directory) a file each, RUN.jsonl, one line of JSON an event (exec/events.h), mode 0600.
// The process that makes a run holds a lock (flock) on its file: whoever reads it knows whether more will
// come. The newest kMostKeptRuns are kept, and go with the state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/world.h"
#include "runtime/exec/events.h"

namespace radl {

inline constexpr size_t kMostKeptRuns = 50;

// "20261122T181142.042Z-apply-1a2b3c": when, what, and which of several. Names sort by time.
std::string new_run_id(World& world, const std::string& command);

// Of the run that holds the state's lock. Makes the file with the first event; a run of which nothing happens
// leaves none. What cannot be written is left out, and the reason is kept.
class EventLog : public EventSink {
 public:
  EventLog(std::string folder, std::string run) : folder_(std::move(folder)), run_(std::move(run)) {}
  ~EventLog() override;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  void emit(const Event& event) override;
  const Status& status() const { return status_; }

 private:
  Status create();
  const std::string folder_, run_;
  int fd_ = -1;
  bool broken_line_ = false;  // a write that was cut short
  Status status_;
};

// What is known of a kept run from its file.
struct KeptRun {
  enum class State {
    Going,        // its process writes on
    Done,         // ok
    Failed,       // or stopped: `why`
    Interrupted,  // its process ended without a word
  };
  std::string id, path;
  std::string command;  // "apply"
  State state = State::Going;
  double begun = 0, heard = 0;               // wall seconds, of its first and its last event
  unsigned long long last = 0;               // number of its last event
  std::string code, why;                     // of a failure: "cancelled", ...
  size_t done = 0, failed = 0, skipped = 0;  // actions; of a run that is over
};
// What one event, taken in order, says of its run.
void take_event(KeptRun& run, const Event& event);
std::string_view kept_state_name(KeptRun::State state);  // "going on", "done", "failed", "interrupted"

// The newest so many, the oldest of them first; no folder: none. Reads the begin and the end of each file.
Result<std::vector<KeptRun>> kept_runs(const std::string& folder, size_t newest = SIZE_MAX);
// The run with this id, or whose id ends with these letters; the newest of all where `id` is empty. NotFound
// and Invalid say what there is.
Result<KeptRun> find_run(const std::string& folder, const std::string& id);

// Reads a run's events in their order, from number `from` on, while it goes on or afterwards. Goes on also
// where the file was removed meanwhile, with the state.
class EventReader {
 public:
  static Result<std::unique_ptr<EventReader>> open(const std::string& path, unsigned long long from = 1);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // The next one that has been written; nothing: there is none now. Corrupt: a line that is no event, which
  // is passed over by the next call.
  Result<std::optional<Event>> next();
  // Whether the process that writes has ended; next() may have more to give all the same.
  bool writer_ended();
  // That, and next() has given everything.
  bool over();

 private:
  EventReader(int fd, unsigned long long from) : fd_(fd), from_(from) {}
  bool fill();  // true: there were more bytes
  int fd_;
  unsigned long long from_;
  bool writer_ended_ = false;
  std::string bytes_;
  size_t at_ = 0;
};

}  // namespace radl
