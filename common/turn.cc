#include "common/turn.h"

#include <map>
#include <memory>

namespace radl {
namespace {

struct Turns {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<std::timed_mutex>> of;  // only what somebody has or waits for
};

Turns& turns() {
  static Turns all;
  return all;
}

}  // namespace

Result<KeyTurn> KeyTurn::take(const std::string& key, const Stop& stop) {
  KeyTurn turn(key);
  {
    std::lock_guard lock(turns().mutex);
    std::weak_ptr<std::timed_mutex>& known = turns().of[key];
    turn.mutex_ = known.lock();
    if (!turn.mutex_) known = turn.mutex_ = std::make_shared<std::timed_mutex>();
  }
  auto held = take_turn(*turn.mutex_, stop);
  if (!held.ok()) return held.status();
  turn.held_ = std::move(*held);
  return turn;
}

KeyTurn::~KeyTurn() {
  if (!mutex_) return;  // moved from
  if (held_.owns_lock()) held_.unlock();
  std::lock_guard lock(turns().mutex);
  mutex_.reset();
  auto known = turns().of.find(key_);
  if (known != turns().of.end() && known->second.expired()) turns().of.erase(known);
}

}  // namespace radl
