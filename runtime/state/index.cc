#include "runtime/state/index.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "runtime/state/folder_turn.h"
#include "runtime/state/place.h"

namespace radl {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int kIndexVersion = 1;

Status damaged(const std::string& index, const std::string& why) {
  return Status(Code::Corrupt, index + ": " + why)
      .with_hint("remove it: it is written again as infrastructures are applied");
}

// A state that cannot be checked does not count as gone.
bool is_gone(const KnownState& state) {
  if (is_bucket_place(state.directory)) return false;  // asked when it is shown
  std::error_code error;
  return !fs::exists(state.directory + "/" + state.name + "/state.db", error) && !error;
}

Result<std::vector<KnownState>> read_index(const std::string& index) {
  std::vector<KnownState> states;
  Result<std::string> text = read_file(index, size_t{1} << 26);
  if (!text.ok() && text.status().code() == Code::NotFound) return states;
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  try {
    if (json.at("infrastructures_index").get<int>() > kIndexVersion)
      return damaged(index, "written by a newer radlc");
    for (const Json& entry : json.at("infrastructures"))
      states.push_back({entry.at("directory").get<std::string>(), entry.at("name").get<std::string>()});
  } catch (const Json::exception& error) {
    return damaged(index, "no index of infrastructures");
  }
  return states;
}

Status write_index(const std::string& index, std::vector<KnownState> states) {
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  Json list = Json::array();
  for (const KnownState& state : states)
    list.push_back({{"directory", state.directory}, {"name", state.name}});
  const Json json = {{"infrastructures_index", kIndexVersion}, {"infrastructures", std::move(list)}};
  return write_file_atomic(index, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", 0600);
}

Status change(const std::string& index, const KnownState* added, const KnownState* removed = nullptr) {
  const std::string folder = fs::path(index).parent_path().string();
  if (added) {
    if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  }
  FolderTurn turn(folder);
  Result<std::vector<KnownState>> states = read_index(index);
  if (!states.ok()) return states.status();
  const std::vector<KnownState> before = *states;
  std::erase_if(*states, is_gone);
  if (removed) std::erase(*states, *removed);
  if (added && std::find(states->begin(), states->end(), *added) == states->end()) states->push_back(*added);
  return *states == before ? Status() : write_index(index, std::move(*states));
}

}  // namespace

Result<std::vector<KnownState>> known_states(const std::string& index) {
  Result<std::vector<KnownState>> states = read_index(index);
  if (!states.ok()) return states;
  std::erase_if(*states, is_gone);
  std::sort(states->begin(), states->end());
  return states;
}

Status remember_state(const std::string& index, const KnownState& state) { return change(index, &state); }

Status forget_state(const std::string& index, const KnownState& state) {
  std::error_code error;
  return fs::exists(index, error) ? change(index, nullptr, &state) : Status();
}

Status tidy_known_states(const std::string& index) { return change(index, nullptr); }

}  // namespace radl
