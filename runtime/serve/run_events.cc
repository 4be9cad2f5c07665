#include "runtime/serve/run_events.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <utility>

#include "common/clock.h"

namespace radl::serve {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
constexpr std::chrono::seconds kAskEvery{5};  // whether the token is valid
constexpr size_t kAtOnce = size_t{64} << 10;

// Of the events of a run, as bytes: it grows when there are more.
uint64_t size_of_events(const Workspace& workspace, const std::string& id) {
  const auto run = workspace.find_run(id);
  if (!run) return UINT64_MAX;
  uint64_t size = run->over() ? 1 : 0;
  for (const std::string& log : run->logs) {
    struct stat about {};
    if (::stat(workspace.log_path(log).c_str(), &about) == 0) size += uint64_t(about.st_size) + 1;
  }
  return size;
}

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

// Shared by a stream and the thread that watches.
struct EventStreams::Watched {
  Watched(std::shared_ptr<const Workspace> w, const std::string& r, unsigned long long from,
          const Caller& caller, std::function<bool()> m)
      : workspace(std::move(w)),
        run(r),
        reader(workspace, run, from),
        user(caller.user),
        token(caller.token),
        may(std::move(m)) {}
  const std::shared_ptr<const Workspace> workspace;
  const std::string run;
  RunReader reader;
  const std::string user, token;
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
    watched_->seen = size_of_events(*watched_->workspace, watched_->run);
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
                                                                unsigned long long from, const Caller& caller,
                                                                std::function<bool()> may) {
  auto watched = std::make_shared<Watched>(std::move(workspace), run, from, caller, std::move(may));
  std::lock_guard lock(mutex_);
  watched_.remove_if([](const auto& one) { return one->gone.load(); });
  const auto its = [&](const auto& one) { return one->user == caller.user; };
  const bool many = size_t(std::ranges::count_if(watched_, its)) >= kMostOfUser;
  if (many || watched_.size() >= kMostOfAll)
    return Status(Code::Quota,
                  many ? "you have too many event streams open" : "too many event streams are open")
        .with_hint("close one, or read without a stream");
  watched_.push_back(watched);
  changed_.notify_all();
  std::unique_ptr<httpd::StreamSource> source = std::make_unique<Source>(std::move(watched));
  return source;
}

// `ask`: whether the tokens are still valid.
void EventStreams::wake(const std::vector<std::shared_ptr<Watched>>& all, bool ask) {
  std::map<std::string, bool> valid;                                   // by token
  std::map<std::pair<const Workspace*, std::string>, uint64_t> sizes;  // by run
  for (const auto& one : all) {
    if (ask) {
      const auto [token, first] = valid.try_emplace(one->token, true);
      if (first) token->second = one->may();
      if (!token->second) one->refused = true;
    }
    const auto [size, first] = sizes.try_emplace({one->workspace.get(), one->run}, 0);
    if (first) size->second = size_of_events(*one->workspace, one->run);
    if (!one->refused && size->second == one->seen) continue;
    std::lock_guard held(one->mutex);
    if (one->more) one->more();
  }
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
    wake(all, ask);
    lock.lock();
  }
}

}  // namespace radl::serve
