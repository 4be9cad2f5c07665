// Records of the machines that an infrastructure may have taken, and of its key.
//
//   <work>/hosts/id_ed25519       the infrastructure's key for them
//                key.json         its record
//                <hash>.json      of a machine: written before it is taken, removed after its release
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/clouds/hosts/way.h"

namespace radl::hosts {

inline constexpr const char* kKeyId = "key";

struct Record {
  std::string id;  // kKeyId, or Machine::text()
  std::string type, address, token;
  nlohmann::json spec = nlohmann::json::object();
  Way way;  // how the machine was reached when it was taken
};

std::string records_folder(const Context& context);
std::string key_file(const Context& context);

Result<std::vector<Record>> load_records(const Context& context);
Status save_record(const Context& context, const Record& record);
Status remove_record(const Context& context, const std::string& id);  // succeeds if it does not exist
// Removes partial files of killed runs. Requires the state's lock.
void remove_unfinished(const Context& context);

}  // namespace radl::hosts
