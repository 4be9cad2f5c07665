#include "runtime/run/event_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>

#include "common/digest.h"
#include "common/files.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".jsonl";

// Files of runs, oldest first.
std::vector<std::string> run_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename();
    if (name.ends_with(kSuffix) && !name.starts_with('.')) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Whether its process still writes.
bool goes_on(const std::string& path) {
  auto reader = EventReader::open(path);
  return reader.ok() && !(*reader)->writer_ended();
}

// But for runs that go on beside this one, which is about to begin. What was killed before it had its name
// goes too.
void remove_oldest(const std::string& folder) {
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code kept;
    if (at->path().filename().string().starts_with('.') && !goes_on(at->path())) fs::remove(at->path(), kept);
  }
  std::vector<std::string> names = run_files(folder);
  for (size_t i = 0; i + kMostKeptRuns < names.size(); ++i) {
    const std::string path = folder + "/" + names[i];
    if (!goes_on(path)) fs::remove(path, ignored);
  }
}

}  // namespace

std::string new_run_id(World& world, const std::string& command) {
  const double now = world.clock.wall_seconds();
  std::string time = utc_time(now);
  std::erase_if(time, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  const std::string thousandths = std::to_string(1000 + static_cast<int>((now - std::floor(now)) * 1000));
  time += "." + thousandths.substr(1) + "Z";
  std::string word = command;
  std::replace(word.begin(), word.end(), ' ', '-');
  return time + "-" + word + "-" + to_hex(world.random.bytes(3));
}

EventLog::~EventLog() {
  if (fd_ >= 0) ::close(fd_);
}

// Renamed only once it is locked, so that a starting run is never taken for an ended one.
Status EventLog::create() {
  if (Status made = make_directories(folder_, 0700); !made.ok()) return made;
  remove_oldest(folder_);
  const std::string path = folder_ + "/" + run_ + std::string(kSuffix), hidden = folder_ + "/." + run_;
  fd_ = ::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) return errno_status(errno, hidden);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 || ::rename(hidden.c_str(), path.c_str()) != 0) {
    Status why = errno_status(errno, path);
    ::unlink(hidden.c_str());
    return why;
  }
  return {};
}

void EventLog::emit(const Event& event) {
  if (fd_ < 0 && !status_.ok()) return;
  if (fd_ < 0) status_ = create();
  if (fd_ < 0) return;
  std::string line = broken_line_ ? "\n" : "";
  line += to_json(event).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  Status written = write_all(fd_, line, "the events of this run");
  broken_line_ = !written.ok();
  if (status_.ok()) status_ = std::move(written);
}

Result<std::unique_ptr<EventReader>> EventReader::open(const std::string& path, unsigned long long from) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, path);
  return std::unique_ptr<EventReader>(new EventReader(fd, from));
}

EventReader::~EventReader() { ::close(fd_); }

// On the stack: a waiting reader then holds no memory, and there may be a thousand.
bool EventReader::fill() {
  constexpr size_t kPiece = size_t{64} << 10;
  char piece[kPiece];
  bytes_.erase(0, std::exchange(at_, 0));
  ssize_t got;
  do got = ::read(fd_, piece, kPiece);
  while (got < 0 && errno == EINTR);
  if (got > 0)
    bytes_.append(piece, size_t(got));
  else
    bytes_.shrink_to_fit();
  return got > 0;
}

Result<std::optional<Event>> EventReader::next() {
  while (true) {
    size_t end = bytes_.find('\n', at_);
    if (end == std::string::npos) {
      if (!fill()) return std::optional<Event>();
      continue;
    }
    std::string line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    if (line.empty()) continue;
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    Result<Event> event = json.is_discarded() ? invalid("no JSON") : event_from_json(json);
    if (!event.ok()) return Status(Code::Corrupt, "a line of this run's events: " + event.status().message());
    if (event->sequence < from_) continue;
    return std::optional<Event>(std::move(*event));
  }
}

bool EventReader::writer_ended() {
  if (!writer_ended_ && ::flock(fd_, LOCK_SH | LOCK_NB) == 0) {
    ::flock(fd_, LOCK_UN);
    writer_ended_ = true;
  }
  return writer_ended_;
}

bool EventReader::over() {
  if (!writer_ended()) return false;
  // What it wrote last may have come since next() looked.
  return bytes_.find('\n', at_) == std::string::npos && !fill();
}

}  // namespace radl
