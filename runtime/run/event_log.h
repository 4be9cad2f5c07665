// Stores runs' events beside the state, so that another process can follow a run or read it later: a file
// RUN.jsonl per run in a folder (Store::run_directory), one JSON event per line (exec/events.h), mode 0600.
// The process of a run holds a lock (flock) on its file, so readers know whether more will come. The newest
// kMostKeptRuns are kept, and are removed with the state.
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

// "20261122T181142.042Z-apply-1a2b3c": time, command, and a random part. Names sort by time.
std::string new_run_id(World& world, const std::string& command);

// For the run that holds the state's lock. Creates the file with the first event; a run without events leaves
// none. Failed writes are dropped, and the reason is kept.
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
  bool broken_line_ = false;  // after an incomplete write
  Status status_;
};

// A stored run, as read from its file.
struct KeptRun {
  enum class State {
    Going,        // its process is writing
    Done,         // ok
    Failed,       // or stopped: see `why`
    Interrupted,  // its process died without an end event
  };
  std::string id, path;
  std::string command;  // "apply"
  State state = State::Going;
  double begun = 0, heard = 0;               // wall-clock seconds of its first and last event
  unsigned long long last = 0;               // number of its last event
  std::string code, why;                     // for a failure: "cancelled", ...
  size_t done = 0, failed = 0, skipped = 0;  // actions, if the run has ended
};
// Updates `run` from one event; call in order.
void take_event(KeptRun& run, const Event& event);
std::string_view kept_state_name(KeptRun::State state);  // "going on", "done", "failed", "interrupted"

// The newest runs, oldest of them first; empty without a folder. Reads only the begin and end of each file.
Result<std::vector<KeptRun>> kept_runs(const std::string& folder, size_t newest = SIZE_MAX);
// The run with this ID, or whose ID ends with these letters; the newest if `id` is empty. NotFound and
// Invalid list the existing ones.
Result<KeptRun> find_run(const std::string& folder, const std::string& id);

// Reads a run's events in order from number `from`, live or later. Continues even if the file was removed
// with the state.
class EventReader {
 public:
  static Result<std::unique_ptr<EventReader>> open(const std::string& path, unsigned long long from = 1);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // The next written event; nullopt: none available now. Corrupt: a line is not an event; the next call skips
  // it.
  Result<std::optional<Event>> next();
  // True if the writing process has ended; next() may still return more.
  bool writer_ended();
  // True if also next() has returned everything.
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
