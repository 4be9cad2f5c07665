#include "runtime/clouds/ec2/memory.h"

namespace radl::ec2 {

template <class T>
Result<T> Memory::known_or(std::map<std::string, T>& known, const char* kind, const std::string& key,
                           const std::function<Result<T>()>& ask) {
  auto find = [&]() -> std::optional<T> {
    std::lock_guard guard(mutex_);
    auto found = known.find(key);
    return found == known.end() ? std::nullopt : std::optional<T>(found->second);
  };
  if (auto found = find()) return std::move(*found);
  std::shared_ptr<std::mutex> one;
  {
    std::lock_guard guard(mutex_);
    std::shared_ptr<std::mutex>& asking = asking_[std::string(kind) + " " + key];
    if (!asking) asking = std::make_shared<std::mutex>();
    one = asking;
  }
  std::lock_guard asking(*one);
  if (auto found = find()) return std::move(*found);
  Result<T> asked = ask();
  if (!asked.ok()) return asked;
  std::lock_guard guard(mutex_);
  return known.emplace(key, std::move(*asked)).first->second;
}

Result<Image> Memory::image(const std::string& key, const std::function<Result<Image>()>& ask) {
  return known_or(images_, "image", key, ask);
}
Result<Vpc> Memory::vpc(const std::string& key, const std::function<Result<Vpc>()>& ask) {
  return known_or(vpcs_, "vpc", key, ask);
}
Result<std::string> Memory::caller(const std::function<Result<std::string>()>& ask) {
  return known_or(caller_, "caller", "", ask);
}

void Memory::note_token(const std::string& token, const std::string& type) {
  std::lock_guard guard(mutex_);
  tokens_[token] = type;
}

std::optional<std::string> Memory::type_of_token(const std::string& token) const {
  std::lock_guard guard(mutex_);
  auto found = tokens_.find(token);
  if (found == tokens_.end()) return std::nullopt;
  return found->second;
}

void Memory::note_leaving(const std::string& id) {
  std::lock_guard guard(mutex_);
  leaving_.insert(id);
}

bool Memory::is_leaving(const std::string& id) const {
  std::lock_guard guard(mutex_);
  return leaving_.count(id) > 0;
}

void Memory::note_missing(const std::string& type) {
  std::lock_guard guard(mutex_);
  missing_.insert(type);
}

bool Memory::is_missing(const std::string& type) const {
  std::lock_guard guard(mutex_);
  return missing_.count(type) != 0;
}

void Memory::note_name(const std::string& id, const std::string& address) {
  std::lock_guard guard(mutex_);
  if (!id.empty() && !address.empty()) names_[id] = address;
}

std::optional<std::string> Memory::name_of(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = names_.find(id);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

}  // namespace radl::ec2
