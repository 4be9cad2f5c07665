// Records of what nodes share: the infrastructure's key, and the networks that the program names.
//
//   <work>/shared/<id>.json      written before anything of it is made, removed after the last of it
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::local {

inline constexpr const char* kKeyId = "key";

struct SharedRecord {
  std::string id;  // kKeyId, or of a network: node_id(address, token)
  std::string type, address, token;
  nlohmann::json spec = nlohmann::json::object();
};

Result<std::vector<SharedRecord>> load_shared(const std::string& work_directory);  // by id
Status save_shared(const std::string& work_directory, const SharedRecord& record);
Status remove_shared(const std::string& work_directory, const std::string& id);  // ok when it is not there

}  // namespace radl::local
