#include "runtime/farm/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "common/files.h"

namespace radl::farm {

Result<size_t> replay_lines(const std::string& path, std::string_view text,
                            const std::function<Status(const Event& event)>& replay) {
  size_t begin = 0, number = 0;
  for (size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin)) {
    ++number;
    const Event event = Event::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                     text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!event.is_object())
      return Status(Code::Corrupt, fmt::format("{}, line {}: not an event of a farm", path, number));
    Status applied = replay(event);
    if (!applied.ok() && applied.code() != Code::Conflict)
      return std::move(applied).at(fmt::format("{}, line {}", path, number));
  }
  return begin;
}

Status read_journal(const std::string& path, const std::function<Status(const Event& event)>& replay) {
  auto text = read_file(path);
  if (!text) return std::move(text).status();
  auto whole = replay_lines(path, *text, replay);
  return whole ? Status() : std::move(whole).status();
}

Status Journal::open(const std::string& path, const std::function<Status(const Event& event)>& replay) {
  path_ = path;
  file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file_.get() < 0) return errno_status(errno, path);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? Status(Code::Conflict, path + ": another run works on this farm")
                                      .with_hint("wait for it, or end it with Ctrl-C")
                                : errno_status(errno, path);
  auto text = read_file(path);
  if (!text) return std::move(text).status();
  auto whole = replay_lines(path, *text, replay);
  if (!whole) return std::move(whole).status();
  if (*whole < text->size() && ::ftruncate(file_.get(), static_cast<off_t>(*whole)) != 0)
    return errno_status(errno, path);
  size_ = *whole;
  return {};
}

void Journal::add(const Event& event) {
  pending_ += event.dump(-1, ' ', false, Event::error_handler_t::replace);
  pending_ += '\n';
}

Status Journal::flush() {
  if (!failed_.ok() || pending_.empty()) return failed_;
  Status written = write_all(file_.get(), pending_, path_);
  if (written.ok() && ::fdatasync(file_.get()) != 0) written = errno_status(errno, path_);
  if (!written.ok()) {
    // Half a line must not stay: another run, or a later flush, would append to it.
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
      written = std::move(written).with_hint(path_ + " may end with an incomplete line");
    failed_ = written;
    return failed_;
  }
  size_ += pending_.size();
  pending_.clear();
  return {};
}

}  // namespace radl::farm
