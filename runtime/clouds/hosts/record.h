// Which machines an infrastructure may have taken, and its key.
//
//   <work>/hosts/id_ed25519       the infrastructure's key for them
//                key.json         its record
//                <hash>.json      of a machine: written before it is taken, removed after it is given back
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
  Way way;  // of a machine, as it was when it was taken
};

std::string records_folder(const Context& context);
std::string key_file(const Context& context);

Result<std::vector<Record>> load_records(const Context& context);
Status save_record(const Context& context, const Record& record);
Status remove_record(const Context& context, const std::string& id);  // ok when it is not there
// Parts of files that a run was writing when it was killed: only under the state's lock.
void remove_unfinished(const Context& context);

}  // namespace radl::hosts
