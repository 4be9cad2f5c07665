// What the chief does with the servers' links: it decides who holds which shard, and asks and ends them.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/cluster/client.h"
#include "engine/cluster/election.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/placement.h"
#include "engine/cluster/poll.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kLookAfter{100}, kDialEvery{1000};

class Chief : public ChiefClient {
 public:
  explicit Chief(const ClientOptions& options)
      : options_(options),
        own_server_(options.separate ? std::nullopt : std::optional(options.index)),
        servers_(options.shards) {}

  ~Chief() override {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    if (keeper_.joinable()) keeper_.join();
  }

  Status connect(const Connector& connector) {
    for (uint32_t s = 0; s < servers_.size(); ++s) {
      Result<std::unique_ptr<Link>> link = connector(s);
      if (!link) return std::move(link).status().at(fmt::format("ps/{}", s));
      servers_[s] = std::make_unique<Session>(std::move(*link), options_.peer_timeout);
      if (Status sent = servers_[s]->send(encode(hello())); !sent.ok()) return sent;
    }
    for (auto& server : servers_) {
      server->set_limit(kLimit);
      if (Status got = expect(*server, MessageType::Ready, message_, options_.stop); !got.ok()) return got;
    }
    return {};
  }

  Status take_over(const ShardMap& map, uint64_t attempt, bool former_was_separate,
                   const std::function<std::unique_ptr<Link>()>& own) {
    // Asked first: a chief that is alive is not disturbed.
    Ballots ballots = ballots_of(ask_all(kQuestion, own));
    const bool has_chief =
        std::ranges::any_of(ballots, [](const auto& b) { return b.second.kind == Ballot::Kind::Refuses; });
    const bool alone = std::ranges::all_of(ballots, [&](const auto& b) {
      return b.first == options_.index || b.second.kind == Ballot::Kind::Ended;
    });
    if (!wins(ballots, former_was_separate) && alone) return {Code::Lost, "the other servers have ended"};
    if (has_chief || !wins(ballots, former_was_separate)) return {Code::Retry, "the servers do not agree"};
    std::vector<Answered> answers = ask_all(next_term(map.epoch, attempt, options_.index), own);
    ballots = ballots_of(answers);
    if (!wins(ballots, former_was_separate)) return {Code::Retry, "the servers do not agree"};
    std::lock_guard lock(mutex_);
    map_ = newest_map(ballots);
    for (const uint64_t server : map_.servers) {
      const Ballot::Kind kind = ballots[static_cast<uint32_t>(server)].kind;
      if (kind != Ballot::Kind::Agrees)
        changes_.push_back({true, static_cast<uint32_t>(server), "was lost with the chief", 0});
    }
    for (uint32_t i = 0; i < servers_.size(); ++i) {
      servers_[i] = std::move(answers[i].session);
      if (servers_[i]) servers_[i]->set_limit(kLimit);
    }
    map_.epoch = next_term(map.epoch, attempt, options_.index);
    settled_.clear();  // they have just agreed
    if (Status decided = decide({}); !decided.ok()) return decided;
    look_after_servers();
    return {};
  }

  bool has_begun() {
    const std::vector<Answered> answers = ask_all(kQuestion, {});
    return std::ranges::any_of(answers, [](const Answered& one) {
      return one.ballot.kind == Ballot::Kind::Agrees || one.ballot.kind == Ballot::Kind::Refuses;
    });
  }

  void resume(const Borders& borders) override {
    std::lock_guard lock(mutex_);
    borders_ = borders;
  }

  void share(const std::string& duties) override {
    std::lock_guard lock(mutex_);
    duties_ = duties;
    for (auto& server : servers_)
      if (server) share_with(*server);
  }

  Status init(const Init& whole, const Borders& borders) override {
    std::lock_guard lock(mutex_);
    borders_ = borders;
    for (uint32_t s = 0; s < servers_.size(); ++s) {
      Result<Init> part = part_of(whole, s, borders);
      if (!part) return std::move(part).status();
      if (Status sent = servers_[s]->send(encode(*part)); !sent.ok()) return sent;
    }
    for (auto& server : servers_) {
      if (Status got = expect(*server, MessageType::Ready, message_, options_.stop); !got.ok()) return got;
    }
    map_ = {.epoch = 1, .places = first_places(servers_.size())};
    for (uint64_t i = 0; i < servers_.size(); ++i) map_.servers.push_back(i);
    settled_ = map_.servers;
    if (Status told = tell_map(); !told.ok()) return told;
    look_after_servers();
    return {};
  }

  Result<Report> report() override {
    std::lock_guard lock(mutex_);
    Report out;
    for (uint32_t s = 0; s < map_.places.size() && out.failure.empty(); ++s) {
      Report one;
      if (Status asked = ask(s, kFetchReport, MessageType::Report); !asked.ok()) return asked;
      if (Status bad = decode(message_, one); !bad.ok()) return bad;
      if (s == 0)
        out = std::move(one);
      else
        out.failure = std::move(one.failure), out.replica = std::min(out.replica, one.replica);
    }
    return out;
  }

  Result<TrainingState> snapshot() override {
    std::lock_guard lock(mutex_);
    TrainingState out;
    out.weights.resize(borders_.back().second);
    for (uint32_t s = 0; s < borders_.size(); ++s) {
      TrainingState part;
      if (Status asked = ask(s, kFetchSnapshot, MessageType::State); !asked.ok()) return asked;
      if (Status bad = decode(message_, part); !bad.ok()) return bad;
      const auto [first, end] = borders_[s];
      if (Status bad = put_part(std::move(part), first, end, out); !bad.ok())
        return std::move(bad).at(fmt::format("shard {}", s));
    }
    return out;
  }

  Status weights(std::span<float> weights, std::span<float> statistics, bool averaged) override {
    std::lock_guard lock(mutex_);
    const uint8_t flags = averaged ? kFetchWeights | kFetchAverage : kFetchWeights;
    for (uint32_t s = 0; s < borders_.size(); ++s) {
      Update update;
      if (Status asked = ask(s, flags, MessageType::Update); !asked.ok()) return asked;
      if (Status bad = decode(message_, update); !bad.ok()) return bad;
      auto [first, end] = borders_[s];
      if (update.weights.size() != bytes_of(update.encoding, end - first))
        return {Code::Corrupt, fmt::format("shard {}: another number of weights", s)};
      unpack_numbers(update.encoding, update.weights.data(), weights.subspan(first, end - first));
      if (s > 0) continue;
      if (update.statistics.size() != statistics.size_bytes())
        return {Code::Corrupt, "the server sent another number of statistics"};
      unpack_numbers(Numbers::Fp32, update.statistics.data(), statistics);
    }
    return {};
  }

  std::vector<ServerChange> take_changes() override {
    std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

  void stop(const Status& outcome) override {
    std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
    Message message = encode(Stop{static_cast<uint8_t>(outcome.code()), outcome.message()});
    for (auto& server : servers_)
      if (server) (void)server->send(message);
    for (auto& server : servers_) {  // Ready: it has told its workers
      while (server && server->receive(message_, options_.peer_timeout).ok() &&
             message_.type != MessageType::Ready) {
      }
    }
  }

 private:
  static constexpr size_t kLimit = size_t{64} << 30;

  Hello hello() const {
    return {
        .role = Role::Chief, .index = options_.index, .job_digest = options_.job_digest, .epoch = map_.epoch};
  }

  // `own`: connects to the server of this process, if it is not null.
  std::vector<Answered> ask_all(uint64_t epoch, const std::function<std::unique_ptr<Link>()>& own) const {
    Hello hello = this->hello();
    hello.epoch = epoch;
    const Dial dial = [&](uint32_t server, Milliseconds patience) {
      return own && server == options_.index ? Result<std::unique_ptr<Link>>(own())
                                             : options_.dial(server, patience);
    };
    return poll(servers_.size(), dial, hello, options_.peer_timeout);
  }

  void share_with(Session& server) {
    if (!duties_.empty()) (void)server.send(encode(Stop{0, duties_}, MessageType::Duties));
  }

  bool lives(const std::unique_ptr<Session>& server) const { return server && server->health().ok(); }

  // Of the shard's primary, whichever that is. All below is called with the lock.
  Status ask(uint32_t shard, uint8_t flags, MessageType answer) {
    for (;;) {
      if (Status placed = replace_lost(); !placed.ok()) return placed;
      Session& primary = *servers_[static_cast<size_t>(map_.places[shard].primary)];
      Status got = primary.send(encode(Fetch{flags, shard}));
      if (got.ok()) got = expect(primary, answer, message_, {});
      if (got.ok() || primary.health().ok()) return got;
    }
  }

  // If a server was lost, decides the next map. With one server the loss ends the job.
  Status replace_lost() {
    if (!failed_.ok()) return failed_;
    return note_lost() ? decide({}) : failed_;
  }

  // Whether a server was lost since the last call.
  bool note_lost() {
    bool lost = false;
    for (uint32_t i = 0; i < servers_.size(); ++i) {
      if (!servers_[i] || lives(servers_[i])) continue;
      const Status why = servers_[i]->health();
      if (servers_.size() == 1) {
        failed_ = why;
        return false;
      }
      changes_.push_back({true, i, why.message(), servers_[i]->silent_seconds()});
      servers_[i].reset();
      lost = true;
    }
    return lost;
  }

  // Decides the next map for the servers that live, and tells it. `broken`: by shard, replicas that their
  // primaries have lost.
  Status decide(std::vector<bool> broken) {
    broken.resize(map_.places.size(), false);
    for (;;) {
      (void)note_lost();
      if (!failed_.ok()) return failed_;
      std::vector<bool> alive;
      map_.servers.clear();
      for (uint32_t i = 0; i < servers_.size(); ++i) {
        alive.push_back(servers_[i] != nullptr);
        if (alive.back()) map_.servers.push_back(i);
      }
      if (settled_.empty()) settled_ = map_.servers;
      if (!may_decide(settled_, map_.servers, own_server_))
        return failed_ = Status(Code::Lost, changes_text() + "the other servers may have another chief");
      Result<std::vector<Place>> places = next_places(map_.places, alive, broken, map_.epoch + 1);
      if (!places) return failed_ = Status(Code::Lost, changes_text() + places.status().message());
      ++map_.epoch;
      map_.places = std::move(*places);
      const Status told = tell_map();
      if (told.ok()) settled_ = map_.servers;
      if (told.ok()) return {};
      if (told.code() != Code::Retry) return failed_ = told;
    }
  }

  std::string changes_text() const { return changes_.empty() ? "" : changes_.back().text + "; "; }

  // Retry: a server was lost meanwhile.
  Status tell_map() {
    for (auto& server : servers_)
      if (server) (void)server->send(encode(map_));
    bool lost = false;
    for (auto& server : servers_) {
      if (!server) continue;
      message_.type = MessageType::Heartbeat;
      Status got = expect(*server, MessageType::Ready, message_, {});
      if (got.ok()) continue;
      if (message_.type == MessageType::Refuse || server->health().ok() || map_.epoch == 1) return got;
      lost = true;
    }
    return lost ? Status(Code::Retry, "a server was lost") : Status();
  }

  // ---- The thread that replaces lost servers, also while nobody asks for anything.

  void look_after_servers() {
    if (servers_.size() > 1) keeper_ = std::thread([this] { look_after(); });
  }

  void look_after() {
    Clock::time_point dial_at = Clock::now() + kDialEvery;
    std::unique_lock lock(mutex_);
    while (!over_) {
      changed_.wait_for(lock, kLookAfter, [this] { return over_; });
      if (over_ || !replace_lost().ok()) continue;
      if (const std::vector<bool> broken = lost_replicas(); std::ranges::find(broken, true) != broken.end())
        (void)decide(broken);
      if (!options_.dial || Clock::now() < dial_at) continue;
      dial_at = Clock::now() + kDialEvery;
      for (uint32_t i = 0; i < servers_.size() && !over_; ++i)
        if (!servers_[i]) dial(i, lock);
    }
  }

  std::vector<bool> lost_replicas() {
    std::vector<bool> out(map_.places.size(), false);
    for (uint32_t s = 0; s < map_.places.size(); ++s) {
      Report report;
      if (!ask(s, kFetchReport, MessageType::Report).ok() || !decode(message_, report).ok()) return {};
      out[s] = report.replica == Replica::Lost;
    }
    return out;
  }

  // A server that was lost may have been started again.
  void dial(uint32_t index, std::unique_lock<std::mutex>& lock) {
    const Hello hello = this->hello();
    lock.unlock();
    std::unique_ptr<Session> session;
    if (Result<std::unique_ptr<Link>> link = options_.dial(index, kDialLost); link.ok())
      session = std::make_unique<Session>(std::move(*link), options_.peer_timeout);
    Message answer;
    const bool ready = session && session->send(encode(hello)).ok() &&
                       session->receive(answer, kDialLost).ok() && answer.type == MessageType::Map;
    lock.lock();
    if (!ready || over_) return;
    session->set_limit(kLimit);
    share_with(*session);
    changes_.push_back({false, index, session->name(), 0});
    servers_[index] = std::move(session);
    (void)decide({});
  }

  const ClientOptions options_;
  const std::optional<uint32_t> own_server_;  // the chief is in its process
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Session>> servers_;  // null: lost
  Borders borders_;
  ShardMap map_;
  std::vector<uint64_t> settled_;  // the servers of the last map that all of them took
  std::string duties_;
  std::vector<ServerChange> changes_;
  Status failed_;
  Message message_;
  bool over_ = false;
  std::thread keeper_;
};

}  // namespace

Result<std::unique_ptr<ChiefClient>> ChiefClient::connect(const ClientOptions& options,
                                                          const Connector& connector) {
  auto chief = std::make_unique<Chief>(options);
  if (Status connected = chief->connect(connector); !connected.ok()) return connected;
  return std::unique_ptr<ChiefClient>(std::move(chief));
}

Result<std::unique_ptr<ChiefClient>> ChiefClient::take_over(
    const ClientOptions& options, const ShardMap& map, uint64_t attempt, bool separate,
    const std::function<std::unique_ptr<Link>()>& own) {
  auto chief = std::make_unique<Chief>(options);
  if (Status taken = chief->take_over(map, attempt, separate, own); !taken.ok()) {
    if (taken.code() != Code::Retry) chief->stop(taken);
    return taken;
  }
  return std::unique_ptr<ChiefClient>(std::move(chief));
}

bool ChiefClient::has_begun(const ClientOptions& options) { return Chief(options).has_begun(); }

}  // namespace radl::engine::cluster
