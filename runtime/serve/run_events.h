// The events of a run of the own API as server-sent events: from a number on, then as they happen, whichever
// process writes them.
//
// A run that was continued after the service's end has several logs; its events are numbered through all of
// them.
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
  // `from`: the number of the first event that is wanted.
  RunReader(std::shared_ptr<const Workspace> workspace, std::string run, unsigned long long from);
  ~RunReader();
  // The next event, with its number in `sequence`; nothing: there is none now. A line that is not an event is
  // passed over.
  std::optional<Event> next();
  // The run is over, and next() has given everything.
  bool over();

 private:
  bool open_next(const WorkspaceRun& run);

  const std::shared_ptr<const Workspace> workspace_;
  const std::string run_;
  const unsigned long long from_;
  unsigned long long before_ = 0, last_ = 0;  // events of the logs before; of this one
  size_t log_ = 0;                            // how many logs were opened
  std::unique_ptr<EventReader> reader_;
};

// Wakes the streams whose run has written something. It looks at each run, not at each stream.
class EventStreams {
 public:
  static constexpr size_t kMostOfUser = 1000, kMostOfAll = 2000;

  EventStreams();
  ~EventStreams();
  // `may`: whether the caller's token is still valid; asked now and then, once for all streams of the token,
  // which end when it says no. Quota: the user has too many streams, or all users together.
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
