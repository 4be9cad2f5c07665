#include "engine/cluster/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <thread>

#include "engine/cluster/chief_seat.h"
#include "engine/cluster/early_push.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/hosting.h"
#include "engine/cluster/lost.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {
namespace {

constexpr size_t kChiefLimit = size_t{64}
                               << 30;  // it has proved to know the key; memory grows with what arrives
constexpr Milliseconds kFarewell{2000};

class Server : public ParameterServer {
 public:
  Server(ServerOptions options, std::function<void(const ServerEvent&)> on_event)
      : options_(std::move(options)),
        on_event_(std::move(on_event)),
        seat_(options_.index, options_.separate_chief),
        hosting_(hosting_options(options_)) {}

  ~Server() override {
    stop(Status(Code::Cancelled, "the server ends"));
    if (acceptor_.joinable()) acceptor_.join();
    reap(true);
  }

  Status listen() {
    if (options_.address.empty()) return {};
    ListenOptions strangers;
    strangers.refused = [this](uint64_t count, const std::string& last) {
      event({.kind = "peer_refused", .text = last, .count = count});
    };
    Result<std::unique_ptr<Listener>> listener =
        listen_tcp(options_.address, options_.key, {Role::Server, options_.index}, std::move(strangers));
    if (!listener) return std::move(listener).status();
    listener_ = std::move(*listener);
    acceptor_ = std::thread([this] { accept(); });
    return {};
  }

  std::unique_ptr<Link> local_link(Identity peer) override {
    auto [near, far] = make_memory_links({Role::Server, options_.index}, peer, false);
    serve_in_thread(std::move(near));
    return std::move(far);
  }

  std::string address() const override { return listener_ ? listener_->address() : ""; }

  Status wait(const radl::Stop& stop) override {
    std::unique_lock lock(mutex_);
    Clock::time_point end = Clock::now() + options_.start_timeout;
    while (!over_) {
      if (stop.asked()) return {Code::Cancelled, "interrupted"};
      if (!seat_.seen() && Clock::now() >= end) {
        return {Code::Timeout, fmt::format("the chief did not appear within {:.0f} s",
                                           static_cast<double>(options_.start_timeout.count()) / 1000)};
      }
      if (const std::optional<Status> why = seat_.given_up(options_.start_timeout); why) {
        lock.unlock();
        this->stop(*why);
        return *why;
      }
      if (options_.may_lead && seat_.has_turn(hosting_.map()) && options_.may_lead(seat_.duties))
        return {Code::Retry, "the chief is lost"};
      changed_.wait_for(lock, Milliseconds(100));
    }
    return outcome_;
  }

  ShardMap map() const override { return hosting_.map(); }

  std::string duties() const override {
    std::lock_guard lock(mutex_);
    return seat_.duties;
  }

  void stop(const Status& outcome) override {
    std::vector<std::shared_ptr<Session>> sessions;
    {
      std::lock_guard lock(mutex_);
      if (over_) return;
      over_ = true;
      outcome_ = outcome;
      for (auto& [worker, session] : workers_) sessions.push_back(session);
      changed_.notify_all();
    }
    if (listener_) listener_->close();
    Message message = encode(Stop{static_cast<uint8_t>(outcome.code()), outcome.message()});
    for (auto& session : sessions) (void)session->send(message);
    hosting_.stop(outcome.ok() ? Status(Code::Cancelled, "the job is finished") : outcome);
    std::unique_lock lock(mutex_);  // workers hang up when they have read it; those that do not are cut off
    changed_.wait_for(lock, kFarewell, [&] { return workers_.empty(); });
    std::vector<std::shared_ptr<Session>> rest;  // also who has not said Hello yet
    for (Served& served : served_) {
      if (std::shared_ptr<Session> session = served.session.lock(); session && session != seat_.session())
        rest.push_back(std::move(session));
    }
    if (seat_.session()) rest.push_back(seat_.session());
    lock.unlock();
    for (auto& session : rest) session->close();
  }

 private:
  static HostingOptions hosting_options(const ServerOptions& options) {
    return {.index = options.index,
            .job_digest = options.job_digest,
            .shard = options.shard,
            .peer_timeout = options.peer_timeout,
            .dial = options.dial};
  }

  // A member, from its first message to its last.
  struct Served {
    std::thread thread;
    std::weak_ptr<Session> session;
    std::atomic<bool> ended = false;
  };

  void event(ServerEvent e) {
    if (on_event_) on_event_(e);
  }

  void accept() {
    for (;;) {
      Result<std::unique_ptr<Link>> link = listener_->accept(Milliseconds(500));
      reap(false);
      if (link.status().code() == Code::Cancelled) return;
      if (link.ok()) {
        serve_in_thread(std::move(*link));
      } else if (link.status().code() != Code::Timeout) {  // out of descriptors: those that are here go on
        std::this_thread::sleep_for(Milliseconds(100));
      }
    }
  }

  void serve_in_thread(std::unique_ptr<Link> link) {
    auto lost = std::make_shared<Lost>();
    auto session =
        std::make_shared<Session>(std::move(link), options_.peer_timeout,
                                  [lost](const Status& s, double silent) { lost->tell(s, silent); });
    std::lock_guard lock(mutex_);
    if (over_) return;
    Served& served = served_.emplace_back();
    served.session = session;
    served.thread = std::thread([this, &served, session = std::move(session), lost]() mutable {
      greet(session, lost);
      session.reset();
      served.ended = true;
    });
  }

  void reap(bool all) {
    std::list<Served> done;
    {
      std::lock_guard lock(mutex_);
      for (auto it = served_.begin(); it != served_.end();) {
        auto next = std::next(it);
        if (all || it->ended) done.splice(done.end(), served_, it);
        it = next;
      }
    }
    for (Served& s : done) s.thread.join();
  }

  // Reads Hello and goes on by role.
  void greet(const std::shared_ptr<Session>& session, const std::shared_ptr<Lost>& lost) {
    Identity peer = session->peer();
    Message message;
    Hello hello;
    // The chief in this process may read its data first.
    Status got = session->may_fall_silent() ? session->receive(message, options_.peer_timeout)
                                            : session->receive(message, radl::Stop());
    if (got.ok()) got = decode(message, hello);
    if (got.ok() && (hello.role != peer.role || hello.index != peer.index))
      got = Status(Code::Corrupt, "sends Hello with another identity");
    if (got.ok() && hello.job_digest != options_.job_digest) {
      got = invalid("belongs to another job, or has another version of this job's file");
    }
    if (!got.ok()) return refuse(*session, got);
    if (hello.role == Role::Chief) return serve_chief(session, lost, hello);
    if (hello.role == Role::Server) return serve_primary(*session, hello);
    serve_worker(session, lost, hello);
  }

  // Another server, whose shard is replicated here.
  void serve_primary(Session& session, const Hello& hello) {
    session.set_limit(kChiefLimit);
    const Status ended = hosting_.follow(session, hello);
    if (ended.code() == Code::Corrupt)
      event({.kind = "replica_differs", .peer = fmt::format("ps/{}", hello.index), .text = ended.message()});
    if (session.health().ok()) refuse(session, ended);
  }

  void refuse(Session& session, const Status& why) {
    event({.kind = "peer_refused", .peer = session.name(), .text = why.message()});
    send_last(session, refusal(why));
  }

  void serve_chief(const std::shared_ptr<Session>& session, const std::shared_ptr<Lost>& lost,
                   const Hello& hello) {
    const ShardMap map = hosting_.map();
    Status admitted;
    {
      std::lock_guard lock(mutex_);
      admitted = seat_.admit(session, hello, map);
    }
    if (!admitted.ok()) return send_last(*session, refusal(admitted));
    if (hello.epoch == kQuestion) return send_last(*session, encode(map));
    session->set_limit(kChiefLimit);
    (void)session->send(hello.epoch == 0 ? Message{MessageType::Ready, {}} : encode(map));
    Message message;
    Status ended;
    while (ended.ok()) {
      ended = session->receive(message, radl::Stop());
      if (ended.ok()) ended = answer_chief(*session, message);
    }
    lost->set({});
    lose_chief(ended, hello.epoch == 0);
  }

  // Without a map there is nothing to continue. `first`: it was the job's first chief.
  void lose_chief(const Status& why, bool first) {
    const ShardMap map = hosting_.map();
    std::string name;
    {
      std::lock_guard lock(mutex_);
      if (over_) return;
      name = seat_.lose(why, first, map);
    }
    if (name.empty()) return;
    event({.kind = "chief_lost", .peer = name, .text = why.message()});
    if (!options_.may_lead || map.epoch == 0)
      stop(Status(Code::Lost, "the chief was lost: " + why.message()));
  }

  Status answer_chief(Session& session, const Message& message) {
    if (message.type == MessageType::Stop || message.type == MessageType::Leave) {
      Stop stop_message;
      if (Status bad = decode(message, stop_message); !bad.ok()) return bad;
      Code code = static_cast<Code>(stop_message.code);
      stop(code == Code::Ok ? Status() : Status(code, stop_message.text));
      (void)session.send(Message{MessageType::Ready, {}});
      return {Code::Cancelled, "the job is over"};
    }
    if (message.type == MessageType::Duties) {
      Stop duties;
      if (Status bad = decode(message, duties); !bad.ok()) return bad;
      std::lock_guard lock(mutex_);
      seat_.duties = std::move(duties.text);
      return {};
    }
    const Status obeyed = hosting_.obey(session, message);
    if (message.type == MessageType::Map) {
      std::lock_guard lock(mutex_);
      if (const std::string back = seat_.took_map(hosting_.map()); !back.empty())
        event({.kind = "chief_back", .peer = back});
      changed_.notify_all();
    }
    return obeyed;
  }

  // Waits for the chief's map; heartbeats keep the worker patient. Null: another server has the shard.
  Result<std::shared_ptr<Shard>> wait_for_shard(Session& session, uint32_t shard) {
    std::unique_lock lock(mutex_);
    Clock::time_point end = Clock::now() + options_.start_timeout;
    while (hosting_.map().epoch == 0 && !over_) {
      changed_.wait_for(lock, Milliseconds(50));
      if (Status gone = session.health(); !gone.ok()) return gone;
      if (Clock::now() >= end) return Status(Code::Timeout, "the chief did not appear");
    }
    if (over_) return outcome_.ok() ? Status(Code::Cancelled, "the job is over") : outcome_;
    return hosting_.primary(shard);
  }

  void serve_worker(const std::shared_ptr<Session>& session, const std::shared_ptr<Lost>& lost,
                    const Hello& hello) {
    Result<std::shared_ptr<Shard>> shard = wait_for_shard(*session, hello.shard);
    if (!shard) return refuse(*session, shard.status());
    if (!*shard) return send_last(*session, encode(hosting_.map()));
    Welcome welcome = (*shard)->welcome();
    welcome.map = hosting_.map();
    if (hello.parameters != welcome.parameters) {
      return refuse(*session, invalid(fmt::format("has a model of {} parameters, the job's has {}",
                                                  hello.parameters, welcome.parameters)));
    }
    std::shared_ptr<Session> former;
    const std::pair key(hello.shard, hello.index);
    {
      std::lock_guard lock(mutex_);
      if (over_) return;
      std::swap(former, workers_[key]);
      workers_[key] = session;
    }
    if (former) former->close();  // this worker was restarted
    uint64_t pass = (*shard)->join(hello.index, hello.incarnation);
    session->set_limit(welcome.count * 4 + welcome.statistics * 4 + kSmallMessage);
    event({"peer_joined", fmt::format("worker/{}", hello.index), session->name()});
    lost->set([shard = *shard, index = hello.index, pass](const Status& status, double silent) {
      shard->leave(index, pass, 2, silent, status.message());
    });
    Status ended = session->send(encode(welcome));
    Message message, reply;
    EarlyPush early{.numbers = std::vector<float>(welcome.count)};
    while (ended.ok()) {
      ended = session->receive(message, radl::Stop());
      if (ended.ok() && message.type == MessageType::Block)
        ended = early.take(message);
      else if (ended.ok())
        ended = answer_worker(*session, **shard, hello.index, pass, message, early, reply);
    }
    lost->set({});
    farewell(*session, **shard, hello.index, pass, ended);
    std::lock_guard lock(mutex_);
    if (auto found = workers_.find(key); found != workers_.end() && found->second == session)
      workers_.erase(found);
    changed_.notify_all();
  }

  Status answer_worker(Session& session, Shard& shard, uint32_t index, uint64_t pass, const Message& message,
                       const EarlyPush& early, Message& reply) {
    if (message.type == MessageType::Leave) {
      Stop leave;
      if (Status bad = decode(message, leave); !bad.ok()) return bad;
      return {Code::Cancelled, leave.text};
    }
    if (message.type == MessageType::Push) {
      Push push;
      if (Status bad = decode(message, push); !bad.ok()) return bad;
      early.complete(push);
      Result<std::optional<double>> pushed = shard.push(index, pass, push);
      if (!pushed) return std::move(pushed).status();
      if (*pushed) return session.send(encode(Norm{push.round, **pushed}));
    } else if (message.type == MessageType::Norm) {
      Norm norm;
      if (Status bad = decode(message, norm); !bad.ok()) return bad;
      if (Status applied = shard.norm(index, pass, norm); !applied.ok()) return applied;
    } else {
      Fetch fetch;
      if (Status bad = decode(message, fetch); !bad.ok()) return bad;
    }
    Result<Assignment> next = shard.next(index, pass);
    if (!next) return std::move(next).status();
    const uint64_t last = shard.read(*next, shard.weights_encoding(), reply, false, index);
    if (Status copied = shard.wait_copied(index, pass, last); !copied.ok()) return copied;
    return session.send(reply);
  }

  void farewell(Session& session, Shard& shard, uint32_t index, uint64_t pass, const Status& ended) {
    std::string peer = fmt::format("worker/{}", index);
    bool over;
    {
      std::lock_guard lock(mutex_);
      over = over_;
    }
    if (over) return;
    bool left = ended.code() == Code::Cancelled;
    // Who serves may notice the end before the call that `lost` makes: both tell the same.
    shard.leave(index, pass, left ? 1 : 2, left ? 0 : session.silent_seconds(), ended.message());
    event({left ? "peer_left" : "peer_lost", peer, ended.message(), 0});
    if (!left && session.health().ok())  // it sent what it must not: tell it before the link closes
      (void)session.send(refusal(ended));
  }

  ServerOptions options_;
  std::function<void(const ServerEvent&)> on_event_;
  std::unique_ptr<Listener> listener_;
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Served> served_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<Session>> workers_;  // by shard and index
  ChiefSeat seat_;
  bool over_ = false;
  Status outcome_;
  Hosting hosting_;
};

}  // namespace

Result<std::unique_ptr<ParameterServer>> ParameterServer::start(
    ServerOptions options, std::function<void(const ServerEvent&)> on_event) {
  auto server = std::make_unique<Server>(std::move(options), std::move(on_event));
  if (Status listening = server->listen(); !listening.ok()) return listening;
  return std::unique_ptr<ParameterServer>(std::move(server));
}

}  // namespace radl::engine::cluster
