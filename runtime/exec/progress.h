// How a run stands, kept up to date from its events: the CLI draws it.
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
  double started = 0;  // wall seconds; 0: not yet
  double seconds = 0;  // it took, when done
  int attempt = 1;
  std::string message;             // the last error or line
  std::optional<double> fraction;  // 0..1
};

// The last of each figure that a training reported (docs/job.md).
struct TrainingProgress {
  std::string id;
  std::string dataset_note;  // said by the runner, e.g. that the small dataset is used
  double epoch = 0, epochs = 0;
  double images_per_second = 0;   // of all workers together
  double loss = 0, accuracy = 0;  // of the whole job, as its chief reports
  std::optional<double> test_accuracy;
  std::optional<double> eta_seconds;
  std::map<std::string, double> rate_of_task;  // "worker/0" -> images/s
  std::vector<std::string> lost_peers;
  bool started = false;  // there are figures: the first steps are done
  bool finished = false;
};

// The last that is known of a program's member (docs/runs.md).
struct MemberProgress {
  double processors = 0, memory_bytes = 0, received = 0, sent = 0;  // as jobs::Usage
  std::optional<double> gpu;
  int stopped = 0;
  std::string line;  // of its output
};

class Progress : public EventSink {
 public:
  explicit Progress(const Plan& plan);
  void emit(const Event& event) override;

  const std::vector<ItemProgress>& items() const { return items_; }
  const std::map<std::string, TrainingProgress>& trainings() const { return trainings_; }
  // Of a step's members by node; empty before their first figures.
  const std::map<std::string, MemberProgress>& members(const std::string& id) const;
  size_t count(ItemProgress::State state) const;
  // Of the whole run, from the plan's predictions and what is done.
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
