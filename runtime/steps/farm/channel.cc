#include "runtime/steps/farm/channel.h"

#include <chrono>

#include "common/lines.h"

namespace radl::farm {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{1000};
constexpr size_t kLongestLine = size_t{1} << 17;  // bytes

}  // namespace

Channels::Channels(const std::vector<NodeHandle>& nodes,
                   const std::vector<std::unique_ptr<jobs::Member>>& members, const Context& context,
                   std::function<std::string(size_t node)> agent)
    : nodes_(nodes), members_(members), context_(context), agent_(std::move(agent)) {
  for (size_t i = 0; i < nodes_.size(); ++i) own_.push_back(std::make_unique<Node>());
}

Channels::~Channels() { close(); }

Status Channels::open() {
  threads_ = std::make_unique<Threads>();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Status started = threads_->start([this, i] { talk(i); });
    if (started.ok()) started = threads_->start([this, i] { run_errands(i); });
    if (!started.ok()) return started;
  }
  return {};
}

void Channels::close() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    for (const auto& node : own_) node->news.notify_all();
  }
  if (threads_) threads_->join();
  threads_.reset();
}

void Channels::put(Message message) {
  std::lock_guard lock(mutex_);
  queue_.push_back(std::move(message));
  arrived_.notify_all();
}

void Channels::send(size_t node, const std::string& command) {
  std::lock_guard lock(mutex_);
  own_[node]->outgoing += command;
}

size_t Channels::errand(size_t node, std::function<Status()> what) {
  std::lock_guard lock(mutex_);
  own_[node]->errands.emplace_back(++errands_, std::move(what));
  own_[node]->news.notify_all();
  return errands_;
}

std::vector<Message> Channels::take(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, time, [this] { return !queue_.empty(); });
  std::vector<Message> taken(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
  queue_.clear();
  return taken;
}

void Channels::run_errands(size_t node) {
  Node& own = *own_[node];
  std::unique_lock lock(mutex_);
  for (;;) {
    own.news.wait(lock, [&] { return over_ || !own.errands.empty(); });
    if (over_) return;
    auto [number, what] = std::move(own.errands.front());
    own.errands.pop_front();
    lock.unlock();
    Message done;
    done.kind = Message::Kind::Done;
    done.node = node;
    done.number = number;
    done.status = guarded(what);
    put(std::move(done));
    lock.lock();
  }
}

void Channels::talk(size_t node) {
  for (;;) {
    Status ended = guarded([&] { return talk_once(node); });
    std::unique_lock lock(mutex_);
    if (over_) return;
    own_[node]->outgoing.clear();
    lock.unlock();
    Message lost;
    lost.kind = Message::Kind::Disconnected;
    lost.node = node;
    lost.status =
        ended.ok() ? Status(Code::Lost, nodes_[node].address + ": the agent ended") : std::move(ended);
    put(std::move(lost));
    lock.lock();
    own_[node]->news.wait_for(lock, kBetweenTries, [this] { return over_; });
    if (over_) return;
  }
}

Status Channels::talk_once(size_t node) {
  auto remote = nodes_[node].connect();
  if (!remote) return std::move(remote).status();
  Lines lines(kLongestLine);
  ExecOptions options;
  options.deadline = std::chrono::hours(24 * 365);
  options.keep_bytes = 4096;
  options.stop =
      Stop().until(context_.stop.deadline());  // the farm closes its channels when it is told to stop
  options.more_stdin = [&]() -> std::optional<std::string> {
    std::lock_guard lock(mutex_);
    std::string next = std::exchange(own_[node]->outgoing, {});
    if (next.empty() && over_) return std::nullopt;
    return next;
  };
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr) return;
    lines.add(piece, [&](std::string_view line, bool) {
      auto read = read_agent_line(std::string(line));
      if (!read) return;
      Message message;
      message.node = node;
      message.line = std::move(*read);
      put(std::move(message));
    });
  };
  auto done = (*remote)->exec(agent_(node), options);
  if (!done) return std::move(done).status();
  return {Code::Lost, nodes_[node].address + ": the agent ended: " + done->err};
}

}  // namespace radl::farm
