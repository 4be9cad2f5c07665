// Records of what nodes share: the infrastructure's key, and the program's networks.
//
//   <work>/shared/<id>.json      written before creation starts, removed after everything is deleted
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::local {

inline constexpr const char* kKeyId = "key";

struct SharedRecord {
  std::string id;  // kKeyId, or for a network: node_id(address, token)
  std::string type, address, token;
  nlohmann::json spec = nlohmann::json::object();
};

Result<std::vector<SharedRecord>> load_shared(const std::string& work_directory);  // by id
Status save_shared(const std::string& work_directory, const SharedRecord& record);
Status remove_shared(const std::string& work_directory, const std::string& id);  // ok when it is not there

}  // namespace radl::local
