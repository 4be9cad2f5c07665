// Decides, from the events of a round of an apply, whether and when another round follows: for nodes that
// were preempted or lost while a job ran there, or that a farm has quarantined, for replacements that their
// cloud refused, for elastic farms that ask for other nodes, and for nodes that `radlc scale` has added to a
// training that runs or removed from it.
//
// Until then the round goes on, and jobs on other nodes are supervised. When the next round is due, the run
// leaves them running (Run::let_go), and the next round joins them while it replaces the nodes.
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

// Node -> when its cloud preempts it, as it says that ("": it does not), or kFaulty; nothing: it is gone
// without a notice.
using LostNodes = std::map<std::string, std::optional<std::string>>;

inline constexpr const char* kFaulty = "faulty";  // a farm has quarantined it

class NextRound : public EventSink {
 public:
  explicit NextRound(Clock& clock);

  // A round begins; plan and program outlive it. `attention`: called in the thread of an event once there is
  // something for suspects() or take_news(); it must not wait.
  void begin(const Plan& plan, const ir::Program& program, std::function<void()> attention);
  void emit(const Event& event) override;

  // Nodes that a job has lost without a notice of their cloud: the caller asks the cloud whether they exist.
  std::set<std::string> suspects() const;
  void found_gone(const std::set<std::string>& nodes);  // of the suspects

  // Trainings that run get the nodes that the state has now.
  void follow_scaling();
  // They do not, for this reason; the user is told once.
  void refuse_scaling(const std::string& why);

  // Asked from any thread: whether the next round shall begin now.
  bool is_due() const;
  // After the round: how long to wait for the next one. Nothing: none follows.
  std::optional<std::chrono::milliseconds> wait() const;
  LostNodes lost() const;  // which the next round replaces
  // By system: the ordinals of the nodes that its elastic farm asked for last.
  std::map<std::string, std::vector<int>> asked() const;
  // Lines for the user that nobody has taken yet, by node.
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
  mutable std::mutex mutex_;  // of all below
  RestartPolicy replacements_, refusals_;
  bool replacing_ = false;  // an earlier round has lost nodes
  std::map<std::string, const Action*> actions_;
  const ir::Program* program_ = nullptr;
  std::function<void()> attention_;
  LostNodes lost_;
  std::string failed_;  // a job that no other round is for
  std::set<std::string> suspects_;
  std::map<std::string, std::vector<int>> asked_;
  std::optional<TimePoint> replacement_due_, retry_due_;
  std::optional<TimePoint> change_due_;  // running jobs get other nodes: a scaling, or an elastic farm
  std::vector<std::pair<std::string, std::string>> news_;
  std::set<std::string> given_up_;  // nodes of which the user was told so in this round
};

}  // namespace radl::driver
