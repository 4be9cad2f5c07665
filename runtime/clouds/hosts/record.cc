#include "runtime/clouds/hosts/record.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"

namespace radl::hosts {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string record_path(const Context& context, const std::string& id) {
  const std::string name = id == kKeyId ? id : sha256_hex(id).substr(0, 16);
  return records_folder(context) + "/" + name + ".json";
}

Result<Record> parse_record(const std::string& path) {
  auto text = read_file(path, 1 << 20);
  if (!text) return text.status();
  json held = json::parse(*text, nullptr, false);
  const Status damaged(Code::Corrupt, path + ": damaged, or of a newer version");
  try {
    if (held.value("version", 0) != 1) return damaged;
    const json way = held.value("way", json::object());
    return Record{held.value("id", ""),
                  held.value("type", ""),
                  held.value("address", ""),
                  held.value("token", ""),
                  held.value("spec", json::object()),
                  {way.value("host", ""), way.value("port", 22), way.value("user", ""),
                   way.value("host_key", ""), way.value("ssh_config", "")}};
  } catch (const json::exception&) {
    return damaged;
  }
}

}  // namespace

std::string records_folder(const Context& context) { return context.work_directory + "/hosts"; }
std::string key_file(const Context& context) { return records_folder(context) + "/id_ed25519"; }

Result<std::vector<Record>> load_records(const Context& context) {
  std::vector<Record> records;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(records_folder(context), error)) {
    if (entry.path().extension() != ".json") continue;
    auto record = parse_record(entry.path().string());
    if (!record && record.status().code() == Code::NotFound) continue;  // removed meanwhile
    if (!record) return record.status();
    records.push_back(std::move(*record));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return errno_status(error.value(), records_folder(context));
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return records;
}

Status save_record(const Context& context, const Record& record) {
  if (Status s = make_directories(records_folder(context), 0700); !s.ok()) return s;
  json held{{"version", 1},          {"id", record.id},    {"type", record.type}, {"address", record.address},
            {"token", record.token}, {"spec", record.spec}};
  if (record.id != kKeyId) {
    held["way"] = {{"host", record.way.host},
                   {"port", record.way.port},
                   {"user", record.way.user},
                   {"host_key", record.way.host_key},
                   {"ssh_config", record.way.ssh_config}};
  }
  return write_file_atomic(record_path(context, record.id), held.dump(1) + "\n", 0600);
}

Status remove_record(const Context& context, const std::string& id) {
  const std::string path = record_path(context, id);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) return errno_status(errno, path);
  ::rmdir(records_folder(context).c_str());  // only when it is empty
  return {};
}

void remove_unfinished(const Context& context) {
  std::error_code ignored;
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(records_folder(context), ignored)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) parts.push_back(entry.path());
  }
  for (const auto& part : parts) fs::remove(part, ignored);
}

}  // namespace radl::hosts
