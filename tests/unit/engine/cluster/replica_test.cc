// A shard, its replica and its workers in steps that a seed chooses: the primary is lost at any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <random>
#include <set>

#include "engine/cluster/shard.h"
#include "tests/support/need.h"

namespace radl::engine::cluster {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kBatches = 40;
constexpr uint32_t kWorkers = 3;

// What the protocol must not do; the properties below must find each.
enum class Mutant {
  None,
  AnswersBeforeTheReplica,   // a worker hears of a step that the replica does not have
  PromotesAnIncompleteCopy,  // the replica takes over before the copy is complete
  AppliesRepeatedPushes,     // a push that is sent again counts again
  ForgetsWhoHasWhat,         // entries without the book
  SkipsAnEntry,              // the replica misses one
  CountsBatchesPerWorker     // the batch of a lost worker counts again when another one pushes it
};

// Batch t adds 1 to number t.
Init counting(uint32_t shard) {
  Init init{.shard = shard,
            .shards = 2,
            .first = shard * kBatches,
            .count = kBatches,
            .parameters = 2 * kBatches,
            .batches = shard == 0 ? kBatches : kBatches * (kWorkers + 1)};  // as a mutant numbers them
  init.optimizer = *OptimizerPlan::make(
      {.momentum = 0, .nesterov = false},
      {{.name = "p", .shape = {static_cast<int>(kBatches)}, .offset = 0, .size = kBatches}});
  init.state.weights.assign(kBatches, 0.0f);
  return init;
}

class Simulation {
 public:
  // `shard`: 0 gives the batches to the workers; 1 gets what they have computed.
  Simulation(uint64_t seed, Mutant mutant, uint32_t shard)
      : random_(seed), mutant_(mutant), shard_(shard), primary_(make(counting(shard))) {
    primary_->begin_copy(copy_);  // the replica starts from the same
    replica_ = make(counting(shard_));
    for (uint32_t w = 0; w < kWorkers; ++w) join(w);
  }

  // What is wrong at the end; "": nothing.
  std::string run() {
    for (int steps = 0; steps < 5000 && !is_over(); ++steps) {
      const uint64_t what = random_() % 100;
      if (what < 50)
        work(static_cast<uint32_t>(random_() % kWorkers));
      else if (what < 80)
        deliver();
      else if (what < 96)
        acknowledge();
      else if (what < 97)
        break_link(static_cast<uint32_t>(random_() % kWorkers));
      else if (what < 98)
        lose_worker(static_cast<uint32_t>(random_() % kWorkers));
      else
        lose_primary();
      if (!wrong_.empty()) return wrong_;
    }
    if (!is_over()) return "the job does not end";
    const TrainingState end = primary_->snapshot();
    for (uint64_t t = 0; t < kBatches; ++t)
      if (end.weights[t] != 1)
        return "batch " + std::to_string(t) + " is in " + std::to_string(end.weights[t]);
    return "";
  }
  int losses() const { return losses_; }
  bool is_over() {
    if (shard_ == 0) return primary_->finished();
    return next_ticket_ == kBatches && again_.empty() && std::ranges::none_of(workers_, [](const auto& one) {
             return one.second.has || (one.second.answer && !one.second.answer->finished);
           });
  }

 private:
  struct Worker {
    uint64_t pass = 0, incarnation = 0, sequence = 0;
    std::optional<Assignment> has;     // what it has heard
    std::optional<Assignment> answer;  // on its way, in entry `entry`
    std::optional<uint64_t> given;     // a batch that a primary gave it last, whether or not it knows
    uint64_t entry = 0;
    bool pushed = false;  // and has not heard the answer
  };

  static std::unique_ptr<Shard> make(const Init& init) {
    ShardOptions options;
    options.expected_workers = kWorkers;
    options.gather = 1h;
    return test::need(Shard::make(init, options));
  }

  void join(uint32_t w) {
    enter(w);
    speak(w);
  }

  void enter(uint32_t w) {
    Worker& worker = workers_[w];
    if (worker.incarnation == 0) worker.incarnation = random_() | 1;
    worker.pass = primary_->join(w, worker.incarnation);
    worker.answer.reset();
  }

  void speak(uint32_t w) {
    const Worker& worker = workers_[w];
    if (worker.pushed)
      push(w);
    else if (!worker.has)
      ask(w);
  }

  // The worker comes back: it is the same process.
  void break_link(uint32_t w) {
    primary_->leave(w, workers_[w].pass, 2, 0, "");
    join(w);
  }

  // Another process comes in its place. Of shard 1's workers, shard 0 gives the batch to somebody once more.
  void lose_worker(uint32_t w) {
    Worker& worker = workers_[w];
    primary_->leave(w, worker.pass, 2, 0, "");
    if (shard_ != 0 && worker.has) again_.push_back(worker.has->ticket);
    if (shard_ != 0 && worker.given && (!worker.has || *worker.given != worker.has->ticket))
      again_.push_back(*worker.given);
    // A replica may not know that shard 0 has the batch back.
    worker = shard_ == 0 ? Worker{.given = worker.given} : Worker();
    join(w);
  }

  void push(uint32_t w) {
    Worker& worker = workers_[w];
    const uint64_t ticket = worker.has->ticket;
    if (!worker.pushed) worker.given.reset();
    std::vector<float> gradient(kBatches, 0.0f);
    gradient[ticket] = -1;
    Push push{.ticket = ticket, .rate = 1, .loss = 1, .correct = 1, .images = 2};
    const bool again = mutant_ == Mutant::AppliesRepeatedPushes && worker.pushed && shard_ != 0;
    push.sequence = again ? ++worker.sequence : worker.sequence;
    if (again) push.ticket = kBatches + ticket;
    if (mutant_ == Mutant::CountsBatchesPerWorker) push.ticket = kBatches * (w + 1) + ticket;
    push.gradients = {reinterpret_cast<char*>(gradient.data()), gradient.size() * sizeof(float)};
    worker.pushed = true;
    if (Status pushed = primary_->push(w, worker.pass, push).status(); !pushed.ok()) wrong_ = pushed.text();
    ask(w);
  }

  // Unless it would wait for others' batches.
  void ask(uint32_t w) {
    Worker& worker = workers_[w];
    Message message;
    if (shard_ != 0) {
      if (!worker.given && !again_.empty()) {
        worker.given = again_.front();
        again_.pop_front();
      }
      if (!worker.given && next_ticket_ < kBatches) worker.given = next_ticket_++;
      worker.answer = Assignment{.finished = !worker.given, .ticket = worker.given.value_or(0)};
      worker.entry = primary_->read({}, Numbers::Fp32, message);
      return;
    }
    const TrainingState now = primary_->snapshot();
    std::set<uint64_t> open(now.again.begin(), now.again.end());
    for (uint64_t t = now.next; t < kBatches; ++t) open.insert(t);
    for (const auto& [other, its] : workers_) {
      if (other == w) continue;
      if (its.given) open.erase(*its.given);
      if (its.has) open.erase(its.has->ticket);  // it may have to push it again
    }
    if (now.done() < kBatches && open.empty()) return;
    Result<Assignment> next = mutant_ == Mutant::None ? primary_->next(w, worker.pass) : next_or_stop(w);
    if (!next.ok()) {
      wrong_ = next.status().text();
      return;
    }
    worker.answer = *next;
    worker.given = worker.answer->finished ? std::nullopt : std::optional(worker.answer->ticket);
    for (auto& [other, its] : workers_)
      if (other != w && its.given == worker.given) its.given.reset();  // it had been lost with it
    worker.entry = primary_->read({}, Numbers::Fp32, message);
  }

  // A mutant may never have work again for a worker.
  Result<Assignment> next_or_stop(uint32_t w) {
    auto next = std::async(std::launch::async, [&] { return primary_->next(w, workers_[w].pass); });
    if (next.wait_for(2s) == std::future_status::timeout)
      primary_->stop(Status(Code::Timeout, "a worker waits for ever"));
    return next.get();
  }

  // A worker hears its answer, or computes and pushes.
  void work(uint32_t w) {
    Worker& worker = workers_[w];
    if (worker.answer) {
      const bool may = !complete_ || copied_ >= worker.entry || mutant_ == Mutant::AnswersBeforeTheReplica;
      if (!may) return;
      worker.has = std::exchange(worker.answer, std::nullopt);
      worker.pushed = false;
      if (worker.has->finished) worker.has.reset();
    } else if (worker.has && !worker.pushed) {
      ++worker.sequence;
      push(w);
    } else if (!worker.answer) {
      ask(w);
    }
  }

  void deliver() {
    Message message;
    if (!primary_->next_entry(copy_, 0ms, message).ok()) return;
    Entry entry;
    ASSERT_TRUE(decode(message, entry).ok());
    if (mutant_ == Mutant::ForgetsWhoHasWhat) entry.book.workers.clear();
    if (mutant_ == Mutant::SkipsAnEntry && entry.applies && skipped_++ == 3) return;
    if (Status followed = replica_->follow(entry); !followed.ok()) wrong_ = followed.text();
    replica_complete_ |= entry.complete;
    acks_.push_back(entry.number);
  }

  void acknowledge() {
    if (acks_.empty()) return;
    copied_ = acks_.front();
    acks_.pop_front();
    primary_->copied(copy_, copied_);
    complete_ = primary_->report().replica == Replica::Complete;
  }

  void lose_primary() {
    if (!replica_complete_ && mutant_ != Mutant::PromotesAnIncompleteCopy) return;
    ++losses_;
    if (!replica_->promote()) {
      if (mutant_ != Mutant::PromotesAnIncompleteCopy)
        wrong_ = "a complete replica does not take over";
      else
        (void)replica_->follow({.number = 1, .complete = true}), (void)replica_->promote();
    }
    primary_ = std::move(replica_);
    acks_.clear();
    complete_ = replica_complete_ = false;
    copied_ = 0;
    // The next replica starts from what this primary has.
    Init init;
    ASSERT_TRUE(decode(primary_->begin_copy(copy_), init).ok());
    replica_ = make(init);
    for (uint32_t w = 0; w < kWorkers; ++w) enter(w);
    for (uint32_t w = 0; w < kWorkers; ++w) speak(w);
  }

  std::mt19937_64 random_;
  const Mutant mutant_;
  const uint32_t shard_;
  std::unique_ptr<Shard> primary_, replica_;
  uint64_t copy_ = 0, copied_ = 0;
  bool complete_ = false, replica_complete_ = false;
  std::deque<uint64_t> acks_;
  std::map<uint32_t, Worker> workers_;
  uint64_t next_ticket_ = 0;    // of shard 1's workers
  std::deque<uint64_t> again_;  // which lost ones of them had
  int losses_ = 0, skipped_ = 0;
  std::string wrong_;
};

uint64_t seeds() {
  const char* given = std::getenv("RADL_SEEDS");
  return given == nullptr ? 500 : std::strtoull(given, nullptr, 10);
}

TEST(Replica, WheneverThePrimaryIsLostEachBatchIsInTheWeightsOnce) {
  int losses = 0;
  for (uint64_t seed = 0; seed < seeds(); ++seed) {
    for (uint32_t shard : {0, 1}) {
      Simulation one(seed, Mutant::None, shard);
      ASSERT_EQ(one.run(), "") << "seed " << seed << ", shard " << shard;
      losses += one.losses();
    }
  }
  EXPECT_GT(losses, 500);
}

class ReplicaMutants : public testing::TestWithParam<Mutant> {};

TEST_P(ReplicaMutants, AreFound) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    for (uint32_t shard : {0, 1})
      if (!Simulation(seed, GetParam(), shard).run().empty()) return;
  }
  FAIL() << "no seed finds it";
}

INSTANTIATE_TEST_SUITE_P(Each, ReplicaMutants,
                         testing::Values(Mutant::AnswersBeforeTheReplica, Mutant::PromotesAnIncompleteCopy,
                                         Mutant::AppliesRepeatedPushes, Mutant::ForgetsWhoHasWhat,
                                         Mutant::SkipsAnEntry, Mutant::CountsBatchesPerWorker));

TEST(Replica, WeightsThatDifferFromThePrimarysAreFound) {
  ShardOptions options;
  auto primary = test::need(Shard::make(counting(0), options)),
       replica = test::need(Shard::make(counting(0), options));
  uint64_t copy = 0;
  primary->begin_copy(copy);
  const uint64_t pass = primary->join(0, 1);
  Status followed;
  for (uint64_t i = 1; i <= kBatches && followed.ok(); ++i) {
    std::vector<float> gradient(kBatches, 0.5f);
    Push push{.ticket = primary->next(0, pass)->ticket, .rate = 1, .loss = 1, .images = 1, .sequence = i};
    push.gradients = {reinterpret_cast<char*>(gradient.data()), gradient.size() * sizeof(float)};
    ASSERT_TRUE(primary->push(0, pass, push).ok());
    Message message;
    while (followed.ok() && primary->next_entry(copy, 0ms, message).ok()) {
      Entry entry;
      ASSERT_TRUE(decode(message, entry).ok());
      if (entry.applies && i == 3) entry.rate = 0.75f;
      followed = replica->follow(entry);
    }
  }
  EXPECT_EQ(followed.code(), Code::Corrupt) << followed.text();
  EXPECT_FALSE(replica->promote());
}

TEST(Replica, AnAnswerWaitsForACompleteReplicaAndForTheChiefIfItIsLost) {
  ShardOptions options;
  auto shard = test::need(Shard::make(counting(0), options));
  const uint64_t pass = shard->join(0, 1);
  EXPECT_TRUE(shard->wait_copied(0, pass, 100).ok()) << "there is none";
  uint64_t copy = 0;
  shard->begin_copy(copy);
  EXPECT_TRUE(shard->wait_copied(0, pass, 100).ok()) << "it is not complete yet";
  shard->copied(copy, 1000);
  EXPECT_EQ(shard->report().replica, Replica::Complete);
  EXPECT_TRUE(shard->wait_copied(0, pass, 1000).ok());
  shard->end_copy(copy);
  EXPECT_EQ(shard->report().replica, Replica::Lost);
  auto waits = std::async(std::launch::async, [&] { return shard->wait_copied(0, pass, 1001); });
  EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
  shard->without_replica();
  EXPECT_TRUE(waits.get().ok());
}

}  // namespace
}  // namespace radl::engine::cluster
