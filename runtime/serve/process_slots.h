// The processes that requests wait for: so many at once of one user, and of all.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace radl::serve {

class ProcessSlots {
 public:
  static constexpr int kOfOne = 4, kOfAll = 8;

  // A place, until this object goes.
  class Slot {
   public:
    Slot(ProcessSlots& of, std::string user) : of_(&of), user_(std::move(user)) {}
    Slot(Slot&& other) noexcept : of_(std::exchange(other.of_, nullptr)), user_(std::move(other.user_)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (of_) of_->give_back(user_);
    }

   private:
    ProcessSlots* of_;
    std::string user_;
  };

  // Nothing: too many are in use.
  std::optional<Slot> take(const std::string& user) {
    std::lock_guard lock(mutex_);
    if (all_ >= kOfAll || taken_[user] >= kOfOne) return {};
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

  std::mutex mutex_;
  int all_ = 0;
  std::map<std::string, int> taken_;
};

}  // namespace radl::serve
