// The bytes of every message of wire version 13 (docs/wire.md), and what happens to bytes that are not one.
#include "engine/cluster/message.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "tests/support/paths.h"

namespace radl::engine::cluster {
namespace {

const std::string kGolden = test::source_dir() + "/tests/unit/engine/cluster/golden/wire-13.json";

TrainingState sample_state() {
  return {.next = 10,
          .again = {3, 4},
          .version = 9,
          .weights = {1.0f, -2.0f, 0.5f},
          .statistics = {0.25f},
          .average = {1.5f, 2.5f, 3.5f},
          .averaged = 4,
          .optimizer_steps = 7,
          .optimizer = {{0.1f, 0.2f, 0.3f}}};
}

Init sample_init() {
  Init m{.shard = 1, .shards = 2, .first = 2, .count = 3, .parameters = 5, .batches = 100};
  m.optimizer.config = {
      .name = "muon", .momentum = 0.8, .nesterov = true, .weight_decay = 0.1, .iterations = 4};
  m.optimizer.config.head_rate = 3;
  m.optimizer.size = 3;
  m.optimizer.runs = {{0, 2, true, 0.1f, 1, 1}, {2, 3, false, 0, 2, 0}};
  m.average = {AverageConfig::Kind::Ema, 0.5f, 6};
  m.keep = {0.9f};
  m.state = sample_state();
  return m;
}

Push sample_push() {
  Push m{.version = 12,
         .ticket = 34,
         .round = 5,
         .participants = {0, 2},
         .rate = 0.125f,
         .loss = 2.5,
         .correct = 17,
         .images = 64,
         .updates = 2,
         .squares = 6.25,
         .sequence = 8};
  m.encoding = Numbers::Bf16;
  return m;
}

Update sample_update() {
  Update m;
  m.version = 13;
  m.assignment = {
      .finished = false, .ticket = 36, .round = 6, .then = 38, .participants = {7, 0xffffffffff, 9}};
  return m;
}

Block sample_block() {
  return {.exchange = 21, .bucket = 4, .hop = 3, .note = {2, 1, 30, 50, 1.75, 0}, .encoding = Numbers::Fp16};
}

Border sample_border() { return {.epoch = 7, .done = 40, .fresh = true, .silent = 2}; }

View sample_view() {
  return {.epoch = 8,
          .members = {{0, 0x1122334455667788, "10.0.0.5:4001"}, {2, 5, "[::1]:7"}},
          .direct = false,
          .hand_over = true,
          .source = 2};
}

Report sample_report() {
  Report m{.version = 1,
           .tickets_done = 2,
           .tickets = 3,
           .images = 4,
           .correct = 5,
           .loss_sum = 6.5,
           .steps = 7,
           .staleness_sum = 8};
  m.failure = "the loss became nan";
  m.members = {{Role::Worker, 1, 2, 40, 10.5, "nothing heard"}};
  m.replica = Replica::Complete;
  return m;
}

ShardMap sample_map() { return {.epoch = 4, .places = {{0, 2, 1}, {2, -1, 4}}, .servers = {0, 2}}; }

Entry sample_entry() {
  Entry m{
      .number = 77, .complete = true, .applies = true, .rate = 0.5f, .scale = 2, .newest = 34, .digest = 9};
  m.book = {.version = 5, .next_round = 3, .rounds_applied = 2, .has_squares = true, .squares = 1.5};
  m.book.sums = sample_report();
  m.book.next = 36;
  m.book.free = {30, 33};
  m.book.workers = {{.worker = 1,
                     .incarnation = 0xffffffffff,
                     .sequence = 12,
                     .clock = 11,
                     .asked = true,
                     .waiting = false,
                     .assigned = true,
                     .assignment = {.ticket = 35, .round = 3, .then = 35, .participants = {1}},
                     .reserved = {33},
                     .report = {Role::Worker, 1, 0, 40, 0, ""}}};
  return m;
}

// One of each, by name.
std::map<std::string, Message> samples() {
  std::map<std::string, Message> out;
  out["heartbeat"] = Message{MessageType::Heartbeat, {}};
  out["hello"] = encode(Hello{Role::Worker, 3, 0x1122334455667788, "abcd", 1000, 20, 6, "10.0.0.7:4001", 2});
  out["welcome"] = encode(Welcome{1, 2, 500, 400, 900, 20, Norms::OfRound, sample_map()});
  out["refuse"] = encode(Refuse{1, "another job"});
  out["init"] = encode(sample_init());
  out["ready"] = Message{MessageType::Ready, {}};
  out["fetch"] = encode(Fetch{kFetchWeights | kFetchTicket, 3});
  std::vector<float> gradients = {1.0f, -0.5f, 3.0f}, statistics = {0.5f};
  encode(sample_push(), gradients, statistics, out["push"]);
  encode(sample_update(), gradients, statistics, out["update"]);
  encode(sample_block(), gradients, statistics, out["block"]);
  out["state"] = encode(sample_state());
  out["piece"] = encode(Piece{21, 3, "bytes"});
  out["norm"] = encode(Norm{5, 6.25});
  out["border"] = encode(sample_border());
  out["view"] = encode(sample_view());
  out["freeze"] = encode(View{.epoch = 7}, MessageType::Freeze);
  out["report"] = encode(sample_report());
  out["map"] = encode(sample_map());
  const std::string packed(12, '\x01');
  Entry entry = sample_entry();
  entry.numbers = packed;
  encode(entry, 3, statistics, out["entry"]);
  out["copied"] = encode(Copied{77});
  out["stop"] = encode(Stop{13, "a server was lost"});
  out["leave"] = encode(Stop{0, ""}, MessageType::Leave);
  out["duties"] = encode(Stop{0, "{}"}, MessageType::Duties);
  return out;
}

std::string wire_hex(const Message& m) {
  char header[kHeaderSize];
  write_header(m.type, m.payload.size(), header);
  return to_hex(std::string(header, kHeaderSize) + m.payload);
}

// Every decoder, on any message; true when it was accepted.
bool decodes(const Message& m) {
  switch (m.type) {
    case MessageType::Hello: {
      Hello out;
      return decode(m, out).ok();
    }
    case MessageType::Welcome: {
      Welcome out;
      return decode(m, out).ok();
    }
    case MessageType::Refuse: {
      Refuse out;
      return decode(m, out).ok();
    }
    case MessageType::Init: {
      Init out;
      return decode(m, out).ok();
    }
    case MessageType::Fetch: {
      Fetch out;
      return decode(m, out).ok();
    }
    case MessageType::Push: {
      Push out;
      return decode(m, out).ok();
    }
    case MessageType::Update: {
      Update out;
      return decode(m, out).ok();
    }
    case MessageType::Block: {
      Block out;
      return decode(m, out).ok();
    }
    case MessageType::State: {
      TrainingState out;
      return decode(m, out).ok();
    }
    case MessageType::Report: {
      Report out;
      return decode(m, out).ok();
    }
    case MessageType::Border: {
      Border out;
      return decode(m, out).ok();
    }
    case MessageType::Map: {
      ShardMap out;
      return decode(m, out).ok();
    }
    case MessageType::Entry: {
      Entry out;
      return decode(m, out).ok();
    }
    case MessageType::Copied: {
      Copied out;
      return decode(m, out).ok();
    }
    case MessageType::View:
    case MessageType::Freeze: {
      View out;
      return decode(m, out).ok();
    }
    case MessageType::Piece: {
      Piece out;
      return decode(m, out).ok();
    }
    case MessageType::Norm: {
      Norm out;
      return decode(m, out).ok();
    }
    case MessageType::Stop:
    case MessageType::Leave:
    case MessageType::Duties: {
      Stop out;
      return decode(m, out).ok();
    }
    default:
      return m.payload.empty();
  }
}

TEST(Message, BytesAreGolden) {
  nlohmann::json now = nlohmann::json::object();
  for (const auto& [name, message] : samples()) now[name] = wire_hex(message);
  if (std::getenv("ACCEPT") != nullptr) {
    ASSERT_TRUE(write_file_atomic(kGolden, now.dump(2) + "\n").ok());
  }
  Result<std::string> golden = read_file(kGolden);
  ASSERT_TRUE(golden.ok()) << golden.status().text();
  EXPECT_EQ(now, nlohmann::json::parse(*golden))
      << "the wire changed: raise kWireVersion and say so in docs/wire.md";
}

TEST(Message, RoundTrips) {
  auto all = samples();
  Init init;
  ASSERT_TRUE(decode(all["init"], init).ok());
  Init want = sample_init();
  EXPECT_EQ(init.state, want.state);
  EXPECT_EQ(init.batches, 100u);
  EXPECT_EQ(init.optimizer.runs, want.optimizer.runs);
  for_settings(init.optimizer.config, [&](const char* key, const auto& got, auto...) {
    for_settings(want.optimizer.config, [&](const char* other, const auto& wanted, auto...) {
      if constexpr (std::is_same_v<decltype(got), decltype(wanted)>) {
        if (std::string_view(key) == other) {
          EXPECT_EQ(got, wanted) << key;
        }
      }
    });
  });
  EXPECT_EQ(init.average.kind, AverageConfig::Kind::Ema);
  Push push;
  ASSERT_TRUE(decode(all["push"], push).ok());
  std::vector<float> gradients(3);
  unpack_numbers(push.encoding, push.gradients.data(), gradients);
  EXPECT_EQ(gradients, (std::vector<float>{1.0f, -0.5f, 3.0f}));
  EXPECT_EQ(push.participants, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(push.loss, 2.5);
  EXPECT_EQ(push.squares, 6.25);
  Block block;
  ASSERT_TRUE(decode(all["block"], block).ok());
  EXPECT_EQ(block.note, sample_block().note);
  EXPECT_EQ(block.exchange, 21u);
  EXPECT_EQ(block.bucket, 4u);
  EXPECT_EQ(block.hop, 3u);
  View view;
  ASSERT_TRUE(decode(all["view"], view).ok());
  EXPECT_EQ(view.epoch, 8u);
  EXPECT_EQ(view.members, sample_view().members);
  EXPECT_FALSE(view.direct);
  EXPECT_TRUE(view.hand_over);
  EXPECT_EQ(view.source, 2u);
  Border border;
  ASSERT_TRUE(decode(all["border"], border).ok());
  EXPECT_EQ(border.done, 40u);
  EXPECT_TRUE(border.fresh);
  EXPECT_EQ(border.silent, 2);
  Norm norm;
  ASSERT_TRUE(decode(all["norm"], norm).ok());
  EXPECT_EQ(norm.round, 5u);
  EXPECT_EQ(norm.squares, 6.25);
  Report report;
  ASSERT_TRUE(decode(all["report"], report).ok());
  EXPECT_EQ(report.members.at(0).text, "nothing heard");
  EXPECT_EQ(report.failure, "the loss became nan");
  Hello hello;
  ASSERT_TRUE(decode(all["hello"], hello).ok());
  EXPECT_EQ(hello.incarnation, 0x1122334455667788u);
}

TEST(Message, EveryTruncationAndExtensionIsRefused) {
  for (const auto& [name, message] : samples()) {
    ASSERT_TRUE(decodes(message)) << name;
    for (size_t size = 0; size < message.payload.size(); ++size) {
      Message cut{message.type, message.payload.substr(0, size)};
      EXPECT_FALSE(decodes(cut)) << name << " cut to " << size;
    }
    Message longer{message.type, message.payload + '\0'};
    EXPECT_FALSE(decodes(longer)) << name;
  }
}

TEST(Message, LengthsThatLieDoNotAllocate) {
  Message m = encode(Fetch{0});
  m.type = MessageType::State;
  m.payload.assign(8, '\0');
  m.payload += std::string(8, '\xff');  // 2^64-1 weights
  EXPECT_FALSE(decodes(m));
  m.type = MessageType::Report;
  m.payload.assign(64, '\0');
  m.payload += std::string(4, '\0') + std::string(8, '\x7f');
  EXPECT_FALSE(decodes(m));
}

TEST(Message, HeadersAreBounded) {
  char header[kHeaderSize];
  MessageType type;
  uint64_t length;
  write_header(MessageType::Push, 100, header);
  EXPECT_TRUE(read_header(header, 100, type, length).ok());
  EXPECT_EQ(length, 100u);
  EXPECT_EQ(read_header(header, 99, type, length).code(), Code::Corrupt);
  header[2] = 12;  // version
  EXPECT_EQ(read_header(header, 100, type, length).message(),
            "a message of wire version 12, this program speaks version 13");
  write_header(static_cast<MessageType>(99), 0, header);
  EXPECT_FALSE(read_header(header, 100, type, length).ok());
}

TEST(Numbers, RoundToNearestEven) {
  auto through = [](Numbers encoding, float value, float beside = 1.0f) {
    char bytes[8];
    std::array<float, 2> in = {value, beside}, out;
    EXPECT_LE(bytes_of(encoding, 2), sizeof bytes);
    pack_numbers(encoding, in, bytes);
    unpack_numbers(encoding, bytes, out);
    return out[0];
  };
  const float inf = std::numeric_limits<float>::infinity();
  for (Numbers e : {Numbers::Fp32, Numbers::Bf16, Numbers::Fp16}) {
    for (float exact : {0.0f, -0.0f, 1.0f, -2.5f, 0.125f, inf, -inf}) {
      EXPECT_EQ(through(e, exact), exact);
      EXPECT_EQ(std::signbit(through(e, exact)), std::signbit(exact));
    }
    EXPECT_TRUE(std::isnan(through(e, std::nanf(""))));
  }
  EXPECT_EQ(through(Numbers::Bf16, 1.00390625f), 1.0f);       // halfway: to even
  EXPECT_EQ(through(Numbers::Bf16, 1.01171875f), 1.015625f);  // halfway: to even, upwards
  EXPECT_EQ(through(Numbers::Fp16, 1.0f + 0x1p-11f), 1.0f);
  EXPECT_EQ(through(Numbers::Fp16, 1.0f + 0x1.8p-10f), 1.0f + 0x1p-9f);
  EXPECT_EQ(through(Numbers::Fp16, 0x1p-38f), 0x1p-38f);  // the smallest beside 1
  EXPECT_EQ(through(Numbers::Fp16, 0x1p-39f), 0.0f);      // halfway to nothing: to even
  EXPECT_EQ(through(Numbers::Fp16, -0x1.8p-38f), -0x1p-37f);
  EXPECT_EQ(through(Numbers::Fp16, 0x1.ff8p-28f), 0x1.ff8p-28f);
}

// What fp16 alone would make infinite, or nothing: gradients of 1e5 and of 1e-9.
TEST(Numbers, HalfPrecisionKeepsGradientsOfAnySize) {
  for (float size : {1e-30f, 1e-20f, 1e-9f, 1e-3f, 1.0f, 70000.0f, 1e9f, 3e38f}) {
    std::vector<float> in(1000), out(1000), again(1000);
    for (size_t i = 0; i < in.size(); ++i) in[i] = size * (static_cast<float>(i * 37 % 1000) / 500 - 1);
    std::string bytes(bytes_of(Numbers::Fp16, in.size()), '\0'), second = bytes;
    pack_numbers(Numbers::Fp16, in, bytes.data());
    unpack_numbers(Numbers::Fp16, bytes.data(), out);
    EXPECT_TRUE(all_finite(out)) << size;
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_NEAR(out[i], in[i], std::fabs(in[i]) * 0x1p-11f + size * 1e-9f) << "of " << size;
    pack_numbers(Numbers::Fp16, out, second.data());
    EXPECT_EQ(bytes, second) << "members of a ring pass on what they unpacked";
  }
}

TEST(Numbers, Int8IsAMultipleOfAStepOfItsBlock) {
  for (float size : {1e-30f, 1e-9f, 1.0f, 1e9f, 3e38f}) {
    std::vector<float> in(2500), out(in.size());
    for (size_t i = 0; i < in.size(); ++i)  // the last block is much smaller
      in[i] = (i < 2048 ? size : size / 1000) * (static_cast<float>(i * 37 % 1000) / 500 - 1);
    std::string bytes(bytes_of(Numbers::Int8, in.size()), '\0'), second = bytes;
    EXPECT_EQ(bytes.size(), 2506u);
    pack_numbers(Numbers::Int8, in, bytes.data());
    unpack_numbers(Numbers::Int8, bytes.data(), out);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_NEAR(out[i], in[i], (i < 2048 ? size : size / 1000) / 120) << i << " of " << size;
    pack_numbers(Numbers::Int8, out, second.data());
    EXPECT_EQ(bytes, second) << "members of a ring pass on what they unpacked";
  }
}

TEST(Numbers, Int8KeepsZeroAndWhatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  for (float odd : {0.0f, inf, -inf, std::nanf("")}) {
    std::vector<float> in{odd, 0}, out(2);
    std::string bytes(bytes_of(Numbers::Int8, 2), '\0');
    pack_numbers(Numbers::Int8, in, bytes.data());
    unpack_numbers(Numbers::Int8, bytes.data(), out);
    EXPECT_EQ(all_finite(out), odd == 0);
    if (odd == 0) {
      EXPECT_EQ(out, in);
    }
  }
}

// The largest is rounded up to a power of two: packing it again must not take another factor.
TEST(Numbers, PackingAgainGivesTheSameBytes) {
  std::vector<float> in = {1.99999f, 0x1.004p-24f, 3e-7f}, out(3);
  std::string bytes(bytes_of(Numbers::Fp16, 3), '\0'), second = bytes;
  pack_numbers(Numbers::Fp16, in, bytes.data());
  unpack_numbers(Numbers::Fp16, bytes.data(), out);
  EXPECT_EQ(out[0], 2.0f);
  pack_numbers(Numbers::Fp16, out, second.data());
  EXPECT_EQ(bytes, second);
}

TEST(Numbers, WhatIsNotFiniteIsFound) {
  std::vector<float> values(100, 1.0f);
  EXPECT_TRUE(all_finite(values));
  for (float wrong :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (Numbers e : {Numbers::Fp32, Numbers::Bf16, Numbers::Fp16}) {
      std::vector<float> in = values, out = values;
      in[77] = wrong;
      std::string bytes(bytes_of(e, in.size()), '\0');
      pack_numbers(e, in, bytes.data());
      unpack_numbers(e, bytes.data(), out);
      EXPECT_FALSE(all_finite(out));
      EXPECT_EQ(out[76], 1.0f);
    }
  }
}

// Every finite value of 16 bits survives the way there and back.
TEST(Numbers, EveryHalfIsExact) {
  for (uint32_t h = 0; h < 65536; ++h) {
    uint16_t in = static_cast<uint16_t>(h), out;
    float value = std::bit_cast<float>(h << 16);
    if (!std::isnan(value)) {
      pack_numbers(Numbers::Bf16, std::span(&value, 1), reinterpret_cast<char*>(&out));
      ASSERT_EQ(in, out);
    }
    std::string bytes(4, '\0'), again = bytes;  // no factor
    std::memcpy(bytes.data() + 2, &in, 2);
    unpack_numbers(Numbers::Fp16, bytes.data(), std::span(&value, 1));
    if (!std::isfinite(value)) continue;
    float same;
    pack_numbers(Numbers::Fp16, std::span(&value, 1), again.data());
    unpack_numbers(Numbers::Fp16, again.data(), std::span(&same, 1));
    ASSERT_EQ(value, same);
    ASSERT_EQ(std::signbit(value), std::signbit(same));
  }
}

}  // namespace
}  // namespace radl::engine::cluster
