// The progress of a run, updated by its events and displayed by the CLI.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/events.h"
#include "runtime/plan/plan.h"

namespace radl {

struct ItemProgress {
  enum class State { Waiting, Running, Retrying, Done, Failed, Skipped };
  std::string id;
  Verb verb = Verb::Create;
  bool is_step = false;
  std::vector<std::string> nodes;
  State state = State::Waiting;
  std::string phase;   // "creating", "waiting for SSH", a step's task
  double started = 0;  // wall-clock seconds; 0: not started
  double seconds = 0;  // duration, when done
  int attempt = 1;
  std::string message;             // the last error or line
  std::optional<double> fraction;  // 0..1
};

// The latest value of each figure reported by a training (docs/progress-lines.md).
struct TrainingProgress {
  std::string id;
  std::string dataset_note;  // set by the runner, e.g. that the small dataset is used
  double epoch = 0, epochs = 0;
  double images_per_second = 0;   // sum over all workers
  double loss = 0, accuracy = 0;  // of the whole job, as reported by its chief
  std::optional<double> test_accuracy;
  std::optional<double> eta_seconds;
  std::map<std::string, double> rate_of_task;  // "worker/0" -> images/s
  std::vector<std::string> lost_peers;
  bool started = false;  // figures exist: the first steps are done
  bool finished = false;
};

// The latest figures of a program's member (docs/runs.md).
struct MemberProgress {
  double processors = 0, memory_bytes = 0, received = 0, sent = 0;  // as in jobs::Usage
  std::optional<double> gpu;
  int stopped = 0;
  std::string line;  // last line of its output
};

class Progress : public EventSink {
 public:
  explicit Progress(const Plan& plan);
  void emit(const Event& event) override;

  const std::vector<ItemProgress>& items() const { return items_; }
  const std::map<std::string, TrainingProgress>& trainings() const { return trainings_; }
  // Members of a step by node; empty before their first figures.
  const std::map<std::string, MemberProgress>& members(const std::string& id) const;
  size_t count(ItemProgress::State state) const;
  // Progress of the whole run, weighted by the plan's predictions.
  double fraction() const;

 private:
  ItemProgress* find(const std::string& id);
  void metric(const Event& event);
  void member(const Event& event);
  std::vector<ItemProgress> items_;
  std::vector<double> weights_;
  std::map<std::string, size_t> index_;
  std::map<std::string, TrainingProgress> trainings_;
  std::map<std::string, std::map<std::string, MemberProgress>> members_;
};

}  // namespace radl
