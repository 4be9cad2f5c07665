#include "engine/train/interruption.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "common/aws/instance_metadata.h"
#include "common/stop.h"

namespace radl::engine {
namespace {

using std::chrono::seconds;

constexpr seconds kBetweenLooks{5};  // of two minutes
constexpr seconds kNobodyThere{60};  // where no service answers: it may be started later

class Ec2Watch : public InterruptionWatch {
 public:
  explicit Ec2Watch(Progress& progress) : progress_(progress), thread_([this] { watch(); }) {}
  ~Ec2Watch() override {
    stop_.request();
    thread_.join();
  }
  const std::atomic<bool>& noticed() const override { return noticed_; }

 private:
  void watch() {
    auto configuration = aws::Configuration::load();
    if (!configuration.ok()) {
      progress_.emit("warning",
                     {{"message", "interruptions are not watched for: " + configuration.status().text()}});
      return;
    }
    http::Client http;
    aws::InstanceMetadata metadata(http, **configuration);
    const Stop stop = stop_.token();
    for (seconds wait{0}; stop.sleep(wait);) {
      auto notice = aws::spot_notice(metadata, stop);
      wait = notice.ok() ? kBetweenLooks : kNobodyThere;
      if (!notice.ok() || !*notice) continue;
      noticed_ = true;
      progress_.emit("interruption", {{"action", (*notice)->action}, {"time", (*notice)->time}});
      return;
    }
  }

  Progress& progress_;
  StopSource stop_;
  std::atomic<bool> noticed_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<InterruptionWatch> InterruptionWatch::start(const Job& job, Progress& progress) {
  if (job.interruption != "ec2") return nullptr;
  return std::make_unique<Ec2Watch>(progress);
}

}  // namespace radl::engine
