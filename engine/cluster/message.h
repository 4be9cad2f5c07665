// The messages of docs/wire.md: what each one holds, and its bytes.
//
// encode() and decode() are pure. decode() takes bytes from a peer that has proved to know the job's key; it
// still trusts no length in them: Corrupt, never a crash or an allocation larger than what arrived.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/optim/training_state.h"

namespace radl::engine::cluster {

inline constexpr uint16_t kWireVersion = 13;
inline constexpr size_t kHeaderSize = 16;
// A message before Welcome is never larger than this.
inline constexpr size_t kSmallMessage = 64 << 10;

enum class Role : uint8_t { Chief = 0, Server = 1, Worker = 2 };

enum class MessageType : uint16_t {
  Heartbeat = 1,
  Hello,
  Welcome,
  Refuse,
  Init,
  Ready,
  Fetch,
  Push,
  Update,
  State,
  Report,
  Stop,
  Leave,
  Block,
  Norm,
  Border,
  View,
  Freeze,
  Duties,
  Piece,
  Map,
  Entry,
  Copied,
};

// A message as it travels: header and payload. The payload's buffer is reused from message to message.
struct Message {
  MessageType type = MessageType::Heartbeat;
  std::string payload;
};

// How numbers travel (the values are those of radl::engine::Encoding). fp16 numbers share a power of two,
// chosen from the largest of them, so that none overflows and no more than need be vanish. int8 numbers are
// multiples of a step, one for each block of 1024. Packing what was unpacked gives the same bytes. A number
// that is not finite stays so: all_finite() at the receiver finds it.
enum class Numbers : uint8_t { Fp32 = 0, Bf16 = 1, Fp16 = 2, Int8 = 3 };
size_t bytes_of(Numbers encoding, size_t count);
void pack_numbers(Numbers encoding, std::span<const float> from, char* to);
void unpack_numbers(Numbers encoding, const char* from, std::span<float> to);
bool all_finite(std::span<const float> values);

inline constexpr uint64_t kQuestion = UINT64_MAX;  // epoch of a Hello that only asks a question

// First message of whoever connects.
struct Hello {
  Role role = Role::Worker;
  uint32_t index = 0;
  uint64_t incarnation = 0;  // random per process: tells a restarted member from its former self
  std::string job_digest;
  uint64_t parameters = 0, statistics = 0;  // of the model that it built
  // Without servers: of the view whose ring the link belongs to, 0 for the link to the chief, and where this
  // worker listens. Of a chief: that of its map, 0 if it has none yet. Of a server: kQuestion asks for the
  // map.
  uint64_t epoch = 0;
  std::string address;
  // To a server: which shard a worker trains with, or another server has a replica of here. That server also
  // says the epoch of its map.
  uint32_t shard = 0;
};

// Where a shard is, by index of servers; -1: nowhere. The replica is a copy that takes over if the primary is
// lost.
struct Place {
  int32_t primary = -1, replica = -1;
  uint64_t since = 0;  // epoch of the map that made these two a pair: the replica knows nothing older
  friend bool operator==(const Place&, const Place&) = default;
};

// Which servers hold the shards, by the chief's decision.
struct ShardMap {
  uint64_t epoch = 0;             // from 1, larger with each change; election.h says how it is composed
  std::vector<Place> places;      // by shard
  std::vector<uint64_t> servers;  // that take part, in ascending order
  friend bool operator==(const ShardMap&, const ShardMap&) = default;
};

// What servers need from a worker to clip a gradient of which each of them has a part: nothing; the norm of
// the worker's gradient, in each Push; or in each round the norm of its mean, which the worker adds up from
// what the servers send it as Norm, and sends back.
enum class Norms : uint8_t { None = 0, InPush = 1, OfRound = 2 };

// Answer to Hello once the server has its weights.
struct Welcome {
  uint32_t shard = 0, shards = 1;
  uint64_t first = 0, count = 0;  // this shard's part of the flat parameters
  uint64_t parameters = 0, statistics = 0;
  Norms norms = Norms::None;
  ShardMap map;
};

// Says no (to Hello), or that the job is over; the link is closed afterwards.
struct Refuse {
  uint8_t code = 0;  // radl::Code
  std::string text;
};

// From the chief: everything that a server starts from. Of the whole model (shard 0 of 1), too.
struct Init {
  uint32_t shard = 0, shards = 1;
  uint64_t first = 0, count = 0, parameters = 0;
  uint64_t batches = 0;  // of the run
  OptimizerPlan optimizer;
  AverageConfig average;
  std::vector<float> keep;  // the factor that an update leaves of each statistic: 1 - momentum
  TrainingState state;
};

// kFetchAverage: the averaged weights where there are any.
enum FetchFlags : uint8_t {
  kFetchWeights = 1,
  kFetchTicket = 2,
  kFetchSnapshot = 4,
  kFetchReport = 8,
  kFetchAverage = 16
};
struct Fetch {
  uint8_t flags = 0;
  uint32_t shard = 0;
};

// A batch to train on: number `ticket` of the run. In synchronous modes also the round and who takes part in
// it.
struct Assignment {
  bool finished = false;  // no more work
  uint64_t ticket = 0, round = 0;
  uint64_t then = 0;  // the batch that this worker will probably be given next; `ticket` when nobody knows
  std::vector<uint64_t> participants;  // their incarnations: a restarted worker is not its former self
};

// A worker's step. Gradients are of the mean loss over `images`. Statistics (shard 0) are what its batch
// adds to a running mean: after it a statistic is keep^updates times what it was, plus this (docs/wire.md).
struct Push {
  uint64_t version = 0;  // of the weights that they were computed with
  uint64_t ticket = 0, round = 0;
  std::vector<uint64_t> participants;
  float rate = 0;  // learning rate for this ticket
  double loss = 0;
  uint32_t correct = 0, images = 0;
  uint32_t updates = 1;   // of the statistics; more than one when the batch was computed in pieces
  double squares = 0;     // Norms::InPush: squared 2-norm of the worker's gradient, all servers' parts
  uint64_t sequence = 0;  // of this worker's pushes, from 1: one that is sent twice is applied once
  Numbers encoding = Numbers::Fp32;
  std::string_view gradients;   // packed; points into the message
  std::string_view statistics;  // packed fp32
};

// Answer to Fetch and Push.
struct Update {
  uint64_t version = 0;
  Assignment assignment;  // shard 0; elsewhere finished = false, ticket = 0
  Numbers encoding = Numbers::Fp32;
  std::string_view weights;
  std::string_view statistics;
};

// How far the replica of a shard is. Copying: the primary does not wait for it yet. Lost: it was complete,
// and the primary waits for the chief's next map.
enum class Replica : uint8_t { None = 0, Copying = 1, Complete = 2, Lost = 3 };

struct MemberReport {
  Role role = Role::Worker;
  uint32_t index = 0;
  uint8_t state = 0;  // 0 present, 1 left, 2 lost
  uint64_t steps = 0;
  double seconds_silent = 0;  // before it was given up (lost)
  std::string text;
};

// Answer to Fetch with kFetchReport: sums since the run (or its resumption) began.
struct Report {
  uint64_t version = 0, tickets_done = 0, tickets = 0, images = 0, correct = 0;
  double loss_sum = 0;  // over steps
  uint64_t steps = 0;
  uint64_t staleness_sum = 0;  // updates between a gradient's weights and its application
  std::string failure;         // why the run cannot continue, for example a loss that is not a number
  std::vector<MemberReport> members;
  Replica replica = Replica::None;
};

// A shard's record of one worker.
struct WorkerBook {
  uint32_t worker = 0;
  uint64_t incarnation = 0;
  uint64_t sequence = 0;  // of its last push in the weights
  uint64_t clock = 0;     // its steps, in step with the others (stale)
  bool asked = false, waiting = false;
  bool assigned = false;  // it owns `assignment`, which is not in the weights; it may not know of it yet
  Assignment assignment;
  std::vector<uint64_t> reserved;  // the batch that it will probably get next; may be empty
  MemberReport report;
};

// The state, besides numbers, that a replica needs to take over: the finished batches, and the worker of each
// batch that is handed out.
struct Book {
  uint64_t version = 0;
  uint64_t next_round = 1, rounds_applied = 0;
  bool has_squares = false;  // of round rounds_applied
  double squares = 0;
  Report sums;
  uint64_t next = 0;           // all batches below it were handed out;
  std::vector<uint64_t> free;  // these came back and wait for a worker
  std::vector<WorkerBook> workers;
};

// A step of a shard, from its primary to its replica. Entries are sent in the order of the steps.
struct Entry {
  uint64_t number = 0;
  bool complete = false;  // the primary now answers only what the replica has, too
  bool applies = false;   // the numbers are a gradient for the optimizer, the statistics are the new ones
  float rate = 0, scale = 1;
  uint64_t newest = 0;  // the last of the batches in it
  uint64_t digest = 0;  // of the weights after it; 0: not given
  Book book;
  Numbers encoding = Numbers::Fp32;
  std::string_view numbers;     // packed; points into the message
  std::string_view statistics;  // packed fp32
};

// Acknowledges all entries up to this one.
struct Copied {
  uint64_t number = 0;
};

// The work of one ring member since the last exchange. Each member gets the notes of all.
struct RingNote {
  uint32_t rank = 0;
  uint32_t steps = 0, correct = 0, images = 0;
  double loss = 0;   // sum of the steps' mean losses
  uint8_t code = 0;  // radl::Code: other than 0, it wants to end after this exchange
  friend bool operator==(const RingNote&, const RingNote&) = default;
};

// A piece of a bucket of a sum, from one worker to another (collective.h).
struct Block {
  uint64_t exchange = 0;  // number of the sum, from 0
  uint32_t bucket = 0;    // from the last numbers to the first
  uint32_t hop = 0;       // a ring: the messages from one member to the next; direct: 0 a part, 1 the sum
  RingNote note;
  Numbers encoding = Numbers::Fp32;
  std::string_view numbers;     // packed; points into the message
  std::string_view statistics;  // packed fp32
};

// What one member tells all others.
struct Piece {
  uint64_t exchange = 0;
  uint32_t hop = 0;
  std::string bytes;
};

// Squared 2-norm of the mean gradient of a round: from a server of its part, from a worker of all parts.
struct Norm {
  uint64_t round = 0;
  double squares = 0;
};

// A member of a training without servers, as a view names it, and where it listens.
struct Seat {
  uint32_t index = 0;
  uint64_t incarnation = 0;
  std::string address;
  friend bool operator==(const Seat&, const Seat&) = default;
};

// Who takes part, by the chief's decision. Frames belong to the links of one view. As Freeze, only the epoch
// counts: the members of that view must leave their exchange.
struct View {
  uint64_t epoch = 0;         // from 1, one more with each view
  std::vector<Seat> members;  // by index, in the order of their ranks
  bool direct = true;         // each is linked to all others, else to the next and the previous one
  bool hand_over = false;     // the state of the member `source` goes to the others first,
  uint32_t source = 0;        // since others have no state, or one of an earlier border
};

// A member has left its exchange, or has not begun one, and has the state of this border.
struct Border {
  uint64_t epoch = 0;   // of its view; 0: it has been in none
  uint64_t done = 0;    // batches of the run
  bool fresh = false;   // it has no state yet
  int32_t silent = -1;  // index of the neighbor that it could not reach, or that became silent; -1: none
};

// The job is over, well (code 0) or not; or, as Leave, this member goes. As Duties, the text is what the
// chief's successor needs of it (RingStrategy).
struct Stop {
  uint8_t code = 0;
  std::string text;
};

Message encode(const Hello& m);
Message encode(const Welcome& m);
Message encode(const Refuse& m);
Message encode(const Init& m);
Message encode(const Fetch& m);
Message encode(const TrainingState& m);
Message encode(const Report& m);
Message encode(const Norm& m);
Message encode(const Piece& m);
Message encode(const View& m, MessageType type = MessageType::View);  // or Freeze
Message encode(const Border& m);
Message encode(const ShardMap& m);
Message encode(const Copied& m);
Message encode(const Stop& m, MessageType type = MessageType::Stop);  // or Leave, Duties
// Into a message whose buffer is kept: these carry the large spans of every step, which are packed here; the
// views of `m` are not looked at.
void encode(const Push& m, std::span<const float> gradients, std::span<const float> statistics, Message& out);
void encode(const Update& m, std::span<const float> weights, std::span<const float> statistics, Message& out);
void encode(const Block& m, std::span<const float> numbers, std::span<const float> statistics, Message& out);
// `count`: of the entry's numbers, which are packed already.
void encode(const Entry& m, size_t count, std::span<const float> statistics, Message& out);

// Corrupt when the bytes are not exactly one such message.
Status decode(const Message& message, Hello& out);
Status decode(const Message& message, Welcome& out);
Status decode(const Message& message, Refuse& out);
Status decode(const Message& message, Init& out);
Status decode(const Message& message, Fetch& out);
Status decode(const Message& message, Push& out);
Status decode(const Message& message, Update& out);
Status decode(const Message& message, Block& out);
Status decode(const Message& message, TrainingState& out);
Status decode(const Message& message, Report& out);
Status decode(const Message& message, Norm& out);
Status decode(const Message& message, Piece& out);
Status decode(const Message& message, View& out);
Status decode(const Message& message, Border& out);
Status decode(const Message& message, ShardMap& out);
Status decode(const Message& message, Copied& out);
Status decode(const Message& message, Entry& out);
Status decode(const Message& message, Stop& out);

std::string_view role_name(Role role);
std::string_view type_name(MessageType type);

// Header of a message: type, version and payload length (docs/wire.md).
void write_header(MessageType type, uint64_t length, char out[kHeaderSize]);
// Corrupt when version, type or length is out of bounds.
Status read_header(const char header[kHeaderSize], size_t limit, MessageType& type, uint64_t& length);

}  // namespace radl::engine::cluster
