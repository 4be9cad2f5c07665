// What a cloud need not ask twice, and which address of the file an id belongs to. All of it can be had again
// from the cloud; thread-safe.
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

// Values by key, each asked for where it is not known yet; a failure is not kept. Who comes while another
// asks for the same waits for that answer.
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
  // The CIDR that this computer is seen under from outside.
  Result<std::string> caller(const std::function<Result<std::string>()>& ask) {
    return callers_.get("", ask);
  }

  // Where a token was used: a look for it need not go through every type.
  void note_token(const std::string& token, const std::string& type);
  std::optional<std::string> type_of_token(const std::string& token) const;
  // The same of ids, where they do not tell it themselves.
  void note_id(const std::string& id, const std::string& type);
  std::optional<std::string> type_of_id(const std::string& id) const;

  // That it was asked to be removed.
  void note_leaving(const std::string& id);
  bool is_leaving(const std::string& id) const;

  // A type that the server does not have.
  void note_missing(const std::string& type);
  bool is_missing(const std::string& type) const;

  // Ids (or public addresses) and the addresses in the file of what they are.
  void note_name(const std::string& id, const std::string& address);
  // Of what an order refers to; of public addresses, which are of `address_type`, the number as well.
  void note_references(const std::map<std::string, Reference>& references, const char* address_type);
  std::optional<std::string> name_of(const std::string& id) const;
  // What the state calls ids (Query::names).
  void note_names(const std::map<std::string, std::string>& names);
  // The groups of a machine as the file calls them, sorted; one that is nobody's stands for itself. Null: no
  // group of the infrastructure is known, as when a machine alone is looked at.
  Json group_names(const std::vector<std::string>& ids) const;

 private:
  mutable std::mutex mutex_;
  Known<std::string> callers_;
  std::map<std::string, std::string> tokens_, types_, names_;
  std::set<std::string> missing_, leaving_;
};

}  // namespace radl
