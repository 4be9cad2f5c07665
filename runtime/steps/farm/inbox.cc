#include "runtime/steps/farm/inbox.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr std::string_view kEnd = ".json";

}  // namespace

std::vector<Request> read_inbox(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == kEnd) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Request> requests;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    Event event = text ? json::parse_json(*text) : Event();
    requests.push_back({path, event.is_object() ? std::move(event) : Event()});
  }
  return requests;
}

Status put_in_inbox(const std::string& folder, const Event& event, const std::string& name) {
  return write_file_atomic(folder + "/" + name + std::string(kEnd), event.dump(), 0600);
}

}  // namespace radl::farm
