// Objects shared by the calls of one run.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

namespace radl {

// One object per type, created at first use and destroyed with the run. Thread-safe.
class Shared {
 public:
  template <class T>
  T& of() {
    std::lock_guard lock(mutex_);
    std::shared_ptr<void>& one = all_[std::type_index(typeid(T))];
    if (!one) one = std::make_shared<T>();
    return *static_cast<T*>(one.get());
  }

 private:
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> all_;
};

}  // namespace radl
