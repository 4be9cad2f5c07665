// A farm: its table, the room on its nodes, and the decision what starts next.
//
// Pure: no clock, threads or files. Whoever runs a farm records each event (journal.h) after apply() has
// taken it, and before it takes effect in the world.
#pragma once

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

  // As Table::apply(); an event that is refused changes nothing.
  Status apply(const Event& event);
  // The next events: a quarantine, or tasks that start. They are not applied; once they are, more may follow.
  std::vector<Event> next(double now);

  const Table& table() const { return table_; }
  const std::vector<Host>& hosts() const { return hosts_; }
  // The task has an attempt whose end or output is awaited. An end that a node repeats counts too: the output
  // may not have been brought yet.
  bool awaits(const std::string& task, int attempt) const;
  // No node that takes tasks is large enough.
  bool fits_nowhere(const Resources& needs) const;
  // Tasks whose newest attempt runs on the node; also those that are not committed yet.
  std::vector<std::string> running_on(const std::string& node) const;
  // Expected length of a task: as given and corrected by what finished, the mean of what finished, or 0.
  double predicted(const Task& task) const;
  // Why a waiting task does not run, and what would change it.
  std::string why_waiting(const TaskRecord& task) const;
  std::string why_waiting(const Resources& needs) const;

 private:
  Host* host(const std::string& name);
  void take_room(const TaskRecord& task);
  void free_room(const TaskRecord& task);
  void learn(const TaskRecord& task);
  void set_waiting(size_t place, bool waits, double at);
  void set_hosts_open(const std::string& node);
  double end_of(const TaskRecord& task) const;
  // The lowest GPUs of a node that neither run nor are about to run a task.
  std::vector<int> free_devices(const Host& host, int64_t count, const std::vector<Event>& starts) const;
  // The node that is kept free for the oldest waiting task; "" if it has not waited long enough.
  std::string reserved_host(double now) const;

  Policy policy_;
  Table table_;
  std::vector<Host> hosts_;
  std::set<size_t> waiting_;                              // places in table_.tasks(), oldest first
  std::map<Resources, std::set<size_t>> alike_;           // the same, by what they need
  std::map<size_t, double> since_;                        // of those: when it was added or came back
  std::map<std::string, std::set<std::string>> running_;  // by node: tasks that hold room
  double finished_ = 0, seconds_ = 0;                     // tasks, and their lengths
  double predicted_ = 0, actual_ = 0;                     // of tasks whose length was given
};

}  // namespace radl::farm
