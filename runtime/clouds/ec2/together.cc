#include "runtime/clouds/ec2/together.h"

#include <algorithm>

#include "common/guarded.h"

namespace radl::ec2 {

Asked Together::ask(const std::string& id, size_t most, const Send& send) {
  std::shared_ptr<Batch> mine;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !next_ || next_->ids.size() < most; });
    if (!next_) next_ = std::make_shared<Batch>();
    mine = next_;
    mine->ids.push_back(id);
    if (under_way_) changed_.notify_all();  // maybe it waits for company
    changed_.wait(lock, [&] { return mine->over || (next_ == mine && !under_way_); });
    if (!mine->over) {
      under_way_ = true;
      const size_t company = std::min(last_, most);
      changed_.wait_for(lock, moment_, [&] { return mine->ids.size() >= company; });
      last_ = mine->ids.size();
      next_.reset();
      lock.unlock();
      Asked answer;
      Status sent = guarded([&]() -> Status { return answer = send(mine->ids), Status(); });
      if (!sent.ok()) answer = Asked::unknown(std::move(sent));
      lock.lock();
      mine->answer = std::move(answer);
      mine->over = true;
      under_way_ = false;
      changed_.notify_all();
    }
  }
  const Asked& answer = mine->answer;
  const bool of_one = mine->ids.size() > 1 && answer.answer == Asked::Answer::Refused;
  return of_one && answer.status.code() != Code::Retry ? send({id}) : answer;
}

size_t Together::waiting() {
  std::lock_guard lock(mutex_);
  return next_ ? next_->ids.size() : 0;
}

}  // namespace radl::ec2
