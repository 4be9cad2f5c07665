#include "runtime/serve/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/files.h"

namespace radl::serve {
namespace {

constexpr size_t kLargest = size_t{8} << 20, kLongestPath = 500;

}  // namespace

void Audit::note(const httpd::RequestHead& head, const Caller* caller, std::optional<int> status) {
  nlohmann::json line = {{"time", utc_time(clock_.wall_seconds())},
                         {"peer", head.peer},
                         {"method", head.method},
                         {"path", head.path.substr(0, kLongestPath)},
                         {"status", nullptr}};
  if (status) line["status"] = *status;
  if (caller) {
    line["user"] = caller->user;
    line["token"] = caller->token;
  }
  const std::string text = line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  (caller ? admitted_ : refused_).add(text);
}

void Audit::Log::add(const std::string& text) {
  if (file && size > kLargest) {
    std::rename(path.c_str(), (path + ".1").c_str());
    file.reset();
  }
  if (!file) {
    file.emplace(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    struct stat about {};
    if (!file->open()) return file.reset();
    size = ::fstat(file->get(), &about) == 0 ? size_t(about.st_size) : 0;
  }
  if (write_all(file->get(), text, path).ok()) size += text.size();
}

std::string Audit::last(size_t bytes, bool refused) {
  std::lock_guard lock(mutex_);
  auto text = read_file((refused ? refused_ : admitted_).path, 4 * kLargest);
  if (!text.ok()) return {};
  if (text->size() <= bytes) return *text;
  const size_t line = text->find('\n', text->size() - bytes);
  return line == text->npos ? std::string() : text->substr(line + 1);
}

}  // namespace radl::serve
