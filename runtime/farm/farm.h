// A farm: its table, the free resources of its nodes, and the decision what starts next.
//
// Pure: no clock, threads or files. The caller records each event (journal.h) after apply() accepts it and
// before it acts on it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/farm/packing.h"
#include "runtime/farm/table.h"

namespace radl::farm {

struct Policy {
  Rule rule = Rule::LeastRent;
  Rules rules;
  double reserve_after = 600;  // seconds for which others may overtake the oldest waiting task
};

class Farm {
 public:
  explicit Farm(Policy policy = {}) : policy_(policy), table_(policy.rules) {}

  // Like Table::apply(). A rejected event changes nothing.
  Status apply(const Event& event);
  // Returns the next events: a quarantine, or tasks to start. Does not apply them. After they are applied,
  // more may follow.
  std::vector<Event> next(double now) { return next(now, nullptr); }
  // The same on nodes that other farms use as well. `taken`: what they use of a node now. `may_start`:
  // whether this farm may start a task with such needs there; called once for each start.
  struct Others {
    std::function<Resources(const std::string& node)> taken;
    std::function<bool(const Resources& needs, const std::string& node)> may_start;
  };
  std::vector<Event> next(double now, const Others* others);

  const Policy& policy() const { return policy_; }
  const Table& table() const { return table_; }
  const std::vector<Host>& hosts() const { return hosts_; }
  // True if the end or the output of this attempt is awaited. A repeated end counts too, because the output
  // may not have been fetched yet.
  bool awaits(const std::string& task, int attempt) const;
  // True if no open node is large enough.
  bool fits_nowhere(const Resources& needs) const;
  // Tasks whose newest attempt runs on the node or is not committed yet.
  std::vector<std::string> running_on(const std::string& node) const;
  // Expected length of a task: the given length, corrected by finished tasks; else the mean of finished
  // tasks; else 0.
  double predicted(const Task& task) const;
  // The needs of waiting tasks, each kind once.
  std::vector<Resources> waiting_kinds() const;
  // Explains why a task waits, and what would change that.
  std::string why_waiting(const TaskRecord& task) const;
  std::string why_waiting(const Resources& needs) const;
  // Saves or loads everything but the policy (snapshot.cc).
  template <class Archive>
  void archive(Archive& each);

 private:
  Host* host(const std::string& name);
  void take_room(const TaskRecord& task);
  void free_room(const TaskRecord& task);
  void learn(const TaskRecord& task);
  void set_waiting(size_t place, bool waits, double at);
  // The oldest waiting task; nullopt if none waits.
  std::optional<size_t> oldest_waiting() const;
  void set_hosts_open(const std::string& node);
  double end_of(const TaskRecord& task) const;
  // Returns the lowest-numbered GPUs of a node that no running or starting task has.
  std::vector<int> free_devices(const Host& host, int64_t count, const std::vector<Event>& starts) const;
  // Returns the node reserved for the oldest waiting task; "" if it has not waited long enough.
  std::string reserved_host(double now) const;

  Policy policy_;
  Table table_;
  std::vector<Host> hosts_;
  // Places in table_.tasks() of waiting tasks, oldest first, by needs.
  std::map<Resources, std::set<size_t>> alike_;
  std::vector<double> since_;  // by place, of waiting tasks: time at which each was added or returned
  std::map<std::string, std::set<std::string>> running_;  // node -> tasks that use its resources
  std::map<std::string, std::set<size_t>> on_;            // node -> places of running_on()
  double finished_ = 0, seconds_ = 0;                     // number of finished tasks, sum of their lengths
  double predicted_ = 0, actual_ = 0;                     // of tasks whose length was given
};

}  // namespace radl::farm
