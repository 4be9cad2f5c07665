// Sends the events of a run of the own API as server-sent events: from a given number on, and then as they
// occur, whichever process writes them.
//
// A run that the next service continued has several logs; its events are numbered through all of them.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/http_server/events.h"
#include "runtime/run/event_log.h"
#include "runtime/serve/caller.h"
#include "runtime/serve/workspace.h"

namespace radl::serve {

// Reads the events of one run in their order.
class RunReader {
 public:
  // `from`: number of the first event to return.
  RunReader(std::shared_ptr<const Workspace> workspace, std::string run, unsigned long long from);
  ~RunReader();
  // Returns the next event, with its number in `sequence`; nullopt if there is none now. Skips lines that are
  // not events.
  std::optional<Event> next();
  // True if the run has ended and next() has returned everything.
  bool over();

 private:
  bool open_next(const WorkspaceRun& run);

  const std::shared_ptr<const Workspace> workspace_;
  const std::string run_;
  const unsigned long long from_;
  unsigned long long before_ = 0, last_ = 0;  // events in earlier logs; in this one
  size_t log_ = 0;                            // number of opened logs
  std::unique_ptr<EventReader> reader_;
};

// Wakes the streams of runs with new events. Checks each run, not each stream.
class EventStreams {
 public:
  static constexpr size_t kMostOfUser = 1000, kMostOfAll = 2000;

  EventStreams();
  ~EventStreams();
  // `may`: returns whether the caller's token is still valid. It is called periodically, once for all streams
  // of a token, which end if it returns false. Quota: the user, or all users together, have too many streams.
  Result<std::unique_ptr<httpd::StreamSource>> open(std::shared_ptr<const Workspace> workspace,
                                                    const std::string& run, unsigned long long from,
                                                    const Caller& caller, std::function<bool()> may);

 private:
  struct Watched;
  class Source;
  void watch();
  static void wake(const std::vector<std::shared_ptr<Watched>>& all, bool ask);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::shared_ptr<Watched>> watched_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace radl::serve
