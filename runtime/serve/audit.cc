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

void Audit::note(const httpd::RequestHead& head, const Caller* caller, int status) {
  nlohmann::json line = {{"time", utc_time(clock_.wall_seconds())},
                         {"peer", head.peer},
                         {"method", head.method},
                         {"path", head.path.substr(0, kLongestPath)},
                         {"status", status}};
  if (caller) {
    line["user"] = caller->user;
    line["token"] = caller->token;
  }
  const std::string text = line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  if (file_ && size_ > kLargest) {
    std::rename(path_.c_str(), (path_ + ".1").c_str());
    file_.reset();
  }
  if (!file_) {
    file_.emplace(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    struct stat about {};
    if (!file_->open()) return file_.reset();
    size_ = ::fstat(file_->get(), &about) == 0 ? size_t(about.st_size) : 0;
  }
  if (write_all(file_->get(), text, path_).ok()) size_ += text.size();
}

std::string Audit::last(size_t bytes) {
  std::lock_guard lock(mutex_);
  auto text = read_file(path_, 4 * kLargest);
  if (!text.ok()) return {};
  if (text->size() <= bytes) return *text;
  const size_t line = text->find('\n', text->size() - bytes);
  return line == text->npos ? std::string() : text->substr(line + 1);
}

}  // namespace radl::serve
