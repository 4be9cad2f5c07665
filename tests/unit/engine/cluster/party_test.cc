// Workers without a server over TCP: they find each other, and continue when workers are lost or
// return.
#include "engine/cluster/party.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/reserved_port.h"

namespace radl::engine::cluster {
namespace {

const std::string kKey(32, 'k');
constexpr uint64_t kBatches = 60;

// What a member does until the job is over: each step adds the numbers of its batches to weights[0].
struct Ended {
  Status status;
  TrainingState state;
};

class PartyTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const test::ReservedPort& port : ports_) options_.addresses.push_back(port.address());
    options_.key = kKey;
    options_.job_digest = "job";
    options_.start_timeout = Milliseconds(10000);
  }

  PartyOptions options_of(uint32_t index) const {
    PartyOptions out = options_;
    out.ring = {index, size_, 2, 1, timeout_, nullptr, {}};
    return out;
  }

  // `each`: called before each exchange, with the batches done; false: the member ends without a word.
  static Ended work(const PartyOptions& options, const std::function<bool(uint64_t done)>& each) {
    Result<std::unique_ptr<Party>> joined = Party::join(options);
    if (!joined) return {joined.status(), {}};
    Party& party = **joined;
    const bool chief = party.leads();
    if (chief) party.share("duties");
    TrainingState state;
    if (chief) state.weights = {0, 7}, state.statistics = {0};
    Status status = party.next_view(state, !chief);
    while (status.ok() && !party.finished()) {
      if (state.next == kBatches) {
        status = party.leads() ? Status() : party.wait_for_end();
        if (status.ok()) break;
      } else {
        if (each && !each(state.next)) return {Status(Code::Cancelled, "ended by the test"), state};
        const uint64_t batch = state.next + party.rank(), size = party.view().members.size();
        std::vector<float> numbers = {batch < kBatches ? static_cast<float>(batch) : 0.0f, 0}, none = {0};
        Contribution own(numbers, none);
        Result<std::vector<RingNote>> notes = party.sum(own);
        status = notes.status();
        if (status.ok()) {
          state.weights[0] += numbers[0];
          state.next = std::min(kBatches, state.next + size);
        }
      }
      if (!status.ok() && party.broken()) status = party.next_view(state, false);
    }
    party.stop(status);
    return {status, state};
  }

  std::future<Ended> member(uint32_t index, std::function<bool(uint64_t)> each = {}) {
    return std::async(std::launch::async,
                      [options = options_of(index), each] { return work(options, each); });
  }

  static void expect_whole(const Ended& ended) {
    EXPECT_TRUE(ended.status.ok()) << ended.status.text();
    EXPECT_EQ(ended.state.next, kBatches);
    EXPECT_EQ(ended.state.weights, (std::vector<float>{kBatches * (kBatches - 1) / 2, 7}))
        << "each batch once";
  }

  static bool slowly(uint64_t) {
    std::this_thread::sleep_for(Milliseconds(5));
    return true;
  }

  PartyOptions options_;
  uint32_t size_ = 3;
  Milliseconds timeout_{1000};
  const std::array<test::ReservedPort, 5> ports_;  // of three workers, and two addresses for others
};

TEST_F(PartyTest, AllComeTogetherAlsoWhenOneIsLate) {
  auto a = member(0), b = member(1);
  std::this_thread::sleep_for(Milliseconds(1500));  // longer than the peer timeout
  auto c = member(2);
  for (auto* m : {&a, &b, &c}) expect_whole(m->get());
}

TEST_F(PartyTest, TheOthersGoOnWithoutALostWorker) {
  for (uint32_t lost : {1u, 2u}) {
    std::vector<std::future<Ended>> members;
    for (uint32_t i = 0; i < 3; ++i)
      members.push_back(
          member(i, [i, lost](uint64_t done) { return slowly(done) && (i != lost || done < 12); }));
    for (uint32_t i = 0; i < 3; ++i) {
      Ended ended = members[i].get();
      if (i != lost) expect_whole(ended);
    }
  }
}

// 17 members form a ring; the 16 that are left are linked directly.
TEST_F(PartyTest, ARingOfManyGoesOnDirectlyWithoutALostWorker) {
  const std::array<test::ReservedPort, 12> more;
  for (const test::ReservedPort& port : more) options_.addresses.push_back(port.address());
  size_ = 17;
  timeout_ = Milliseconds(5000);
  std::vector<std::future<Ended>> members;
  for (uint32_t i = 0; i < size_; ++i)
    members.push_back(member(i, [i](uint64_t done) { return i < 16 || done < 17; }));
  for (uint32_t i = 0; i < 16; ++i) expect_whole(members[i].get());
  EXPECT_EQ(members[16].get().state.next, 17u);
}

TEST_F(PartyTest, TheChiefGoesOnAlone) {
  auto a = member(0, slowly), b = member(1, [](uint64_t done) { return done < 12; }),
       c = member(2, [](uint64_t done) { return done < 21; });
  expect_whole(a.get());
}

TEST_F(PartyTest, ARestartedWorkerJoinsTheRunningJob) {
  std::atomic<bool> back = false;
  const auto waits_for_it = [&back](uint64_t done) {
    while (done >= 30 && !back) std::this_thread::sleep_for(Milliseconds(5));
    return slowly(done);
  };
  auto a = member(0, waits_for_it), b = member(1, [](uint64_t done) { return slowly(done) && done < 12; }),
       c = member(2, waits_for_it);
  EXPECT_EQ(b.get().status.code(), Code::Cancelled);
  auto again = member(1, [&back](uint64_t) {
    back = true;
    return true;
  });
  // It takes part once the others, which wait for it at batch 30, are asked for a new view.
  std::this_thread::sleep_for(Milliseconds(300));
  back = true;
  for (auto* m : {&a, &c, &again}) expect_whole(m->get());
}

// One at another address, and one that the job did not begin with.
TEST_F(PartyTest, WorkersJoinFromAddressesThatTheOthersDoNotKnow) {
  std::atomic<int> here = 0;
  const auto waits_for_both = [&here](uint64_t done) {
    while (done >= 30 && here < 2) std::this_thread::sleep_for(Milliseconds(5));
    return slowly(done);
  };
  auto a = member(0, waits_for_both), b = member(1, [](uint64_t done) { return slowly(done) && done < 12; }),
       c = member(2, waits_for_both);
  EXPECT_EQ(b.get().status.code(), Code::Cancelled);
  const auto comes = [&here](PartyOptions options) {
    return std::async(std::launch::async, [&here, options] {
      bool first = true;
      return work(options, [&](uint64_t done) {
        here += std::exchange(first, false) ? 1 : 0;
        return slowly(done);
      });
    });
  };
  PartyOptions again = options_of(1), added = options_of(3);
  again.addresses[1] = options_.addresses[4];
  std::future<Ended> joined[] = {comes(again), comes(added)};
  // They take part once the others, which wait for them at batch 30, are asked for a new view.
  std::this_thread::sleep_for(Milliseconds(300));
  here += 2;
  for (auto* m : {&a, &c, &joined[0], &joined[1]}) expect_whole(m->get());
}

// As one whose data cannot be read.
TEST_F(PartyTest, NobodyWaitsForAWorkerThatIsNotReady) {
  auto a = member(0, slowly), b = member(1, slowly), c = member(2, slowly);
  Result<std::unique_ptr<Party>> hangs = Party::join(options_of(3));
  for (auto* m : {&a, &b, &c}) expect_whole(m->get());
  EXPECT_TRUE(hangs.ok()) << hangs.status().text();
}

TEST_F(PartyTest, TheNextWorkerLeadsOnceTheChiefIsLost) {
  options_.may_lead = [](const std::string& duties) { return duties == "duties"; };
  auto a = member(0, [](uint64_t done) { return slowly(done) && done < 12; }), b = member(1, slowly),
       c = member(2, slowly);
  EXPECT_EQ(a.get().status.code(), Code::Cancelled);
  for (auto* m : {&b, &c}) expect_whole(m->get());
}

TEST_F(PartyTest, OneChiefAfterTheOtherIsLost) {
  options_.may_lead = [](const std::string&) { return true; };
  auto a = member(0, [](uint64_t done) { return slowly(done) && done < 12; }),
       b = member(1, [](uint64_t done) { return slowly(done) && done < 30; }), c = member(2, slowly);
  expect_whole(c.get());
}

TEST_F(PartyTest, ARestartedWorker0JoinsTheJobThatItHasLed) {
  options_.may_lead = [](const std::string&) { return true; };
  std::atomic<bool> back = false;
  const auto waits_for_it = [&back](uint64_t done) {
    while (done >= 30 && !back) std::this_thread::sleep_for(Milliseconds(5));
    return slowly(done);
  };
  auto a = member(0, [](uint64_t done) { return slowly(done) && done < 12; }), b = member(1, waits_for_it),
       c = member(2, waits_for_it);
  EXPECT_EQ(a.get().status.code(), Code::Cancelled);
  auto again = member(0, [&back](uint64_t) {
    back = true;
    return true;
  });
  std::this_thread::sleep_for(Milliseconds(300));
  back = true;
  for (auto* m : {&b, &c, &again}) expect_whole(m->get());
}

TEST_F(PartyTest, TheChiefsLossEndsWorkersThatCannotTakeOver) {
  auto a = member(0, [](uint64_t done) { return done < 12; }), b = member(1), c = member(2);
  EXPECT_EQ(a.get().status.code(), Code::Cancelled);
  for (auto* m : {&b, &c}) {
    const Status status = m->get().status;
    EXPECT_EQ(status.code(), Code::Lost);
    EXPECT_NE(status.message().find("chief"), std::string::npos) << status.text();
  }
}

TEST_F(PartyTest, AReasonToEndReachesAll) {
  auto a = member(0, slowly), c = member(2, slowly);
  Result<std::unique_ptr<Party>> party = Party::join(options_of(1));
  ASSERT_TRUE(party.ok());
  TrainingState state;
  ASSERT_TRUE((*party)->next_view(state, true).ok());
  (*party)->stop(invalid("training diverged"));
  for (auto* m : {&a, &c}) {
    const Status status = m->get().status;
    EXPECT_EQ(status.code(), Code::Invalid);
    EXPECT_NE(status.message().find("training diverged"), std::string::npos) << status.text();
  }
}

TEST_F(PartyTest, AWorkerOfAnotherJobOrKeyIsRefused) {
  for (const bool key : {true, false}) {
    PartyOptions other = options_of(1);
    (key ? other.key : other.job_digest) = std::string(32, 'x');
    options_.start_timeout = Milliseconds(1000);
    auto a = member(0);
    EXPECT_EQ(work(other, {}).status.code(), key ? Code::Auth : Code::Invalid);
    EXPECT_EQ(a.get().status.code(), Code::Timeout);
  }
}

}  // namespace
}  // namespace radl::engine::cluster
