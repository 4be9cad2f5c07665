#include "runtime/clouds/memory.h"

#include <algorithm>

namespace radl {

void CloudMemory::note_token(const std::string& token, const std::string& type) {
  std::lock_guard guard(mutex_);
  tokens_[token] = type;
}

std::optional<std::string> CloudMemory::type_of_token(const std::string& token) const {
  std::lock_guard guard(mutex_);
  auto found = tokens_.find(token);
  if (found == tokens_.end()) return std::nullopt;
  return found->second;
}

void CloudMemory::note_id(const std::string& id, const std::string& type) {
  std::lock_guard guard(mutex_);
  types_[id] = type;
}

std::optional<std::string> CloudMemory::type_of_id(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = types_.find(id);
  if (found == types_.end()) return std::nullopt;
  return found->second;
}

void CloudMemory::note_leaving(const std::string& id) {
  std::lock_guard guard(mutex_);
  leaving_.insert(id);
}

bool CloudMemory::is_leaving(const std::string& id) const {
  std::lock_guard guard(mutex_);
  return leaving_.count(id) > 0;
}

void CloudMemory::note_missing(const std::string& type) {
  std::lock_guard guard(mutex_);
  missing_.insert(type);
}

bool CloudMemory::is_missing(const std::string& type) const {
  std::lock_guard guard(mutex_);
  return missing_.count(type) != 0;
}

void CloudMemory::note_name(const std::string& id, const std::string& address) {
  std::lock_guard guard(mutex_);
  if (!id.empty() && !address.empty()) names_[id] = address;
}

void CloudMemory::note_references(const std::map<std::string, Reference>& references,
                                  const char* address_type) {
  for (const auto& [address, reference] : references) {
    note_name(reference.id, address);
    if (reference.type == address_type) note_name(reference.attributes.value("public_ip", ""), address);
  }
}

std::optional<std::string> CloudMemory::name_of(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = names_.find(id);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

void CloudMemory::note_names(const std::map<std::string, std::string>& names) {
  for (const auto& [id, address] : names) note_name(id, address);
}

Json CloudMemory::group_names(const std::vector<std::string>& ids) const {
  std::lock_guard guard(mutex_);
  const bool known = std::any_of(names_.begin(), names_.end(), [](const auto& entry) {
    return entry.second.starts_with("access.") || entry.second.starts_with("network.");
  });
  if (!known && !ids.empty()) return nullptr;
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    auto found = names_.find(id);
    names.push_back(found == names_.end() ? id : found->second);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace radl
