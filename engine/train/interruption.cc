#include "engine/train/interruption.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/stop.h"
#include "engine/train/notice.h"

namespace radl::engine {
namespace {

using Seconds = std::chrono::duration<double>;

// Where no service answers: it may be started later (Azure's is by the first question, and takes its time).
constexpr Seconds kLongest{60};

class ServiceWatch : public InterruptionWatch {
 public:
  ServiceWatch(NoticeSpec spec, Progress& progress)
      : spec_(std::move(spec)), progress_(progress), thread_([this] { watch(); }) {}
  ~ServiceWatch() override {
    stop_.request();
    thread_.join();
  }
  const std::atomic<bool>& noticed() const override { return noticed_; }

 private:
  void watch() {
    http::Client http(environment_of_process());
    NoticeService service(http, spec_);
    const Stop stop = stop_.token();
    const Seconds usual{spec_.every_seconds};
    for (Seconds wait{0}, unanswered = usual;;) {
      if (!stop.sleep(std::chrono::duration_cast<std::chrono::milliseconds>(wait))) return;
      auto notice = service.ask(stop);
      wait = notice.ok() ? usual : unanswered;
      unanswered = notice.ok() ? usual : std::min(2 * unanswered, std::max(kLongest, usual));
      if (!notice.ok() || !*notice) continue;
      noticed_ = true;
      progress_.emit("interruption", {{"action", (*notice)->action}, {"time", (*notice)->time}});
      return;
    }
  }

  const NoticeSpec spec_;
  Progress& progress_;
  StopSource stop_;
  std::atomic<bool> noticed_{false};
  std::thread thread_;  // the last: it uses all others
};

}  // namespace

std::unique_ptr<InterruptionWatch> InterruptionWatch::start(const Job& job, Progress& progress) {
  if (!job.interruption.given()) return nullptr;
  return std::make_unique<ServiceWatch>(job.interruption, progress);
}

}  // namespace radl::engine
