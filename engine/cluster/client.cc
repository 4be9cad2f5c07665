// What a worker does with the servers' links.
//
// Each shard has a link of its own, to its primary. If that is lost, the worker looks for the shard's new
// primary and repeats what it had said; the number of its push tells the server whether it has it already.
#include "engine/cluster/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>

#include "common/digest.h"
#include "engine/cluster/codec.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kDialServer{2000}, kBetweenDials{100},
    kLeastSearch{15000};  // for a new primary: a server may have to take over from the chief first

class Worker : public WorkerClient, private Exchange {
 public:
  explicit Worker(const ClientOptions& options)
      : options_(options), codec_(Codec::make({.numbers = options.gradients})) {
    std::memcpy(&incarnation_, random_bytes(8).data(), 8);
  }

  Status connect(const Connector& connector) {
    parts_.resize(options_.shards);
    if (!can_move()) dial_ = [connector](uint32_t server, Milliseconds) { return connector(server); };
    for (uint32_t s = 0; s < options_.shards; ++s) {
      if (Status found = find(s, options_.start_timeout); !found.ok()) return found;
    }
    return check_parts();
  }

  Result<Assignment> begin(std::span<float> weights, std::span<float> statistics) override {
    step_ = nullptr;
    for (uint32_t s = 0; s < parts_.size(); ++s) {
      if (Status asked = ask(s, true); !asked.ok()) return asked;
    }
    return collect(weights, statistics);
  }

  void begin_push(Contribution& gradients) override {
    ++sequence_;
    feeding_ = std::async(std::launch::async, [this, &gradients] { return codec_->sum(*this, gradients); });
  }

  Result<Assignment> push(const StepOutcome& step, std::span<float> weights,
                          std::span<float> statistics) override {
    step_ = &step;
    Contribution whole(step.gradients, {});
    if (!feeding_.valid()) begin_push(whole);
    if (Status fed = feeding_.get(); !fed.ok()) return fed;
    norm_.reset();
    own_norm_ = norms() == Norms::InPush ? norm2(step.gradients) : 0;
    for (uint32_t s = 0; s < parts_.size(); ++s) {
      if (Status asked = ask(s, false); !asked.ok()) return asked;
    }
    if (norms() == Norms::OfRound) {
      if (Status told = add_norms(); !told.ok()) return told;
    }
    return collect(weights, statistics);
  }

  Traffic traffic() const override {
    Traffic sum = past_;
    for (const Part& part : parts_)
      if (part.session) sum = together(sum, part.session->traffic());
    return sum;
  }

  void leave(const Status& why) override {
    for (Part& part : parts_) {
      if (part.session)
        (void)part.session->send(
            encode(Stop{static_cast<uint8_t>(why.code()), why.message()}, MessageType::Leave));
    }
  }

 private:
  struct Part {
    std::unique_ptr<Session> session;
    Welcome welcome;
    uint64_t version = 0;  // of the weights that this worker has
  };

  bool can_move() const { return options_.dial && options_.shards > 1; }
  Norms norms() const { return parts_.front().welcome.norms; }

  Hello hello(uint32_t shard) const {
    return {.role = Role::Worker,
            .index = options_.index,
            .incarnation = incarnation_,
            .job_digest = options_.job_digest,
            .parameters = options_.parameters,
            .statistics = options_.statistics,
            .shard = shard};
  }

  Status take_welcome(uint32_t s) {
    Part& part = parts_[s];
    if (Status bad = decode(message_, part.welcome); !bad.ok()) return bad;
    const Welcome& w = part.welcome;
    if (w.shard != s || w.shards != options_.shards || w.parameters != options_.parameters ||
        w.count > w.parameters || w.first > w.parameters - w.count)
      return {Code::Corrupt, part.session->name() + ": its part of the model does not fit the others"};
    if (s == 0 && w.statistics != options_.statistics)
      return invalid(part.session->name() + ": has another number of statistics");
    part.session->set_limit((w.count + w.statistics) * 4 + kSmallMessage);
    if (w.map.epoch > map_.epoch) map_ = w.map;
    return {};
  }

  Status check_parts() const {
    uint64_t next = 0;
    for (const Part& part : parts_) {
      if (part.welcome.first != next || part.welcome.norms != norms())
        return {Code::Corrupt, part.session->name() + ": its part of the model does not fit the others"};
      next += part.welcome.count;
    }
    if (next == options_.parameters) return {};
    return {Code::Corrupt, "the servers' parts do not make up the model"};
  }

  // ---- Finding the primary of a shard.

  // The primary by the newest map that this worker knows, then the other servers, which may know a newer one.
  std::vector<uint32_t> candidates(uint32_t shard) const {
    std::vector<uint32_t> out;
    const auto add = [&out](int64_t server) {
      if (server >= 0 && std::ranges::find(out, server) == out.end())
        out.push_back(static_cast<uint32_t>(server));
    };
    if (shard < map_.places.size()) add(map_.places[shard].primary), add(map_.places[shard].replica);
    for (uint32_t i = 0; i < options_.shards; ++i) add((shard + i) % options_.shards);
    return out;
  }

  Status find(uint32_t shard, Milliseconds patience) {
    const Clock::time_point end = Clock::now() + patience;
    if (parts_[shard].session) past_ = together(past_, parts_[shard].session->traffic());
    parts_[shard].session.reset();
    for (;;) {
      Status last;
      for (uint32_t server : candidates(shard)) {
        const uint64_t known = map_.epoch;
        Result<bool> found = try_server(shard, server, last);
        if (!found) return std::move(found).status();
        if (*found) return {};
        if (map_.epoch > known) break;  // the primary may be another one
      }
      if (options_.stop.asked()) return {Code::Cancelled, "interrupted"};
      if (Status over = ended_elsewhere(); !over.ok()) return over;
      if (Clock::now() + kBetweenDials >= end)
        return {Code::Lost, fmt::format("no server with shard {} can be reached: {}", shard, last.message())};
      std::this_thread::sleep_for(kBetweenDials);
    }
  }

  // False: the server is not the primary of the shard, or cannot be reached now; `why` says so.
  Result<bool> try_server(uint32_t shard, uint32_t server, Status& why) {
    Result<std::unique_ptr<Link>> link = dial_(server, kDialServer);
    if (!link) {
      const Code code = link.status().code();
      why = std::move(link).status().at(fmt::format("ps/{}", server));
      if (!can_move() || code == Code::Auth || code == Code::Invalid || code == Code::Corrupt) return why;
      return false;
    }
    auto session = std::make_unique<Session>(std::move(*link), options_.peer_timeout);
    session->set_limit(size_t{1} << 24);  // for a map of many servers
    why = session->send(encode(hello(shard)));
    if (why.ok()) why = session->receive(message_, options_.stop);
    if (why.code() == Code::Cancelled || (!why.ok() && !can_move())) return why;
    if (!why.ok()) return false;
    if (message_.type == MessageType::Map) {
      ShardMap map;
      if (Status bad = decode(message_, map); !bad.ok()) return bad;
      if (map.epoch > map_.epoch) map_ = std::move(map);
      why = Status(Code::Retry, session->name() + ": does not have the shard");
      return false;
    }
    if (message_.type != MessageType::Welcome) return ended_by(message_, session->name());
    parts_[shard].session = std::move(session);
    if (Status bad = take_welcome(shard); !bad.ok()) return bad;
    return true;
  }

  // What the server of another shard has said before its link ended: that the job is over, perhaps.
  Status ended_elsewhere() {
    for (Part& part : parts_) {
      if (!part.session || part.session->health().ok()) continue;
      while (part.session->receive(message_, Milliseconds(0)).ok()) {
        if (was_told()) return ended_by(message_, part.session->name());
      }
    }
    return {};
  }

  // ---- One exchange with all shards.

  // Sends the gradients to all servers side by side, each from the last bucket to the first.
  Status add(Numbers encoding, Contribution& own, std::span<float> residue) override {
    std::vector<std::future<void>> shards;
    for (Part& part : parts_)
      shards.push_back(std::async(std::launch::async, [&, this] { feed(part, encoding, own, residue); }));
    for (auto& shard : shards) shard.get();
    own.wait();
    return {};
  }
  Result<std::vector<std::string>> gather(std::string_view) override {
    return Status(Code::Internal, "servers take no bytes");
  }

  void feed(Part& part, Numbers encoding, Contribution& own, std::span<float> residue) {
    const size_t first = part.welcome.first, count = part.welcome.count, buckets = buckets_of(count, 1);
    const auto here = [&](std::span<float> all) { return all.subspan(first, count); };
    Message message;
    for (size_t k = 0; k < buckets; ++k) {
      const std::span<float> numbers = bucket_of(here(own.numbers()), k, buckets);
      own.wait_from(static_cast<size_t>(numbers.data() - own.numbers().data()));
      if (!own.status().ok()) return;  // push() does not follow
      if (!residue.empty()) round_with_residue(encoding, numbers, bucket_of(here(residue), k, buckets));
      const Block block{.exchange = sequence_, .bucket = static_cast<uint32_t>(k), .encoding = encoding};
      encode(block, numbers, {}, message);
      (void)part.session->send(message);  // if the server is lost, ask() repeats everything
    }
  }

  // Sends this worker's request of the exchange, a fetch or a push, to the primary of a shard. `whole`: with
  // the gradients, which a server that takes over has not got.
  Status ask(uint32_t s, bool whole) {
    Part& part = parts_[s];
    if (step_ == nullptr) {
      message_ = encode(Fetch{kFetchWeights | kFetchTicket, s});
    } else {
      encode_push(s, whole);
    }
    const Status sent = part.session->send(message_);
    // A server that ended the job may close the link before our send: what it said last matters more.
    return sent.ok() || sent.code() == Code::Lost ? Status() : sent;
  }

  void encode_push(uint32_t s, bool whole) {
    const Part& part = parts_[s];
    const StepOutcome& step = *step_;
    Push p;
    p.version = part.version;
    p.ticket = assignment_.ticket;
    p.round = assignment_.round;
    p.participants = assignment_.participants;
    p.rate = step.rate;
    p.loss = step.loss;
    p.correct = step.correct;
    p.images = step.images;
    p.updates = step.updates;
    p.squares = own_norm_ * own_norm_;
    p.sequence = sequence_;
    encode(p, step.gradients.subspan(part.welcome.first, whole ? part.welcome.count : 0),
           s == 0 ? step.statistics : std::span<const float>(), message_);
  }

  // The last message says why the job or this member's part in it ends.
  bool was_told() const { return message_.type == MessageType::Refuse || message_.type == MessageType::Stop; }

  // The next message from a shard, of this type. If its primary is lost, the new one is asked again.
  Status hear(uint32_t s, MessageType type) {
    for (;;) {
      message_.type = MessageType::Heartbeat;
      Status got = expect(*parts_[s].session, type, message_, options_.stop);
      // A server that has lost the chief says that the job is over, but only the chief may have lost it.
      if (got.ok() || got.code() != Code::Lost || !can_move()) return got;
      const bool told = was_told();
      if (Status found = find(s, std::max(3 * options_.peer_timeout, kLeastSearch)); !found.ok())
        return told ? got : found;
      if (Status asked = ask(s, true); !asked.ok()) return asked;
      if (norms() != Norms::OfRound || !norm_) continue;
      // It wants the norm of the round once more.
      message_.type = MessageType::Heartbeat;
      got = expect(*parts_[s].session, MessageType::Norm, message_, options_.stop);
      if (was_told()) return got;
      if (got.ok()) (void)parts_[s].session->send(encode(*norm_));
    }
  }

  // The servers wait for it with the round: all workers add up the same numbers in the same order.
  Status add_norms() {
    Norm sum{.round = assignment_.round};
    for (uint32_t s = 0; s < parts_.size(); ++s) {
      Norm part;
      if (Status got = hear(s, MessageType::Norm); !got.ok()) return got;
      if (Status bad = decode(message_, part); !bad.ok()) return bad;
      sum.squares += part.squares;
    }
    norm_ = sum;
    for (Part& part : parts_) (void)part.session->send(encode(sum));
    return {};
  }

  Result<Assignment> collect(std::span<float> weights, std::span<float> statistics) {
    Assignment next;  // hear() may have to repeat the push of the current one
    for (uint32_t s = 0; s < parts_.size(); ++s) {
      Part& part = parts_[s];
      Update update;
      if (Status got = hear(s, MessageType::Update); !got.ok()) return got;
      if (Status bad = decode(message_, update); !bad.ok()) return bad;
      size_t want = bytes_of(update.encoding, part.welcome.count);
      if (update.weights.size() != want)
        return Status(Code::Corrupt, part.session->name() + ": sent another number of weights");
      unpack_numbers(update.encoding, update.weights.data(),
                     weights.subspan(part.welcome.first, part.welcome.count));
      part.version = update.version;
      if (s > 0) continue;
      if (update.statistics.size() != statistics.size_bytes())
        return Status(Code::Corrupt, part.session->name() + ": sent another number of statistics");
      unpack_numbers(Numbers::Fp32, update.statistics.data(), statistics);
      next = update.assignment;
    }
    assignment_ = std::move(next);
    return assignment_;
  }

  const ClientOptions options_;
  Dial dial_ = options_.dial;
  uint64_t incarnation_ = 0;
  std::vector<Part> parts_;  // by shard
  ShardMap map_;
  Traffic past_;  // of links that are gone
  uint64_t sequence_ = 0;
  const std::shared_ptr<Codec> codec_;
  const StepOutcome* step_ = nullptr;  // of the exchange under way; null: it only asks for weights
  double own_norm_ = 0;
  std::optional<Norm> norm_;  // of the round, once it is known
  Assignment assignment_;
  Message message_;
  std::future<Status> feeding_;  // last member: its threads use those above
};

}  // namespace

Result<std::unique_ptr<WorkerClient>> WorkerClient::connect(const ClientOptions& options,
                                                            const Connector& connector) {
  auto worker = std::make_unique<Worker>(options);
  if (Status connected = worker->connect(connector); !connected.ok()) return connected;
  return std::unique_ptr<WorkerClient>(std::move(worker));
}

}  // namespace radl::engine::cluster
