#include "runtime/run/run_mirror.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/files.h"
#include "common/json_values.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr std::chrono::seconds kListEvery{2}, kForAll{60};
constexpr int kQuietTurns = 5;  // before it is asked whether the run's process lives

unsigned long long number_of(std::string_view line) {
  const nlohmann::json event = json::parse_json(line), &number = json::member(event, "sequence");
  return number.is_number_unsigned() ? number.get<unsigned long long>() : 0;
}

void close_file(int& fd) {
  if (fd >= 0) ::close(std::exchange(fd, -1));
}

}  // namespace

Result<std::unique_ptr<RunMirror>> RunMirror::start(const std::string& directory, const std::string& name,
                                                    std::string folder, const Environment& environment,
                                                    const Stop& stop) {
  if (!is_bucket_place(directory)) return std::unique_ptr<RunMirror>();
  auto objects = RunObjects::open(directory, name, environment);
  if (!objects.ok()) return objects.status();
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  std::unique_ptr<RunMirror> mirror(new RunMirror(std::move(*objects), std::move(folder)));
  if (Status brought = mirror->bring(stop.within(kForAll)); !brought.ok()) return brought;
  Status started = mirror->threads_.start([own = mirror.get()] {
    const Stop over = own->over_.token();
    while (over.sleep(kListEvery)) (void)guarded([&] { return own->bring(over.within(kForAll)); });
  });
  if (!started.ok()) return started;
  return mirror;
}

RunMirror::~RunMirror() {
  over_.request();
  threads_.join();
  for (auto& [run, file] : files_) close_file(file.fd);
}

Status RunMirror::bring(const Stop& stop) {
  auto runs = objects_->list(stop);
  if (!runs.ok()) return runs.status();
  Status first;  // one run that cannot be brought holds up no other
  for (const auto& [run, listed] : *runs) {
    Status brought = bring(run, listed, stop);
    if (first.ok()) first = std::move(brought);
    if (stop.asked()) break;
  }
  return first;
}

Status RunMirror::bring(const std::string& run, const RunObjects::Listed& listed, const Stop& stop) {
  if (run.starts_with('.') || listed.pieces.empty()) return {};
  File& file = files_[run];
  if (file.over || (file.fd < 0 && !open(run, file))) return {};
  const unsigned long long before = file.last;
  const auto is_there = [&](size_t piece) {
    return piece + 1 < listed.pieces.size() ? listed.pieces[piece + 1] <= file.last + 1
                                            : listed.end && *listed.end <= file.last;
  };
  for (size_t piece = file.pieces; piece < listed.pieces.size(); ++piece) {
    if (is_there(piece)) continue;
    auto lines = objects_->read(run, listed.pieces[piece], stop);
    if (!lines.ok()) return lines.status();
    if (Status written = append(run, file, *lines); !written.ok()) return written;
  }
  file.pieces = listed.pieces.size() - 1;  // the last one may grow
  file.quiet = file.last > before ? 0 : file.quiet + 1;
  file.over = listed.end.has_value();
  if (!file.over && file.quiet % kQuietTurns == 0) {
    auto alive = objects_->is_alive(run, stop);
    if (!alive.ok()) return alive.status();
    file.over = !*alive;
  }
  if (file.over) close_file(file.fd);
  return {};
}

// False: another process writes it, the run's own or another mirror.
bool RunMirror::open(const std::string& run, File& file) {
  const std::string path = path_of(run), hidden = folder_ + "/." + run + ".mirrored";
  int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  const bool is_new = fd < 0;
  // Gets its name only after it is locked, so that an active run is never mistaken for an ended one.
  if (is_new) fd = ::open(hidden.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || (is_new && ::rename(hidden.c_str(), path.c_str()) != 0)) {
    close_file(fd);
    return false;
  }
  file.fd = fd;
  if (settle(run, file).ok()) return true;
  close_file(file.fd);
  return false;
}

// Cuts off a line that was not written to its end, and reads the number of the last event.
Status RunMirror::settle(const std::string& run, File& file) {
  auto text = read_file(path_of(run));
  if (!text.ok()) return text.status();
  const size_t whole = text->rfind('\n') == std::string::npos ? 0 : text->rfind('\n') + 1;
  if (whole < text->size() && ::ftruncate(file.fd, static_cast<off_t>(whole)) != 0)
    return errno_status(errno, path_of(run));
  file.last = 0;
  if (whole > 0) {
    const std::string_view lines = std::string_view(*text).substr(0, whole - 1);
    const size_t before = lines.rfind('\n');
    file.last = number_of(before == lines.npos ? lines : lines.substr(before + 1));
  }
  file.settled = true;
  return {};
}

Status RunMirror::append(const std::string& run, File& file, const std::string& lines) {
  if (!file.settled)
    if (Status settled = settle(run, file); !settled.ok()) return settled;
  std::string news;
  unsigned long long last = file.last;
  for (std::string_view line : split(lines, '\n')) {
    const unsigned long long number = line.empty() ? 0 : number_of(line);
    if (number <= last) continue;
    news.append(line).append("\n");
    last = number;
  }
  Status written = write_all(file.fd, news, "the events of a run");
  file.settled = written.ok();
  if (written.ok()) file.last = last;
  return written;
}

}  // namespace radl
