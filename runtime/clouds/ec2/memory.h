// What a cloud need not ask twice: images, subnets, and which address of the file an id belongs to. All of it
// can be had again from EC2; thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::ec2 {

struct Image {
  std::string id, name, root_device, architecture;
  double root_gib = 0;
};

struct Subnet {
  std::string id, zone;
};

struct Vpc {
  std::string id;
  std::vector<Subnet> subnets;  // by zone; of the default VPC those that are a zone's default
};

class Memory {
 public:
  // The value of `key`, by `ask` where it is not known yet; a failure is not kept. Who comes while another
  // asks for the same waits for that answer.
  Result<Image> image(const std::string& key, const std::function<Result<Image>()>& ask);
  Result<Vpc> vpc(const std::string& key, const std::function<Result<Vpc>()>& ask);
  Result<std::string> caller(const std::function<Result<std::string>()>& ask);

  // Where a token was used: a look for it need not go through every type.
  void note_token(const std::string& token, const std::string& type);
  std::optional<std::string> type_of_token(const std::string& token) const;

  // That it was asked to be removed.
  void note_leaving(const std::string& id);
  bool is_leaving(const std::string& id) const;

  // A type that the server does not have.
  void note_missing(const std::string& type);
  bool is_missing(const std::string& type) const;

  // Ids (or public addresses) and the addresses in the file of what they are.
  void note_name(const std::string& id, const std::string& address);
  std::optional<std::string> name_of(const std::string& id) const;

 private:
  template <class T>
  Result<T> known_or(std::map<std::string, T>& known, const char* kind, const std::string& key,
                     const std::function<Result<T>()>& ask);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<std::mutex>> asking_;  // by kind and key
  std::map<std::string, Image> images_;
  std::map<std::string, Vpc> vpcs_;
  std::map<std::string, std::string> caller_;
  std::map<std::string, std::string> tokens_, names_;
  std::set<std::string> missing_, leaving_;
};

}  // namespace radl::ec2
