#include "runtime/exec/prober.h"

namespace radl {

namespace {

// A probe takes up to a second by itself where machines are silent.
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

std::shared_ptr<Prober::Slot> Prober::add(std::string address, Scheduler::TimePoint end) {
  auto slot = std::make_shared<Slot>();
  slot->address = std::move(address);
  slot->end = end;
  std::lock_guard guard(mutex_);
  slots_.push_back(slot);
  plan_probe(std::chrono::milliseconds(0));
  return slot;
}

void Prober::plan_probe(std::chrono::milliseconds wait) {
  if (planned_) return;
  planned_ = true;
  scheduler_.serve_at(execution_.in(wait), [this] { probe(); });
}

void Prober::probe() {
  std::vector<std::shared_ptr<Slot>> asked;
  {
    std::lock_guard guard(mutex_);
    asked = slots_;
  }
  std::vector<Json> attributes;
  execution_.read([&](const Snapshot& known) {
    for (const auto& slot : asked) {
      auto record = known.resources.find(slot->address);
      attributes.push_back(record == known.resources.end() ? Json::object() : record->second.attributes);
    }
  });
  std::vector<bool> answers =
      asked.empty() ? std::vector<bool>() : execution_.run.answering(attributes, execution_.now());
  std::lock_guard guard(mutex_);
  planned_ = false;
  const auto now = execution_.world().clock.now();
  for (size_t i = 0; i < asked.size(); ++i) {
    Slot& slot = *asked[i];
    if (!answers[i] && now < slot.end) continue;
    slot.answers = answers[i];
    if (slot.ticket) scheduler_.resume(*slot.ticket);
  }
  std::erase_if(slots_, [](const auto& slot) { return slot->answers.has_value(); });
  if (!slots_.empty()) plan_probe(kPause);
}

std::optional<bool> Prober::take(const std::shared_ptr<Slot>& slot) {
  std::lock_guard guard(mutex_);
  return slot->answers;
}

bool Prober::wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket) {
  std::lock_guard guard(mutex_);
  if (slot->answers) return false;
  slot->ticket = ticket;
  return true;
}

void Prober::drop(const std::shared_ptr<Slot>& slot) {
  std::lock_guard guard(mutex_);
  std::erase(slots_, slot);
}

}  // namespace radl
