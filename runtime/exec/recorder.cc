#include "runtime/exec/recorder.h"

#include <algorithm>

#include "common/guarded.h"

namespace radl {

namespace {

// Of how many lists one transaction is: they are held as a whole, and the first of them waits for the last.
constexpr size_t kTogether = 256;

}  // namespace

std::shared_ptr<Recorder::Slot> Recorder::add(Changes changes) {
  auto slot = std::make_shared<Slot>();
  slot->changes = std::move(changes);
  std::lock_guard guard(mutex_);
  // Planned before the slot is added: if memory runs out, nothing of a failed caller remains.
  if (!planned_) scheduler_.serve_last([this] { write(); });
  planned_ = true;
  waiting_.push_back(slot);
  ++count_;
  return slot;
}

// What throws before the commit ends the run, as nothing more could be recorded; from there on nothing does,
// and each gets its answer.
void Recorder::write() {
  std::vector<std::shared_ptr<Slot>> batch;
  std::vector<std::unique_ptr<Written>> outcomes;
  {
    std::lock_guard guard(mutex_);
    const size_t count = std::min(waiting_.size(), kTogether);
    for (size_t i = 0; i < count; ++i)
      outcomes.push_back(std::make_unique<Written>(Status(Code::Quota, "out of memory")));
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    batch.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
  }
  const Status failed = guarded([&]() -> Status {
    std::vector<std::vector<StateChange>> lists;
    lists.reserve(batch.size());
    for (const auto& slot : batch) lists.push_back(slot->changes());
    std::vector<Written> written = execution_.store().commit_each(lists);
    for (size_t i = 0; i < batch.size(); ++i) *outcomes[i] = std::move(written[i]);
    return {};
  });
  (void)guarded([&]() -> Status {
    for (size_t i = 0; i < outcomes.size() && !failed.ok(); ++i) *outcomes[i] = failed;
    return {};
  });
  std::lock_guard guard(mutex_);
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->written = std::move(outcomes[i]);
    if (batch[i]->ticket) scheduler_.resume(*batch[i]->ticket);
  }
  count_ -= batch.size();
  planned_ = !waiting_.empty();
  if (planned_) scheduler_.serve_last([this] { write(); });
}

bool Recorder::is_written(const Slot& slot) const {
  std::lock_guard guard(mutex_);
  return slot.written != nullptr;
}

Recorder::Written Recorder::take(Slot& slot) {
  std::lock_guard guard(mutex_);
  return std::move(*slot.written);
}

bool Recorder::wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket) {
  std::lock_guard guard(mutex_);
  if (slot->written) return false;
  slot->ticket = ticket;
  return true;
}

}  // namespace radl
