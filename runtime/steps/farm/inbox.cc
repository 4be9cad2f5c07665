#include "runtime/steps/farm/inbox.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr std::string_view kEnd = ".json";

}  // namespace

std::vector<Event> read_inbox(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == kEnd) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Event> events;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text) continue;
    Event event = json::parse_json(*text);
    if (event.is_object()) events.push_back(std::move(event));
    std::filesystem::remove(path, error);
  }
  return events;
}

Status put_in_inbox(const std::string& folder, const Event& event, const std::string& name) {
  return write_file_atomic(folder + "/" + name + std::string(kEnd), event.dump(), 0600);
}

}  // namespace radl::farm
