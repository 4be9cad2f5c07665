#include "engine/cluster/message.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/cluster/archive.h"

namespace radl::engine::cluster {

template <>
inline constexpr size_t kLeastBytes<Run> = 29;
template <>
inline constexpr size_t kLeastBytes<std::vector<float>> = 8;
template <>
inline constexpr size_t kLeastBytes<MemberReport> = 26;
template <>
inline constexpr size_t kLeastBytes<Seat> = 16;
template <>
inline constexpr size_t kLeastBytes<Place> = 16;
template <>
inline constexpr size_t kLeastBytes<std::string> = 4;
template <>
inline constexpr size_t kLeastBytes<WorkerBook> = 98;

// What each message and part holds, in the order in which it travels (docs/wire.md). The large numbers of
// Push, Update and Block follow these fields.
template <class A, Is<Hello> M>
void fields(A& a, M& m) {
  a(m.role), a(m.index), a(m.incarnation), a(m.job_digest), a(m.parameters), a(m.statistics);
  a(m.epoch), a(m.address), a(m.shard);
}
template <class A, Is<Place> M>
void fields(A& a, M& m) {
  a(m.primary), a(m.replica), a(m.since);
}
template <class A, Is<ShardMap> M>
void fields(A& a, M& m) {
  a(m.epoch), a(m.places), a(m.servers);
}
template <class A, Is<Welcome> M>
void fields(A& a, M& m) {
  a(m.shard), a(m.shards), a(m.first), a(m.count), a(m.parameters), a(m.statistics), a(m.norms), a(m.map);
}
template <class A, Is<Refuse> M>
void fields(A& a, M& m) {
  a(m.code), a(m.text);
}
template <class A, Is<Run> M>
void fields(A& a, M& m) {
  a(m.begin), a(m.end), a(m.decays), a(m.decay), a(m.rate), a(m.rows);
}
template <class A, Is<OptimizerConfig> M>
void fields(A& a, M& m) {
  for_settings(m, [&a](const char*, auto& setting, auto...) { a(setting); });
}
template <class A, Is<OptimizerPlan> M>
void fields(A& a, M& m) {
  a(m.config), a(m.size), a(m.runs);
}
template <class A, Is<AverageConfig> M>
void fields(A& a, M& m) {
  a(m.kind), a(m.decay), a(m.from);
}
template <class A, Is<TrainingState> M>
void fields(A& a, M& m) {
  a(m.next), a(m.again), a(m.version), a(m.weights), a(m.statistics), a(m.average), a(m.averaged);
  a(m.optimizer_steps), a(m.optimizer);
}
template <class A, Is<Init> M>
void fields(A& a, M& m) {
  a(m.shard), a(m.shards), a(m.first), a(m.count), a(m.parameters), a(m.batches);
  a(m.optimizer), a(m.average), a(m.keep), a(m.state);
}
template <class A, Is<Fetch> M>
void fields(A& a, M& m) {
  a(m.flags), a(m.shard);
}
template <class A, Is<Assignment> M>
void fields(A& a, M& m) {
  a(m.finished), a(m.ticket), a(m.round), a(m.then), a(m.participants);
}
template <class A, Is<Push> M>
void fields(A& a, M& m) {
  a(m.version), a(m.ticket), a(m.round), a(m.participants);
  a(m.rate), a(m.loss), a(m.correct), a(m.images), a(m.updates), a(m.squares);
  a(m.sequence), a(m.encoding);
}
template <class A, Is<Update> M>
void fields(A& a, M& m) {
  a(m.version), a(m.assignment), a(m.encoding);
}
template <class A, Is<MemberReport> M>
void fields(A& a, M& m) {
  a(m.role), a(m.index), a(m.state), a(m.steps), a(m.seconds_silent), a(m.text);
}
template <class A, Is<Report> M>
void fields(A& a, M& m) {
  a(m.version), a(m.tickets_done), a(m.tickets), a(m.images), a(m.correct);
  a(m.loss_sum), a(m.steps), a(m.staleness_sum), a(m.failure), a(m.members), a(m.replica);
}
template <class A, Is<WorkerBook> M>
void fields(A& a, M& m) {
  a(m.worker), a(m.incarnation), a(m.sequence), a(m.clock), a(m.asked), a(m.waiting), a(m.assigned);
  a(m.assignment), a(m.reserved), a(m.report);
}
template <class A, Is<Book> M>
void fields(A& a, M& m) {
  a(m.version), a(m.next_round), a(m.rounds_applied), a(m.has_squares), a(m.squares), a(m.sums);
  a(m.next), a(m.free), a(m.workers);
}
template <class A, Is<Entry> M>
void fields(A& a, M& m) {
  a(m.number), a(m.complete), a(m.applies), a(m.rate), a(m.scale), a(m.newest), a(m.digest), a(m.book);
  a(m.encoding);
}
template <class A, Is<Copied> M>
void fields(A& a, M& m) {
  a(m.number);
}
template <class A, Is<RingNote> M>
void fields(A& a, M& m) {
  a(m.rank), a(m.steps), a(m.correct), a(m.images), a(m.loss), a(m.code);
}
template <class A, Is<Block> M>
void fields(A& a, M& m) {
  a(m.exchange), a(m.bucket), a(m.hop), a(m.note), a(m.encoding);
}
template <class A, Is<Piece> M>
void fields(A& a, M& m) {
  a(m.exchange), a(m.hop), a(m.bytes);
}
template <class A, Is<Norm> M>
void fields(A& a, M& m) {
  a(m.round), a(m.squares);
}
template <class A, Is<Seat> M>
void fields(A& a, M& m) {
  a(m.index), a(m.incarnation), a(m.address);
}
template <class A, Is<View> M>
void fields(A& a, M& m) {
  a(m.epoch), a(m.members), a(m.direct), a(m.hand_over), a(m.source);
}
template <class A, Is<Border> M>
void fields(A& a, M& m) {
  a(m.epoch), a(m.done), a(m.fresh), a(m.silent);
}
template <class A, Is<Stop> M>
void fields(A& a, M& m) {
  a(m.code), a(m.text);
}

namespace {

template <class M>
Message write_message(MessageType type, const M& m, size_t expected = 0) {
  Message out{type, {}};
  out.payload.reserve(expected);
  Writer w(out.payload);
  fields(w, m);
  return out;
}

// Into a buffer that is kept, with the numbers of a step behind the fields.
template <class M>
void write_message(MessageType type, const M& m, std::span<const float> numbers,
                   std::span<const float> statistics, Message& out) {
  out.type = type;
  out.payload.clear();
  Writer w(out.payload);
  fields(w, m);
  w.packed(m.encoding, numbers);
  w.packed(Numbers::Fp32, statistics);
}

Status finish_reading(const Message& message, const Reader& r) {
  if (r.ok() && r.at_end()) return {};
  return {Code::Corrupt,
          fmt::format("a {} message is {}", type_name(message.type), r.ok() ? "too long" : "malformed")};
}

Status expect_type(const Message& message, MessageType type) {
  if (message.type == type) return {};
  return {Code::Corrupt,
          fmt::format("got a {} message where {} was expected", type_name(message.type), type_name(type))};
}

template <class M>
Status read_message(const Message& message, MessageType type, M& out) {
  if (Status s = expect_type(message, type); !s.ok()) return s;
  Reader r(message.payload);
  fields(r, out);
  return finish_reading(message, r);
}

template <class M>
Status read_message(const Message& message, MessageType type, M& out, std::string_view& numbers,
                    std::string_view& statistics) {
  if (Status s = expect_type(message, type); !s.ok()) return s;
  Reader r(message.payload);
  fields(r, out);
  numbers = r.packed(out.encoding);
  statistics = r.packed(Numbers::Fp32);
  return finish_reading(message, r);
}

size_t size_of(const TrainingState& s) {
  return 1024 + 4 * (s.weights.size() * (1 + s.optimizer.size()) + s.average.size() + s.statistics.size());
}

}  // namespace

std::string_view role_name(Role role) {
  return role == Role::Chief ? "chief" : role == Role::Server ? "ps" : "worker";
}

std::string_view type_name(MessageType type) {
  static constexpr std::string_view names[] = {"?",      "Heartbeat", "Hello", "Welcome", "Refuse", "Init",
                                               "Ready",  "Fetch",     "Push",  "Update",  "State",  "Report",
                                               "Stop",   "Leave",     "Block", "Norm",    "Border", "View",
                                               "Freeze", "Duties",    "Piece", "Map",     "Entry",  "Copied"};
  size_t at = static_cast<size_t>(type);
  return at < std::size(names) ? names[at] : names[0];
}

void write_header(MessageType type, uint64_t length, char out[kHeaderSize]) {
  uint16_t kind = static_cast<uint16_t>(type), version = kWireVersion;
  std::memset(out, 0, kHeaderSize);
  std::memcpy(out, &kind, 2);
  std::memcpy(out + 2, &version, 2);
  std::memcpy(out + 8, &length, 8);
}

Status read_header(const char header[kHeaderSize], size_t limit, MessageType& type, uint64_t& length) {
  uint16_t kind, version;
  uint32_t reserved;
  std::memcpy(&kind, header, 2);
  std::memcpy(&version, header + 2, 2);
  std::memcpy(&reserved, header + 4, 4);
  std::memcpy(&length, header + 8, 8);
  if (version != kWireVersion) {
    return {Code::Corrupt, fmt::format("a message of wire version {}, this program speaks version {}",
                                       version, kWireVersion)};
  }
  if (kind < static_cast<uint16_t>(MessageType::Heartbeat) ||
      kind > static_cast<uint16_t>(MessageType::Copied) || reserved != 0) {
    return {Code::Corrupt, fmt::format("a message of unknown type {}", kind)};
  }
  if (length > limit) {
    return {Code::Corrupt, fmt::format("a message of {} bytes, the limit here is {}", length, limit)};
  }
  type = static_cast<MessageType>(kind);
  return {};
}

Message encode(const Hello& m) { return write_message(MessageType::Hello, m); }
Message encode(const Welcome& m) { return write_message(MessageType::Welcome, m); }
Message encode(const Refuse& m) { return write_message(MessageType::Refuse, m); }
Message encode(const Init& m) { return write_message(MessageType::Init, m, size_of(m.state)); }
Message encode(const Fetch& m) { return write_message(MessageType::Fetch, m); }
Message encode(const TrainingState& m) { return write_message(MessageType::State, m, size_of(m)); }
Message encode(const Report& m) { return write_message(MessageType::Report, m); }
Message encode(const Piece& m) { return write_message(MessageType::Piece, m); }
Message encode(const Norm& m) { return write_message(MessageType::Norm, m); }
Message encode(const Border& m) { return write_message(MessageType::Border, m); }
Message encode(const ShardMap& m) { return write_message(MessageType::Map, m); }
Message encode(const Copied& m) { return write_message(MessageType::Copied, m); }
Message encode(const View& m, MessageType type) { return write_message(type, m); }
Message encode(const Stop& m, MessageType type) { return write_message(type, m); }

void encode(const Push& m, std::span<const float> gradients, std::span<const float> statistics,
            Message& out) {
  write_message(MessageType::Push, m, gradients, statistics, out);
}
void encode(const Update& m, std::span<const float> weights, std::span<const float> statistics,
            Message& out) {
  write_message(MessageType::Update, m, weights, statistics, out);
}
void encode(const Block& m, std::span<const float> numbers, std::span<const float> statistics, Message& out) {
  write_message(MessageType::Block, m, numbers, statistics, out);
}

void encode(const Entry& m, size_t count, std::span<const float> statistics, Message& out) {
  out.type = MessageType::Entry;
  out.payload.clear();
  Writer w(out.payload);
  fields(w, m);
  w.packed_already(count, m.numbers);
  w.packed(Numbers::Fp32, statistics);
}

Status decode(const Message& m, Hello& out) { return read_message(m, MessageType::Hello, out); }
Status decode(const Message& m, Welcome& out) { return read_message(m, MessageType::Welcome, out); }
Status decode(const Message& m, Refuse& out) { return read_message(m, MessageType::Refuse, out); }
Status decode(const Message& m, Init& out) { return read_message(m, MessageType::Init, out); }
Status decode(const Message& m, Fetch& out) { return read_message(m, MessageType::Fetch, out); }
Status decode(const Message& m, TrainingState& out) { return read_message(m, MessageType::State, out); }
Status decode(const Message& m, Report& out) { return read_message(m, MessageType::Report, out); }
Status decode(const Message& m, Piece& out) { return read_message(m, MessageType::Piece, out); }
Status decode(const Message& m, Norm& out) { return read_message(m, MessageType::Norm, out); }
Status decode(const Message& m, Border& out) { return read_message(m, MessageType::Border, out); }
Status decode(const Message& m, ShardMap& out) { return read_message(m, MessageType::Map, out); }
Status decode(const Message& m, Copied& out) { return read_message(m, MessageType::Copied, out); }
Status decode(const Message& m, Entry& out) {
  return read_message(m, MessageType::Entry, out, out.numbers, out.statistics);
}
Status decode(const Message& m, View& out) {
  return read_message(m, m.type == MessageType::Freeze ? MessageType::Freeze : MessageType::View, out);
}
Status decode(const Message& m, Push& out) {
  return read_message(m, MessageType::Push, out, out.gradients, out.statistics);
}
Status decode(const Message& m, Update& out) {
  return read_message(m, MessageType::Update, out, out.weights, out.statistics);
}
Status decode(const Message& m, Block& out) {
  return read_message(m, MessageType::Block, out, out.numbers, out.statistics);
}
Status decode(const Message& m, Stop& out) {
  const bool other = m.type == MessageType::Leave || m.type == MessageType::Duties;
  return read_message(m, other ? m.type : MessageType::Stop, out);
}

}  // namespace radl::engine::cluster
