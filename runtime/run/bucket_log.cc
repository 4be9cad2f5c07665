#include "runtime/run/bucket_log.h"

#include <utility>
#include <vector>

#include "runtime/run/event_log.h"

namespace radl {
namespace {

constexpr std::chrono::seconds kGather{1}, kAgain{3}, kAgainAtEnd{1};
constexpr size_t kMostUnwrittenBytes = size_t{64} << 20, kPieceBytes = size_t{256} << 10;  // bytes

}  // namespace

void BucketLog::emit(const Event& event) {
  std::string line = to_json(event).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::lock_guard guard(mutex_);
  if (ending_) return;
  if (next_.size() > kMostUnwrittenBytes) {
    status_ = Status(Code::Quota, "the bucket takes events slower than they come: some are left out");
    return;
  }
  if (next_.empty()) next_first_ = event.sequence;
  next_ += line;
  last_ = event.sequence;
  news_.notify_all();
  if (std::exchange(begun_, true)) return;
  status_ = threads_.start([this] { work(); });
}

// The newest are kept, as in a folder.
void BucketLog::remove_oldest() {
  const Stop stop = over_.token();
  auto runs = objects_->list(stop);
  if (!runs.ok() || runs->size() <= kMostKeptRuns) return;
  size_t surplus = runs->size() - kMostKeptRuns;
  for (auto run = runs->begin(); surplus > 0; ++run, --surplus) {  // names sort by time
    auto alive = run->second.end ? Result<bool>(false) : objects_->is_alive(run->first, stop);
    if (alive.ok() && !*alive) (void)objects_->remove(run->first, stop);
  }
}

// The object of the newest events is written anew with each few, until it is large: so there are not many.
void BucketLog::work() {
  (void)guarded([&]() -> Status { return remove_oldest(), Status(); });
  std::string piece;
  unsigned long long first = 0;
  std::chrono::steady_clock::time_point alive{};
  bool written = true;
  std::unique_lock lock(mutex_);
  while (!ending_ || !next_.empty() || !written) {
    if (!ending_ && written)
      news_.wait_for(lock, RunObjects::kAliveEvery / 2, [&] { return ending_ || !next_.empty(); });
    if (!ending_) news_.wait_for(lock, written ? kGather : kAgain, [&] { return ending_; });
    if (written && piece.size() >= kPieceBytes) piece.clear();
    if (piece.empty()) first = next_first_;
    written &= next_.empty();
    piece += std::exchange(next_, {});
    const bool ends = ending_;
    const Stop stop = ends ? until_ : over_.token();
    lock.unlock();
    const auto now = std::chrono::steady_clock::now();
    if (!ends && now - alive >= RunObjects::kAliveEvery &&
        guarded([&] { return objects_->note_alive(run_, stop); }).ok())
      alive = now;
    Status status;
    if (!written) status = guarded([&] { return objects_->write(run_, first, piece, stop); });
    lock.lock();
    status_ = std::move(status);
    written = status_.ok();
    if (written || !ends) continue;
    lock.unlock();
    const bool goes_on = stop.sleep(kAgainAtEnd);
    lock.lock();
    if (!goes_on) break;
  }
  lock.unlock();
  (void)guarded([&] { return objects_->note_end(run_, last_, until_); });
}

Status BucketLog::end(const Stop& stop) {
  {
    std::lock_guard guard(mutex_);
    if (std::exchange(ending_, true)) return status_;
    until_ = stop;
  }
  over_.request();
  news_.notify_all();
  threads_.join();
  return status_;
}

}  // namespace radl
