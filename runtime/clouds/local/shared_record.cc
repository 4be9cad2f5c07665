#include "runtime/clouds/local/shared_record.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/files.h"

namespace radl::local {
namespace {

std::string shared_folder(const std::string& work_directory) { return work_directory + "/shared"; }

std::string shared_path(const std::string& work_directory, const std::string& id) {
  return shared_folder(work_directory) + "/" + id + ".json";
}

Result<SharedRecord> parse_shared(const std::string& path, const std::string& id) {
  auto text = read_file(path, 1 << 20);
  if (!text) return text.status();
  auto held = nlohmann::json::parse(*text, nullptr, false);
  const Status damaged(Code::Corrupt, path + ": damaged, or of a newer version");
  try {
    if (held.value("version", 0) != 1) return damaged;
    SharedRecord record;
    record.id = id;
    record.type = held.value("type", "");
    record.address = held.value("address", "");
    record.token = held.value("token", "");
    record.spec = held.value("spec", nlohmann::json::object());
    return record;
  } catch (const nlohmann::json::exception&) {
    return damaged;
  }
}

}  // namespace

Result<std::vector<SharedRecord>> load_shared(const std::string& work_directory) {
  std::vector<SharedRecord> records;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(shared_folder(work_directory), error)) {
    if (entry.path().extension() != ".json") continue;  // a part that a killed run was writing
    auto record = parse_shared(entry.path().string(), entry.path().stem().string());
    if (!record && record.status().code() == Code::NotFound) continue;  // removed meanwhile
    if (!record) return record.status();
    records.push_back(std::move(*record));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return errno_status(error.value(), shared_folder(work_directory));
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return records;
}

Status save_shared(const std::string& work_directory, const SharedRecord& record) {
  if (Status s = make_directories(shared_folder(work_directory), 0700); !s.ok()) return s;
  nlohmann::json held{{"version", 1},
                      {"type", record.type},
                      {"address", record.address},
                      {"token", record.token},
                      {"spec", record.spec}};
  return write_file_atomic(shared_path(work_directory, record.id), held.dump(1) + "\n", 0600);
}

Status remove_shared(const std::string& work_directory, const std::string& id) {
  const std::string path = shared_path(work_directory, id);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno_status(errno, path);
  ::rmdir(shared_folder(work_directory).c_str());  // only when it is empty
  return {};
}

}  // namespace radl::local
