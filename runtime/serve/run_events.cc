#include "runtime/serve/run_events.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "common/clock.h"

namespace radl::serve {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
constexpr std::chrono::seconds kAskEvery{5};  // whether the token is valid
constexpr size_t kAtOnce = size_t{64} << 10;
constexpr size_t kMostStreams = 64;  // of one user

}  // namespace

RunReader::RunReader(std::shared_ptr<const Workspace> workspace, std::string run, unsigned long long from)
    : workspace_(std::move(workspace)), run_(std::move(run)), from_(from) {}
RunReader::~RunReader() = default;

bool RunReader::open_next(const WorkspaceRun& run) {
  if (log_ >= run.logs.size()) return false;
  auto reader = EventReader::open(workspace_->log_path(run.logs[log_]));
  if (!reader.ok() && !run.over() && log_ + 1 == run.logs.size()) return false;  // it has no event yet
  ++log_;
  if (!reader.ok()) return open_next(run);  // nothing happened in it, or it went with the state
  before_ += std::exchange(last_, 0);
  reader_ = std::move(*reader);
  return true;
}

std::optional<Event> RunReader::next() {
  while (true) {
    if (!reader_) {
      const auto run = workspace_->find_run(run_);
      if (!run || !open_next(*run)) return {};
    }
    auto event = reader_->next();
    if (!event.ok()) continue;
    if (!*event) {
      if (!reader_->over()) return {};
      reader_.reset();
      continue;
    }
    last_ = (*event)->sequence;
    (*event)->sequence += before_;
    if ((*event)->sequence >= from_) return std::move(**event);
  }
}

bool RunReader::over() {
  if (reader_) return false;
  const auto run = workspace_->find_run(run_);
  return !run || (run->over() && log_ >= run->logs.size());
}

uint64_t RunReader::size() const {
  const auto run = workspace_->find_run(run_);
  if (!run) return UINT64_MAX;
  uint64_t size = run->over() ? 1 : 0;
  for (const std::string& log : run->logs) {
    struct stat about {};
    if (::stat(workspace_->log_path(log).c_str(), &about) == 0) size += uint64_t(about.st_size) + 1;
  }
  return size;
}

// Shared by a stream and the thread that watches.
struct EventStreams::Watched {
  Watched(std::shared_ptr<const Workspace> workspace, const std::string& run, unsigned long long from,
          std::string u, std::function<bool()> m)
      : reader(workspace, run, from), user(std::move(u)), may(std::move(m)) {}
  RunReader reader;
  const std::string user;
  const std::function<bool()> may;
  std::atomic<bool> refused{false};
  std::mutex mutex;
  std::function<void()> more;
  std::atomic<bool> gone{false};
  std::atomic<uint64_t> seen{UINT64_MAX};
};

class EventStreams::Source : public httpd::StreamSource {
 public:
  explicit Source(std::shared_ptr<Watched> watched) : watched_(std::move(watched)) {}
  ~Source() override { watched_->gone = true; }

  std::optional<std::string> next() override {
    if (ended_ || watched_->refused) return {};
    watched_->seen = watched_->reader.size();
    std::string text;
    while (text.size() < kAtOnce) {
      auto event = watched_->reader.next();
      if (!event) break;
      const std::string data = to_json(*event).dump(-1, ' ', false, Json::error_handler_t::replace);
      text += httpd::server_sent_event(std::to_string(event->sequence), {}, data);
    }
    if (text.empty() && watched_->reader.over()) {
      ended_ = true;
      return httpd::server_sent_event({}, "end", "{}");
    }
    return text;
  }
  void on_more(std::function<void()> more) override {
    std::lock_guard lock(watched_->mutex);
    watched_->more = std::move(more);
  }

 private:
  const std::shared_ptr<Watched> watched_;
  bool ended_ = false;
};

EventStreams::EventStreams() : thread_([this] { watch(); }) {}

EventStreams::~EventStreams() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

Result<std::unique_ptr<httpd::StreamSource>> EventStreams::open(std::shared_ptr<const Workspace> workspace,
                                                                const std::string& run,
                                                                unsigned long long from,
                                                                const std::string& user,
                                                                std::function<bool()> may) {
  auto watched = std::make_shared<Watched>(std::move(workspace), run, from, user, std::move(may));
  std::lock_guard lock(mutex_);
  watched_.remove_if([](const auto& one) { return one->gone.load(); });
  if (size_t(std::ranges::count_if(watched_, [&](const auto& one) { return one->user == user; })) >=
      kMostStreams)
    return Status(Code::Quota, "you have too many event streams open")
        .with_hint("close one, or read without a stream");
  watched_.push_back(watched);
  changed_.notify_all();
  std::unique_ptr<httpd::StreamSource> source = std::make_unique<Source>(std::move(watched));
  return source;
}

void EventStreams::watch() {
  std::unique_lock lock(mutex_);
  auto asked = SteadyClock::now();
  while (!stopping_) {
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kLookEvery, [&] { return stopping_; });
    watched_.remove_if([](const auto& one) { return one->gone.load(); });
    const std::vector<std::shared_ptr<Watched>> all(watched_.begin(), watched_.end());
    lock.unlock();
    const auto now = SteadyClock::now();
    const bool ask = now - asked >= kAskEvery;
    if (ask) asked = now;
    for (const auto& one : all) {
      if (ask && !one->may()) one->refused = true;
      if (!one->refused && one->reader.size() == one->seen) continue;
      std::lock_guard held(one->mutex);
      if (one->more) one->more();
    }
    lock.lock();
  }
}

}  // namespace radl::serve
