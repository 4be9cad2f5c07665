// A run of an infrastructure, and the results that its requesters wait for. Internal to Infrastructure.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/run/event_hub.h"
#include "runtime/serve/infrastructure.h"

namespace radl::serve {

// The result of a change, over all its jobs.
struct Infrastructure::Job {
  struct Progress : EventSink {
    explicit Progress(std::vector<std::string> wanted) : waiting(wanted.begin(), wanted.end()) {}
    void emit(const Event& event) override {
      const bool made = event.kind == EventKind::ActionFinished;
      if ((!made && event.kind != EventKind::ActionFailed) || event.verb != "create") return;
      std::lock_guard lock(mutex);
      if (waiting.erase(event.id) == 0) return;
      if (made)
        ++exist;
      else
        failures += (failures.empty() ? "" : "\n") + event.id + ": " + event.message;
      if (waiting.empty()) set_launched({});
    }
    void job_ended(const Status& status) {
      std::lock_guard lock(mutex);
      if (!status.ok() && worst.ok()) worst = status;
      if (--jobs > 0) return;
      set_launched(worst);
      over.set_value(worst);
    }

    std::mutex mutex;
    std::set<std::string> waiting;
    size_t exist = 0, jobs = 0;
    std::string failures;
    Status worst;
    bool told = false;
    std::promise<Status> launched, over;

   private:
    void set_launched(const Status& otherwise) {
      if (std::exchange(told, true)) return;
      const bool none = exist == 0 && !failures.empty();
      launched.set_value(none ? Status(Code::Invalid, failures) : exist == 0 ? otherwise : Status());
    }
  };

  enum class Kind { Apply, Destroy, Work } kind = Kind::Apply;
  Order order;
  std::optional<driver::ScaleRequest> scale;
  std::shared_ptr<Progress> progress;
  std::vector<int> leaving = {};                   // numbers of the machines that it removes
  std::function<Status(Cancellation&)> work = {};  // for Kind::Work
};

// The errors of a project that does not compile, without naming `folder`.
std::string findings_of(const driver::Project& project, const std::string& folder);

}  // namespace radl::serve
