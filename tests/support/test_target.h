// The target of a node, with the key of its infrastructure.
#pragma once

#include <filesystem>

#include "runtime/net/ssh/key_places.h"
#include "runtime/net/ssh/target.h"

namespace radl::test {

inline Result<ssh::Target> target_of(const nlohmann::json& attributes, const std::string& work_directory) {
  return ssh::target_of(attributes, ssh::key_places(environment_of_process(), work_directory));
}

// Of a local node, whose folder lies in the work directory's folder of nodes.
inline std::string work_directory_of(const nlohmann::json& attributes) {
  const std::filesystem::path folder = attributes.value("local_directory", "");
  return attributes.value("keys_of", folder.parent_path().parent_path().string());
}
inline Result<ssh::Target> target_of(const nlohmann::json& attributes) {
  return target_of(attributes, work_directory_of(attributes));
}

}  // namespace radl::test
