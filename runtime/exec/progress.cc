#include "runtime/exec/progress.h"

#include <algorithm>

namespace radl {

namespace {

double number(const nlohmann::json& data, const char* key, double otherwise) {
  if (!data.is_object()) return otherwise;
  auto found = data.find(key);
  return found != data.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text(const nlohmann::json& data, const char* key) {
  if (!data.is_object()) return "";
  auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string phase_text(const std::string& phase) {
  if (phase == "waiting") return "waiting for SSH";
  return phase;
}

}  // namespace

Progress::Progress(const Plan& plan) {
  for (const Action& action : plan.actions) {
    ItemProgress item;
    item.id = action.id;
    item.verb = action.verb;
    item.is_step = action.is_step;
    item.nodes = action.nodes;
    index_[action.id] = items_.size();
    items_.push_back(std::move(item));
    // An unpredictable action counts as a minute.
    weights_.push_back(std::max(action.seconds.value_or(60), 0.1));
  }
}

ItemProgress* Progress::find(const std::string& id) {
  auto found = index_.find(id);
  return found == index_.end() ? nullptr : &items_[found->second];
}

size_t Progress::count(ItemProgress::State state) const {
  return static_cast<size_t>(std::count_if(items_.begin(), items_.end(),
                                           [&](const ItemProgress& item) { return item.state == state; }));
}

double Progress::fraction() const {
  double all = 0, done = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    all += weights_[i];
    using State = ItemProgress::State;
    State state = items_[i].state;
    if (state == State::Done || state == State::Failed || state == State::Skipped) done += weights_[i];
    if (state == State::Running) done += weights_[i] * items_[i].fraction.value_or(0);
  }
  return all > 0 ? done / all : 1;
}

void Progress::emit(const Event& event) {
  if (event.kind == EventKind::Metric)
    return text(event.data, "event") == "member" ? member(event) : metric(event);
  ItemProgress* item = find(event.id);
  if (!item) return;
  using State = ItemProgress::State;
  switch (event.kind) {
    case EventKind::ActionStarted:
      item->state = State::Running;
      item->started = event.time;
      item->message.clear();
      break;
    case EventKind::NodePhase:
      item->phase = phase_text(text(event.data, "phase"));
      break;
    case EventKind::Task:
      item->state = State::Running;
      item->phase = text(event.data, "name");
      break;
    case EventKind::Output:
      if (auto found = members_.find(event.id); found != members_.end())
        found->second[event.node].line = text(event.data, "line");
      [[fallthrough]];
    case EventKind::Log:
      item->message = event.message;
      break;
    case EventKind::ActionRetry:
      item->state = State::Retrying;
      item->attempt = static_cast<int>(number(event.data, "attempt", 1)) + 1;
      item->message = event.message;
      break;
    case EventKind::ActionFinished:
      item->state = State::Done;
      item->seconds = number(event.data, "seconds", 0);
      break;
    case EventKind::ActionFailed:
      item->state = State::Failed;
      item->seconds = number(event.data, "seconds", 0);
      item->message = event.message;
      break;
    case EventKind::ActionSkipped:
      item->state = State::Skipped;
      item->message = event.message;
      break;
    default:
      break;
  }
}

const std::map<std::string, MemberProgress>& Progress::members(const std::string& id) const {
  static const std::map<std::string, MemberProgress> kNone;
  auto found = members_.find(id);
  return found == members_.end() ? kNone : found->second;
}

void Progress::member(const Event& event) {
  MemberProgress& member = members_[event.id][event.node];
  member.processors = number(event.data, "processors", 0);
  member.memory_bytes = number(event.data, "memory_bytes", 0);
  member.received = number(event.data, "received", 0);
  member.sent = number(event.data, "sent", 0);
  member.stopped = static_cast<int>(number(event.data, "stopped", 0));
  member.gpu.reset();
  if (event.data.contains("gpu")) member.gpu = number(event.data, "gpu", 0);
}

void Progress::metric(const Event& event) {
  TrainingProgress& training = trainings_[event.id];
  training.id = event.id;
  const nlohmann::json& data = event.data;
  std::string kind = text(data, "event"), task = text(data, "task");
  if (kind == "step" && task.starts_with("worker/") && !data.contains("eta_seconds")) {
    // A worker reports its own batches; the chief reports the whole job (in a ring, the chief is a worker).
    training.rate_of_task[task] = number(data, "images_per_second", 0);
  } else if (kind == "step") {
    training.started = true;
    training.epoch = std::max(training.epoch, number(data, "epoch", 0));
    training.epochs = number(data, "epochs", training.epochs);
    training.loss = number(data, "loss", training.loss);
    training.accuracy = number(data, "accuracy", training.accuracy);
    if (data.contains("eta_seconds")) training.eta_seconds = number(data, "eta_seconds", 0);
    training.images_per_second = number(data, "images_per_second", 0);
    if (ItemProgress* item = find(event.id); item && training.epochs > 0) {
      item->fraction = std::min(1.0, training.epoch / training.epochs);
    }
  } else if (kind == "evaluated") {
    training.test_accuracy = number(data, "test_accuracy", 0);
  } else if (kind == "peer_lost") {
    std::string peer = text(data, "peer");
    training.lost_peers.push_back(peer);
    training.rate_of_task.erase(peer);
  } else if (kind == "peer_joined") {
    std::erase(training.lost_peers, text(data, "peer"));
  } else if (kind == "finished") {
    if (data.contains("test_accuracy")) {
      training.test_accuracy = number(data, "test_accuracy", 0);
      training.finished = true;
    }
  } else if (kind == "dataset") {
    training.dataset_note = text(data, "note");
  }
}

}  // namespace radl
