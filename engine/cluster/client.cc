#include "engine/cluster/client.h"

#include <fmt/format.h>

#include <cstring>

#include "common/digest.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {
namespace {

using Sessions = std::vector<std::unique_ptr<Session>>;

Result<Sessions> open_sessions(const ClientOptions& options, Role role, const Connector& connector) {
  Sessions out;
  uint64_t incarnation = 0;
  std::string random = random_bytes(8);
  std::memcpy(&incarnation, random.data(), 8);
  for (uint32_t shard = 0; shard < options.shards; ++shard) {
    Result<std::unique_ptr<Link>> link = connector(shard);
    if (!link) return std::move(link).status().at(fmt::format("ps/{}", shard));
    out.push_back(std::make_unique<Session>(std::move(*link), options.peer_timeout));
    Hello hello{role, options.index, incarnation, options.job_digest, options.parameters, options.statistics};
    if (Status sent = out.back()->send(encode(hello)); !sent.ok()) return sent;
  }
  return out;
}

class Worker : public WorkerClient {
 public:
  Worker(const ClientOptions& options, Sessions sessions)
      : options_(options), sessions_(std::move(sessions)) {}

  Status welcome() {
    for (auto& session : sessions_) {
      Welcome w;
      if (Status got = expect(*session, MessageType::Welcome, message_, options_.stop); !got.ok()) return got;
      if (Status bad = decode(message_, w); !bad.ok()) return bad;
      uint64_t before = parts_.empty() ? 0 : parts_.back().first + parts_.back().count;
      bool fits = w.shard == parts_.size() && w.shards == options_.shards && w.first == before &&
                  w.parameters == options_.parameters && w.count <= w.parameters - w.first &&
                  (parts_.empty() || w.norms == parts_.front().norms);
      if (!fits) return {Code::Corrupt, session->name() + ": its part of the model does not fit the others"};
      if (w.shard == 0 && w.statistics != options_.statistics)
        return invalid(session->name() + ": has another number of statistics");
      session->set_limit((w.count + w.statistics) * 4 + kSmallMessage);
      parts_.push_back(w);
    }
    if (parts_.back().first + parts_.back().count != options_.parameters) {
      return {Code::Corrupt, "the servers' parts do not make up the model"};
    }
    return {};
  }

  Result<Assignment> begin(std::span<float> weights, std::span<float> statistics) override {
    for (auto& session : sessions_) {
      if (Status sent = session->send(encode(Fetch{kFetchWeights | kFetchTicket})); !sent.ok()) return sent;
    }
    return collect(weights, statistics);
  }

  Result<Assignment> push(const StepOutcome& step, std::span<float> weights,
                          std::span<float> statistics) override {
    const double norm = parts_.front().norms == Norms::InPush ? norm2(step.gradients) : 0;
    for (size_t s = 0; s < sessions_.size(); ++s) {
      Push p;
      p.version = versions_[s];
      p.ticket = assignment_.ticket;
      p.round = assignment_.round;
      p.participants = assignment_.participants;
      p.rate = step.rate;
      p.loss = step.loss;
      p.correct = step.correct;
      p.images = step.images;
      p.updates = step.updates;
      p.squares = norm * norm;
      p.encoding = options_.gradients;
      encode(p, step.gradients.subspan(parts_[s].first, parts_[s].count),
             s == 0 ? step.statistics : std::span<const float>(), message_);
      if (Status sent = sessions_[s]->send(message_); !sent.ok())
        return reason(*sessions_[s], std::move(sent));
    }
    if (parts_.front().norms == Norms::OfRound) {
      if (Status told = add_norms(); !told.ok()) return told;
    }
    return collect(weights, statistics);
  }

  Traffic traffic() const override {
    Traffic sum;
    for (const auto& session : sessions_) sum = together(sum, session->traffic());
    return sum;
  }

  void leave(const Status& why) override {
    for (auto& session : sessions_) {
      (void)session->send(encode(Stop{static_cast<uint8_t>(why.code()), why.message()}, MessageType::Leave));
    }
  }

 private:
  // A server that ended the job may close the link before our send: what it said last matters more.
  Status reason(Session& session, Status sent) {
    while (session.receive(message_, Milliseconds(0)).ok()) {
      if (message_.type == MessageType::Refuse || message_.type == MessageType::Stop)
        return ended_by(message_, session.name());
    }
    return sent;
  }

  // The servers wait for it with the round: all workers add up the same numbers in the same order.
  Status add_norms() {
    Norm sum{.round = assignment_.round};
    for (auto& session : sessions_) {
      Norm part;
      if (Status got = expect(*session, MessageType::Norm, message_, options_.stop); !got.ok()) return got;
      if (Status bad = decode(message_, part); !bad.ok()) return bad;
      sum.squares += part.squares;
    }
    for (auto& session : sessions_) {
      if (Status sent = session->send(encode(sum)); !sent.ok()) return reason(*session, std::move(sent));
    }
    return {};
  }

  Result<Assignment> collect(std::span<float> weights, std::span<float> statistics) {
    versions_.resize(sessions_.size());
    for (size_t s = 0; s < sessions_.size(); ++s) {
      Update update;
      if (Status got = expect(*sessions_[s], MessageType::Update, message_, options_.stop); !got.ok())
        return got;
      if (Status bad = decode(message_, update); !bad.ok()) return bad;
      size_t want = bytes_of(update.encoding, parts_[s].count);
      if (update.weights.size() != want)
        return Status(Code::Corrupt, sessions_[s]->name() + ": sent another number of weights");
      unpack_numbers(update.encoding, update.weights.data(),
                     weights.subspan(parts_[s].first, parts_[s].count));
      versions_[s] = update.version;
      if (s > 0) continue;
      if (update.statistics.size() != statistics.size_bytes())
        return Status(Code::Corrupt, sessions_[s]->name() + ": sent another number of statistics");
      unpack_numbers(Numbers::Fp32, update.statistics.data(), statistics);
      assignment_ = update.assignment;
    }
    return assignment_;
  }

  ClientOptions options_;
  Sessions sessions_;
  std::vector<Welcome> parts_;
  std::vector<uint64_t> versions_;
  Assignment assignment_;
  Message message_;
};

class Chief : public ChiefClient {
 public:
  Chief(const ClientOptions& options, Sessions sessions)
      : options_(options), sessions_(std::move(sessions)) {}

  Status ready() {
    for (auto& session : sessions_) {
      session->set_limit(size_t{64} << 30);
      if (Status got = expect(*session, MessageType::Ready, message_, options_.stop); !got.ok()) return got;
    }
    return {};
  }

  Status init(const Init& whole, const Borders& borders) override {
    borders_ = borders;
    for (uint32_t s = 0; s < sessions_.size(); ++s) {
      Result<Init> part = part_of(whole, s, borders);
      if (!part) return std::move(part).status();
      if (Status sent = sessions_[s]->send(encode(*part)); !sent.ok()) return sent;
    }
    for (auto& session : sessions_) {
      if (Status got = expect(*session, MessageType::Ready, message_, options_.stop); !got.ok()) return got;
    }
    return {};
  }

  Result<Report> report() override {
    if (Status alive = all_alive(); !alive.ok()) return alive;
    Report out;
    if (Status asked = ask(*sessions_[0], kFetchReport, MessageType::Report); !asked.ok()) return asked;
    if (Status bad = decode(message_, out); !bad.ok()) return bad;
    for (size_t s = 1; s < sessions_.size() && out.failure.empty(); ++s) {
      Report other;
      if (Status asked = ask(*sessions_[s], kFetchReport, MessageType::Report); !asked.ok()) return asked;
      if (Status bad = decode(message_, other); !bad.ok()) return bad;
      out.failure = other.failure;
    }
    return out;
  }

  Result<TrainingState> snapshot() override {
    TrainingState out;
    out.weights.resize(options_.parameters);
    for (size_t s = 0; s < sessions_.size(); ++s) {
      TrainingState part;
      if (Status asked = ask(*sessions_[s], kFetchSnapshot, MessageType::State); !asked.ok()) return asked;
      if (Status bad = decode(message_, part); !bad.ok()) return bad;
      const auto [first, end] = borders_[s];
      if (Status bad = put_part(std::move(part), first, end, out); !bad.ok())
        return std::move(bad).at(sessions_[s]->name());
    }
    return out;
  }

  Status weights(std::span<float> weights, std::span<float> statistics, bool averaged) override {
    const uint8_t flags = averaged ? kFetchWeights | kFetchAverage : kFetchWeights;
    for (size_t s = 0; s < sessions_.size(); ++s) {
      Update update;
      if (Status asked = ask(*sessions_[s], flags, MessageType::Update); !asked.ok()) return asked;
      if (Status bad = decode(message_, update); !bad.ok()) return bad;
      auto [first, end] = borders_[s];
      if (update.weights.size() != bytes_of(update.encoding, end - first))
        return {Code::Corrupt, sessions_[s]->name() + ": sent another number of weights"};
      unpack_numbers(update.encoding, update.weights.data(), weights.subspan(first, end - first));
      if (s > 0) continue;
      if (update.statistics.size() != statistics.size_bytes())
        return {Code::Corrupt, "the server sent another number of statistics"};
      unpack_numbers(Numbers::Fp32, update.statistics.data(), statistics);
    }
    return {};
  }

  void stop(const Status& outcome) override {
    Message message = encode(Stop{static_cast<uint8_t>(outcome.code()), outcome.message()});
    for (auto& session : sessions_) (void)session->send(message);
    for (auto& session : sessions_) {  // Ready: it has told its workers
      while (session->receive(message_, options_.peer_timeout).ok() && message_.type != MessageType::Ready) {
      }
    }
  }

 private:
  Status ask(Session& session, uint8_t flags, MessageType answer) {
    if (Status sent = session.send(encode(Fetch{flags})); !sent.ok()) return sent;
    return expect(session, answer, message_, {});
  }

  Status all_alive() const {
    for (auto& session : sessions_) {
      if (Status health = session->health(); !health.ok()) return health;
    }
    return {};
  }

  ClientOptions options_;
  Sessions sessions_;
  Borders borders_;
  Message message_;
};

}  // namespace

Result<std::unique_ptr<WorkerClient>> WorkerClient::connect(const ClientOptions& options,
                                                            const Connector& connector) {
  Result<Sessions> sessions = open_sessions(options, Role::Worker, connector);
  if (!sessions) return std::move(sessions).status();
  auto worker = std::make_unique<Worker>(options, std::move(*sessions));
  if (Status welcome = worker->welcome(); !welcome.ok()) return welcome;
  return std::unique_ptr<WorkerClient>(std::move(worker));
}

Result<std::unique_ptr<ChiefClient>> ChiefClient::connect(const ClientOptions& options,
                                                          const Connector& connector) {
  Result<Sessions> sessions = open_sessions(options, Role::Chief, connector);
  if (!sessions) return std::move(sessions).status();
  auto chief = std::make_unique<Chief>(options, std::move(*sessions));
  if (Status ready = chief->ready(); !ready.ok()) return ready;
  return std::unique_ptr<ChiefClient>(std::move(chief));
}

}  // namespace radl::engine::cluster
