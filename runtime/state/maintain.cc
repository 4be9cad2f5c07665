// What one does to states from outside a run: rename, list.
#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/rows.h"
#include "runtime/state/sqlite_store.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

// "worker" -> "trainer" renames worker[0], worker[1], ...; "worker[0]" -> "old[3]" that one only.
std::string renamed(const std::string& address, const std::string& from, const std::string& to) {
  if (address == from) return to;
  bool of_system = from.find('[') == std::string::npos && address.size() > from.size() &&
                   address.compare(0, from.size(), from) == 0 && address[from.size()] == '[';
  return of_system ? to + address.substr(from.size()) : address;
}

std::string renamed_step(const std::string& id, const std::string& from, const std::string& to) {
  size_t slash = id.find('/');
  if (slash == std::string::npos) return id;
  return renamed(id.substr(0, slash), from, to) + id.substr(slash);
}

// Splits "worker[3]"; ordinal 0 without brackets.
void set_place(ResourceRecord& record) {
  size_t open = record.address.find('[');
  record.system = record.address.substr(0, open);
  record.ordinal = open == std::string::npos ? 0 : std::atoi(record.address.c_str() + open + 1);
}

}  // namespace

Status SqliteStore::move(const std::string& from, const std::string& to) {
  Result<Snapshot> before = snapshot();
  if (!before.ok()) return before.status();
  std::vector<std::pair<std::string, ResourceRecord>> resources;
  for (const auto& [address, record] : before->resources) {
    std::string name = renamed(address, from, to);
    if (name == address) continue;
    if (before->resources.count(name)) return {Code::Exists, "the state has a '" + name + "' already"};
    ResourceRecord moved = record;
    moved.address = name;
    if (moved.kind == ResourceKind::Node) set_place(moved);
    resources.emplace_back(address, std::move(moved));
  }
  if (resources.empty()) return not_found("the state has no '" + from + "'");
  std::vector<std::pair<std::string, StepRecord>> steps;
  for (const auto& [id, record] : before->steps) {
    StepRecord moved = record;
    moved.id = renamed_step(id, from, to);
    for (std::string& node : moved.nodes) node = renamed(node, from, to);
    moved.made_on.clear();
    for (const auto& [node, made] : record.made_on) moved.made_on[renamed(node, from, to)] = made;
    if (moved.id != id || moved.nodes != record.nodes) steps.emplace_back(id, std::move(moved));
  }
  return write([&]() -> Status {
    for (const auto& [address, record] : resources) {
      if (Status gone = remove_with_steps(address, true); !gone.ok()) return gone;
      if (Status put = write_resource(db_, record); !put.ok()) return put;
    }
    for (const auto& [id, record] : steps) {
      Result<Statement> row = db_.prepare("DELETE FROM steps WHERE id = ?");
      if (!row.ok()) return row.status();
      if (Status gone = row->bind(1, id).run(); !gone.ok()) return gone;
      if (Status put = write_step(db_, record); !put.ok()) return put;
    }
    return {};
  });
}

Result<std::vector<std::string>> list_states(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (fs::exists(at->path() / "state.db")) names.push_back(at->path().filename());
  }
  if (error && error != std::errc::no_such_file_or_directory) return errno_status(error.value(), directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::string default_state_directory(const std::string& source_path) {
  fs::path folder = fs::path(source_path).parent_path();
  return ((folder.empty() ? fs::path(".") : folder) / ".radl").string();
}

}  // namespace radl
