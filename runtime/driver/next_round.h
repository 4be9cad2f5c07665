// Decides from the events of an apply's round whether and when another round follows: for nodes that were
// preempted or lost during a job, or quarantined by a farm, for replacements that their cloud rejected, for
// elastic farms that request other nodes, and for nodes that `radlc scale` added to or removed from a running
// training.
//
// Until then the round continues, and jobs on other nodes are supervised. When the next round is due, the run
// leaves those jobs running (Run::let_go), and the next round rejoins them while it replaces the nodes.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/restart_policy.h"
#include "compiler/ir/ir.h"
#include "runtime/base/world.h"
#include "runtime/exec/events.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

// Node -> announced time of its preemption ("" if not given), or kFaulty; nullopt: lost without a
// notice.
using LostNodes = std::map<std::string, std::optional<std::string>>;

inline constexpr const char* kFaulty = "faulty";  // quarantined by a farm

class NextRound : public EventSink {
 public:
  explicit NextRound(Clock& clock);

  // Starts a round; plan and program must outlive it. `attention`: called on an event's thread when
  // suspects() or take_news() has new entries; must not block.
  void begin(const Plan& plan, const ir::Program& program, std::function<void()> attention);
  void emit(const Event& event) override;

  // Nodes that a job lost without a notice; the caller checks with the cloud whether they exist.
  std::set<std::string> suspects() const;
  void found_gone(const std::set<std::string>& nodes);  // subset of the suspects

  // Running trainings get the nodes that the state now has.
  void follow_scaling();
  // Running trainings do not get them, for this reason. The user is told once.
  void refuse_scaling(const std::string& why);

  // True if the next round should begin now. Thread-safe.
  bool is_due() const;
  // After the round: the wait before the next one. nullopt: none follows.
  std::optional<std::chrono::milliseconds> wait() const;
  LostNodes lost() const;  // the nodes that the next round replaces
  // By system: the ordinals of the nodes last requested by its elastic farm.
  std::map<std::string, std::vector<int>> asked() const;
  // New lines for the user, by node. Each is returned once.
  std::vector<std::pair<std::string, std::string>> take_news();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  void take_metric(const Event& event);
  void take_failure(const Action& action, const std::string& code);
  void schedule_replacement(const std::string& node);
  void schedule_retry(const std::string& node);
  bool restarts_elsewhere(const std::string& job) const;
  std::string others_on(const std::string& node, const std::string& farm) const;
  std::optional<TimePoint> due() const;
  void say(const std::string& node, std::string text);
  void give_up(const std::string& node, std::string text);

  Clock& clock_;
  mutable std::mutex mutex_;  // guards all members below
  RestartPolicy replacements_, refusals_;
  bool replacing_ = false;  // an earlier round lost nodes
  std::map<std::string, const Action*> actions_;
  const ir::Program* program_ = nullptr;
  std::function<void()> attention_;
  LostNodes lost_;
  std::string failed_;  // a job whose failure prevents another round
  std::set<std::string> suspects_;
  std::map<std::string, std::vector<int>> asked_;
  std::optional<TimePoint> replacement_due_, retry_due_;
  std::optional<TimePoint> change_due_;  // running jobs get other nodes: a scaling, or an elastic farm
  std::vector<std::pair<std::string, std::string>> news_;
  std::set<std::string> given_up_;  // nodes whose loss was reported in this round
};

}  // namespace radl::driver
