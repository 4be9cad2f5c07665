// Cached answers of a cloud, and the file addresses of IDs. Everything can be fetched again from the cloud.
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/status.h"
#include "runtime/clouds/cloud.h"

namespace radl {

// Values by key, each fetched once; failures are not cached. Concurrent requests for the same key share one
// fetch.
template <class T>
class Known {
 public:
  Result<T> get(const std::string& key, const std::function<Result<T>()>& ask) {
    if (auto found = find(key)) return std::move(*found);
    const std::shared_ptr<std::mutex> one = asking(key);
    std::lock_guard alone(*one);
    if (auto found = find(key)) return std::move(*found);
    Result<T> asked = ask();
    if (!asked.ok()) return asked;
    std::lock_guard guard(mutex_);
    return known_.emplace(key, std::move(*asked)).first->second;
  }

 private:
  std::optional<T> find(const std::string& key) {
    std::lock_guard guard(mutex_);
    auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional<T>(found->second);
  }
  std::shared_ptr<std::mutex> asking(const std::string& key) {
    std::lock_guard guard(mutex_);
    std::shared_ptr<std::mutex>& one = asking_[key];
    if (!one) one = std::make_shared<std::mutex>();
    return one;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::mutex>> asking_;
  std::map<std::string, T> known_;
};

class CloudMemory {
 public:
  // This computer's public address as a CIDR.
  Result<std::string> caller(const std::function<Result<std::string>()>& ask) {
    return callers_.get("", ask);
  }

  // Records the type that a token was used for, so that a look for it can skip the other types.
  void note_token(const std::string& token, const std::string& type);
  std::optional<std::string> type_of_token(const std::string& token) const;
  // Same for IDs that do not show their type.
  void note_id(const std::string& id, const std::string& type);
  std::optional<std::string> type_of_id(const std::string& id) const;

  // Records that its removal was requested.
  void note_leaving(const std::string& id);
  bool is_leaving(const std::string& id) const;

  // A type that the server lacks.
  void note_missing(const std::string& type);
  bool is_missing(const std::string& type) const;

  // Maps IDs (or public addresses) to the file addresses of their resources.
  void note_name(const std::string& id, const std::string& address);
  // Records an order's references; for public addresses, of `address_type`, also the number.
  void note_references(const std::map<std::string, Reference>& references, const char* address_type);
  std::optional<std::string> name_of(const std::string& id) const;
  // Names of IDs in the state (Query::names).
  void note_names(const std::map<std::string, std::string>& names);
  // The groups of a machine by their names in the file, sorted; a foreign group keeps its ID. Null: no group
  // of the infrastructure is known, as when only a machine is inspected.
  Json group_names(const std::vector<std::string>& ids) const;

 private:
  mutable std::mutex mutex_;
  Known<std::string> callers_;
  std::map<std::string, std::string> tokens_, types_, names_;
  std::set<std::string> missing_, leaving_;
};

}  // namespace radl
