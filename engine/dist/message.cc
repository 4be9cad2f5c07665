#include "engine/dist/message.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace radl::engine::dist {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian, and so must be the machine");

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view t) {
    put(static_cast<uint32_t>(t.size()));
    out_.append(t);
  }
  template <class T>
  void list(const std::vector<T>& values) {
    put(static_cast<uint64_t>(values.size()));
    out_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void numbers(Numbers encoding, std::span<const float> values) {
    put(static_cast<uint64_t>(values.size()));
    size_t at = out_.size();
    out_.resize(at + bytes_of(encoding, values.size()));
    pack_numbers(encoding, values, out_.data() + at);
  }

 private:
  std::string& out_;
};

// Reads what a Writer wrote. After the first thing that does not fit every read gives zeros, and ok() is
// false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  template <class T>
  void get(T& out) {
    out = get<T>();
  }
  bool flag() {
    uint8_t value = get<uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }
  std::string text() { return std::string(take(get<uint32_t>(), 1)); }
  template <class T>
  void list(std::vector<T>& out) {
    uint64_t count = get<uint64_t>();
    std::string_view bytes = take(count, sizeof(T));
    out.resize(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  }
  std::string_view numbers(Numbers encoding) {
    return take(get<uint64_t>(), encoding == Numbers::Fp32 ? 4 : 2);
  }
  Numbers encoding() {
    uint8_t value = get<uint8_t>();
    if (value > static_cast<uint8_t>(Numbers::Fp16)) fail();
    return static_cast<Numbers>(value);
  }
  Role role() {
    uint8_t value = get<uint8_t>();
    if (value > static_cast<uint8_t>(Role::Worker)) fail();
    return static_cast<Role>(value);
  }
  // How many elements of at least `least` bytes can still follow; bounds what a count may say.
  uint64_t count(size_t least) {
    uint64_t n = get<uint64_t>();
    if (n > rest_.size() / least) fail();
    return ok_ ? n : 0;
  }
  Status finish(const Message& message) const {
    if (ok_ && rest_.empty()) return {};
    return {Code::Corrupt,
            fmt::format("a {} message is {}", type_name(message.type), ok_ ? "too long" : "malformed")};
  }

 private:
  std::string_view take(uint64_t count, size_t size) {
    if (!ok_ || count > rest_.size() / size) {
      fail();
      return {};
    }
    std::string_view out = rest_.substr(0, count * size);
    rest_.remove_prefix(count * size);
    return out;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

Status expect(const Message& message, MessageType type) {
  if (message.type == type) return {};
  return {Code::Corrupt,
          fmt::format("got a {} message where {} was expected", type_name(message.type), type_name(type))};
}

void put(Writer& w, const TicketState& t) {
  w.put(t.total);
  w.put(t.next);
  w.list(t.again);
}

void get(Reader& r, TicketState& t) {
  r.get(t.total);
  r.get(t.next);
  r.list(t.again);
}

void put(Writer& w, const OptimizerState& s) {
  w.put(s.steps);
  w.put(static_cast<uint64_t>(s.vectors.size()));
  for (const std::vector<float>& v : s.vectors) w.list(v);
}

void get(Reader& r, OptimizerState& s) {
  r.get(s.steps);
  s.vectors.resize(r.count(8));
  for (std::vector<float>& v : s.vectors) r.list(v);
}

void put(Writer& w, const Assignment& a) {
  w.put(static_cast<uint8_t>(a.finished));
  w.put(a.ticket);
  w.put(a.round);
  w.list(a.participants);
}

void get(Reader& r, Assignment& a) {
  a.finished = r.flag();
  r.get(a.ticket);
  r.get(a.round);
  r.list(a.participants);
}

}  // namespace

std::string_view role_name(Role role) {
  return role == Role::Chief ? "chief" : role == Role::Server ? "ps" : "worker";
}

std::string_view type_name(MessageType type) {
  static constexpr std::string_view names[] = {"?",        "Heartbeat", "Hello", "Welcome", "Refuse",
                                               "Init",     "Ready",     "Fetch", "Push",    "Update",
                                               "Snapshot", "Report",    "Stop",  "Leave",   "Block"};
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
      kind > static_cast<uint16_t>(MessageType::Block) || reserved != 0) {
    return {Code::Corrupt, fmt::format("a message of unknown type {}", kind)};
  }
  if (length > limit) {
    return {Code::Corrupt, fmt::format("a message of {} bytes, the limit here is {}", length, limit)};
  }
  type = static_cast<MessageType>(kind);
  return {};
}

Message encode(const Hello& m) {
  Message out{MessageType::Hello, {}};
  Writer w(out.payload);
  w.put(static_cast<uint8_t>(m.role));
  w.put(m.index);
  w.put(m.incarnation);
  w.text(m.job_digest);
  w.put(m.parameters);
  w.put(m.statistics);
  return out;
}

Status decode(const Message& message, Hello& out) {
  if (Status s = expect(message, MessageType::Hello); !s.ok()) return s;
  Reader r(message.payload);
  out.role = r.role();
  r.get(out.index);
  r.get(out.incarnation);
  out.job_digest = r.text();
  r.get(out.parameters);
  r.get(out.statistics);
  return r.finish(message);
}

Message encode(const Welcome& m) {
  Message out{MessageType::Welcome, {}};
  Writer w(out.payload);
  w.put(m.shard);
  w.put(m.shards);
  w.put(m.first);
  w.put(m.count);
  w.put(m.parameters);
  w.put(m.statistics);
  return out;
}

Status decode(const Message& message, Welcome& out) {
  if (Status s = expect(message, MessageType::Welcome); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.shard);
  r.get(out.shards);
  r.get(out.first);
  r.get(out.count);
  r.get(out.parameters);
  r.get(out.statistics);
  return r.finish(message);
}

Message encode(const Refuse& m) {
  Message out{MessageType::Refuse, {}};
  Writer w(out.payload);
  w.put(m.code);
  w.text(m.text);
  return out;
}

Status decode(const Message& message, Refuse& out) {
  if (Status s = expect(message, MessageType::Refuse); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.code);
  out.text = r.text();
  return r.finish(message);
}

Message encode(const Init& m) {
  Message out{MessageType::Init, {}};
  out.payload.reserve(256 + m.weights.size() * 4 * (1 + m.state.vectors.size()));
  Writer w(out.payload);
  w.put(m.shard);
  w.put(m.shards);
  w.put(m.first);
  w.put(m.count);
  w.put(m.parameters);
  w.put(m.version);
  w.text(m.optimizer);
  w.put(static_cast<uint64_t>(m.segments.size()));
  for (const Segment& s : m.segments) {
    w.put(s.offset);
    w.put(s.size);
    w.put(static_cast<uint8_t>(s.decays));
  }
  w.list(m.weights);
  w.list(m.statistics);
  put(w, m.state);
  put(w, m.tickets);
  return out;
}

Status decode(const Message& message, Init& out) {
  if (Status s = expect(message, MessageType::Init); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.shard);
  r.get(out.shards);
  r.get(out.first);
  r.get(out.count);
  r.get(out.parameters);
  r.get(out.version);
  out.optimizer = r.text();
  out.segments.resize(r.count(17));
  for (Segment& s : out.segments) {
    r.get(s.offset);
    r.get(s.size);
    s.decays = r.flag();
  }
  r.list(out.weights);
  r.list(out.statistics);
  get(r, out.state);
  get(r, out.tickets);
  return r.finish(message);
}

Message encode(const Fetch& m) {
  Message out{MessageType::Fetch, {}};
  Writer(out.payload).put(m.flags);
  return out;
}

Status decode(const Message& message, Fetch& out) {
  if (Status s = expect(message, MessageType::Fetch); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.flags);
  return r.finish(message);
}

void encode(const Push& m, std::span<const float> gradients, std::span<const float> statistics,
            Message& out) {
  out.type = MessageType::Push;
  out.payload.clear();
  Writer w(out.payload);
  w.put(m.version);
  w.put(m.ticket);
  w.put(m.round);
  w.list(m.participants);
  w.put(m.rate);
  w.put(m.loss);
  w.put(m.correct);
  w.put(m.pictures);
  w.put(static_cast<uint8_t>(m.encoding));
  w.numbers(m.encoding, gradients);
  w.numbers(Numbers::Fp32, statistics);
}

Status decode(const Message& message, Push& out) {
  if (Status s = expect(message, MessageType::Push); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.version);
  r.get(out.ticket);
  r.get(out.round);
  r.list(out.participants);
  r.get(out.rate);
  r.get(out.loss);
  r.get(out.correct);
  r.get(out.pictures);
  out.encoding = r.encoding();
  out.gradients = r.numbers(out.encoding);
  out.statistics = r.numbers(Numbers::Fp32);
  return r.finish(message);
}

void encode(const Update& m, std::span<const float> weights, std::span<const float> statistics,
            Message& out) {
  out.type = MessageType::Update;
  out.payload.clear();
  Writer w(out.payload);
  w.put(m.version);
  put(w, m.assignment);
  w.put(static_cast<uint8_t>(m.encoding));
  w.numbers(m.encoding, weights);
  w.numbers(Numbers::Fp32, statistics);
}

Status decode(const Message& message, Update& out) {
  if (Status s = expect(message, MessageType::Update); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.version);
  get(r, out.assignment);
  out.encoding = r.encoding();
  out.weights = r.numbers(out.encoding);
  out.statistics = r.numbers(Numbers::Fp32);
  return r.finish(message);
}

Message encode(const SnapshotPart& m) {
  Message out{MessageType::Snapshot, {}};
  out.payload.reserve(128 + m.weights.size() * 4 * (1 + m.state.vectors.size()) + m.statistics.size() * 4);
  Writer w(out.payload);
  w.put(m.version);
  w.list(m.weights);
  w.list(m.statistics);
  put(w, m.state);
  put(w, m.tickets);
  return out;
}

Status decode(const Message& message, SnapshotPart& out) {
  if (Status s = expect(message, MessageType::Snapshot); !s.ok()) return s;
  Reader r(message.payload);
  r.get(out.version);
  r.list(out.weights);
  r.list(out.statistics);
  get(r, out.state);
  get(r, out.tickets);
  return r.finish(message);
}

Message encode(const Report& m) {
  Message out{MessageType::Report, {}};
  Writer w(out.payload);
  for (uint64_t v : {m.version, m.tickets_done, m.tickets, m.pictures, m.correct}) w.put(v);
  w.put(m.loss_sum);
  w.put(m.steps);
  w.put(m.staleness_sum);
  w.text(m.failure);
  w.put(static_cast<uint64_t>(m.members.size()));
  for (const MemberReport& member : m.members) {
    w.put(static_cast<uint8_t>(member.role));
    w.put(member.index);
    w.put(member.state);
    w.put(member.steps);
    w.put(member.seconds_silent);
    w.text(member.text);
  }
  return out;
}

Status decode(const Message& message, Report& out) {
  if (Status s = expect(message, MessageType::Report); !s.ok()) return s;
  Reader r(message.payload);
  for (uint64_t* v : {&out.version, &out.tickets_done, &out.tickets, &out.pictures, &out.correct}) r.get(*v);
  r.get(out.loss_sum);
  r.get(out.steps);
  r.get(out.staleness_sum);
  out.failure = r.text();
  out.members.resize(r.count(26));
  for (MemberReport& member : out.members) {
    member.role = r.role();
    r.get(member.index);
    r.get(member.state);
    r.get(member.steps);
    r.get(member.seconds_silent);
    member.text = r.text();
  }
  return r.finish(message);
}

Message encode(const Stop& m, MessageType type) {
  Message out{type, {}};
  Writer w(out.payload);
  w.put(m.code);
  w.text(m.text);
  return out;
}

Status decode(const Message& message, Stop& out) {
  if (message.type != MessageType::Leave) {
    if (Status s = expect(message, MessageType::Stop); !s.ok()) return s;
  }
  Reader r(message.payload);
  r.get(out.code);
  out.text = r.text();
  return r.finish(message);
}

}  // namespace radl::engine::dist
