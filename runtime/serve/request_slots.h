// Limits how many requests occupy a worker while they wait: per user and in total. Read-only requests take no
// slot, so workers remain for them.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace radl::serve {

class RequestSlots {
 public:
  RequestSlots(int of_one, int of_all) : of_one_(of_one), of_all_(of_all) {}

  // Freed on destruction.
  class Slot {
   public:
    Slot(RequestSlots& of, std::string user) : of_(&of), user_(std::move(user)) {}
    Slot(Slot&& other) noexcept : of_(std::exchange(other.of_, nullptr)), user_(std::move(other.user_)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (of_) of_->give_back(user_);
    }

   private:
    RequestSlots* of_;
    std::string user_;
  };

  // nullopt: too many are in use.
  std::optional<Slot> take(const std::string& user) {
    std::lock_guard lock(mutex_);
    if (all_ >= of_all_ || of_user(user) >= of_one_) return {};
    ++all_;
    ++taken_[user];
    return std::optional<Slot>(std::in_place, *this, user);
  }

 private:
  void give_back(const std::string& user) {
    std::lock_guard lock(mutex_);
    --all_;
    if (--taken_[user] == 0) taken_.erase(user);
  }

  int of_user(const std::string& user) const {
    const auto found = taken_.find(user);
    return found == taken_.end() ? 0 : found->second;
  }

  const int of_one_, of_all_;
  std::mutex mutex_;
  int all_ = 0;
  std::map<std::string, int> taken_;
};

}  // namespace radl::serve
