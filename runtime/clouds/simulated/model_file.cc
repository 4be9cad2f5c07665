#include "runtime/clouds/simulated/model_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "common/files.h"
#include "common/text.h"

namespace radl::simulated {
namespace {

Json head(const std::string& cloud) { return {{"simulated", 1}, {"cloud", cloud}}; }

std::string as_lines(const std::vector<Json>& values) {
  std::string text;
  for (const Json& value : values) text += value.dump() + "\n";
  return text;
}

}  // namespace

Result<std::unique_ptr<ModelFile>> ModelFile::open(const std::string& path, const std::string& cloud,
                                                   Account& account) {
  std::string lock_path = path + ".lock";
  int lock = ::open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock < 0) return errno_status(errno, lock_path);
  std::unique_ptr<ModelFile> file(new ModelFile(path, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return Status(Code::Conflict, path + ": another process uses this simulated cloud");
  if (Status read = file->read(cloud, account); !read.ok()) return std::move(read).at(path);
  if (Status written = file->write_anew(cloud, account); !written.ok()) return written;
  file->file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file->file_ < 0) return errno_status(errno, path);
  return file;
}

ModelFile::~ModelFile() {
  if (file_ >= 0) ::close(file_);
  if (lock_ >= 0) ::close(lock_);
}

Status ModelFile::read(const std::string& cloud, Account& account) {
  Result<std::string> text = read_file(path_);
  if (text.status().code() == Code::NotFound) return {};
  if (!text.ok()) return text.status();
  is_new_ = false;
  std::vector<std::string_view> lines = split(*text, '\n');
  lines.pop_back();  // empty, or a line that was being written
  if (lines.empty()) return {Code::Corrupt, "not the file of a simulated cloud"};
  try {
    Json first = Json::parse(lines.front());
    if (first.at("simulated") != 1) return {Code::Corrupt, "a simulated cloud of another version of radlc"};
    if (first.at("cloud") != cloud)
      return invalid("this is the cloud " + first.at("cloud").get<std::string>());
    for (size_t i = 1; i < lines.size(); ++i) account.apply_change(Json::parse(lines[i]));
  } catch (const Json::exception& error) {
    return {Code::Corrupt, std::string("not the file of a simulated cloud: ") + error.what()};
  }
  return {};
}

Status ModelFile::write_anew(const std::string& cloud, const Account& account) {
  return write_file_atomic(path_, as_lines({head(cloud)}) + as_lines(account.everything()), 0600);
}

Status ModelFile::append(const std::vector<Json>& changes) {
  return changes.empty() ? Status() : write_all(file_, as_lines(changes), path_);
}

}  // namespace radl::simulated
