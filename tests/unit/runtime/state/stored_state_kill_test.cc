// kill -9 of a process that writes a state in a bucket, before and after each request that changes an object:
// all committed data survives, and the next owner can continue.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "tests/unit/runtime/state/stored_state_case.h"

namespace radl::test {
namespace {

class StoredStateKillTest : public StoredStateCase {
 protected:
  static constexpr int kRounds = 5;  // commits: enough for parts and for their merge

  // What the process has seen committed, where its parent sees it too.
  struct Shared {
    std::atomic<int> committed{0};
  };
  StoredStateKillTest() {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (memory) Shared;
  }
  ~StoredStateKillTest() override { ::munmap(shared, sizeof(Shared)); }

  // Each commit replaces the same nodes; `protected_by` of the first says which commit it was.
  void commit_rounds(Store& store, int first, int last) {
    for (int round = first; round < last; ++round) {
      std::vector<StateChange> changes;
      for (int i = 0; i < 20; ++i) changes.push_back(state_change::PutResource{node(i, 2000)});
      changes.push_back(state_change::Protect{"worker[0]", std::to_string(round)});
      if (!store.commit(changes).ok()) ::_exit(1);
      shared->committed = round;
    }
  }
  // The number of the last commit that is stored.
  int stored_round() {
    auto store = open(OpenMode::Read);
    EXPECT_TRUE(store.ok()) << store.status().text();
    if (!store.ok()) return -1;
    auto snapshot = (*store)->snapshot();
    EXPECT_TRUE(snapshot.ok()) << snapshot.status().text();
    return snapshot.ok() ? std::atoi(snapshot->resources.at("worker[0]").protected_by.c_str()) : -1;
  }

  Shared* shared;
};

TEST_F(StoredStateKillTest, WhateverWasCommittedIsThere) {
  {
    auto store = locked();
    put_nodes(*store, 0, 100);
    commit_rounds(*store, 1, 2);
  }
  const auto before = buckets.objects();
  ASSERT_FALSE(parts().empty());
  bool merged = false;
  for (const bool done : {false, true}) {
    for (int point = 1;; ++point) {
      SCOPED_TRACE((done ? "after change " : "before change ") + std::to_string(point));
      buckets.set_objects(before);
      shared->committed = 1;
      std::atomic<int> changes{0};
      std::atomic<pid_t> child{0};
      set_fault([&](const std::string& request) -> std::optional<std::string> {
        if (!request.starts_with("PUT ") && !request.starts_with("DELETE ")) return std::nullopt;
        if (++changes != point) return std::nullopt;
        if (done) buckets.answer(request);
        while (child == 0) ::usleep(1000);
        ::kill(child, SIGKILL);
        return "";
      });
      const pid_t pid = ::fork();
      if (pid == 0) {
        commit_rounds(*locked(), 2, kRounds + 1);
        ::_exit(0);
      }
      child = pid;
      int status = 0;
      ASSERT_EQ(::waitpid(pid, &status, 0), pid);
      set_fault(nullptr);
      const int committed = shared->committed, stored = stored_round();
      EXPECT_GE(stored, committed) << "a commit is lost";
      EXPECT_LE(stored, committed + 1);
      auto next = locked();  // its owner's process is gone
      commit_rounds(*next, stored + 1, stored + kRounds);
      EXPECT_EQ(stored_round(), stored + kRounds - 1);
      EXPECT_EQ(all_that_is_stored(), all_of(*next));
      EXPECT_LE(parts().size(), StoredState::kMostChanges + 1) << "a part that nobody needs is left";
      merged |= !before.count(parts()[0]);
      if (testing::Test::HasFailure()) return;
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
        break;
      }
    }
  }
  EXPECT_TRUE(merged);
}

}  // namespace
}  // namespace radl::test
