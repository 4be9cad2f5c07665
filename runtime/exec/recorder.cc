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
  waiting_.push_back(slot);
  ++count_;
  if (!planned_) scheduler_.serve_last([this] { write(); });
  planned_ = true;
  return slot;
}

void Recorder::write() {
  std::vector<std::shared_ptr<Slot>> batch;
  {
    std::lock_guard guard(mutex_);
    const size_t count = std::min(waiting_.size(), kTogether);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    batch.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
  }
  std::vector<Written> written;
  Status done = guarded([&]() -> Status {
    std::vector<std::vector<StateChange>> lists;
    lists.reserve(batch.size());
    for (const auto& slot : batch) lists.push_back(slot->changes());
    written = session_.store().commit_each(lists);
    return {};
  });
  std::lock_guard guard(mutex_);
  for (size_t i = 0; i < batch.size(); ++i) {
    Slot& slot = *batch[i];
    slot.written = std::make_unique<Written>(done.ok() ? std::move(written[i]) : Written(done));
    if (slot.ticket) scheduler_.resume(*slot.ticket);
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
