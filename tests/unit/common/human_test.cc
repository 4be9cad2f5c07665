// Names and numbers as people read them, and names of hosts.
#include "common/human.h"

#include <gtest/gtest.h>

#include "common/host_name.h"
#include "common/suggestion.h"

namespace radl {
namespace {

TEST(Human, LabelsAndNumbersSayWhatTheyAre) {
  EXPECT_EQ(human_label("data_wait_seconds"), "waiting for data");
  EXPECT_EQ(human_label("memory_bytes"), "memory");
  EXPECT_EQ(human_label("some_new_figure"), "some new figure");
  EXPECT_EQ(human_number("test_accuracy", 0.9227), "92.27%");
  EXPECT_EQ(human_number("checkpoint_stall_seconds", 0.00103885), "1.04 ms");
  EXPECT_EQ(human_number("checkpoint_stall_seconds", 0), "0.0 s");
  EXPECT_EQ(human_number("seconds", 65.2), "1:05 min");
  EXPECT_EQ(human_number("images_per_second", 1234.56), "1,235 images/s");
  EXPECT_EQ(human_number("memory_bytes", 3 * 1024 * 1024), "3.0 MiB");
  EXPECT_EQ(human_number("steps", 19550), "19,550");
  EXPECT_EQ(human_number("test_loss", 0.281234567), "0.2812");
}

TEST(Human, SizesAreShownInThePowersTheyWereWrittenIn) {
  EXPECT_EQ(size_text(1e9), "1 GB");
  EXPECT_EQ(size_text(512e6), "512 MB");
  EXPECT_EQ(size_text(1.5e12), "1.5 TB");
  EXPECT_EQ(size_text(double(1 << 30)), "1 GiB");
  EXPECT_EQ(size_text(1.5 * (1 << 30)), "1.5 GiB");
  EXPECT_EQ(size_text(123456789), "117.74 MiB");
  EXPECT_EQ(size_text(16), "16 bytes");
}

TEST(HostName, IsWhatRfc1123Allows) {
  for (const char* name : {"a", "3com", "front.example.org", "a-b", "A1"})
    EXPECT_FALSE(host_name_fault(name)) << name;
  EXPECT_FALSE(host_name_fault("node-#N#", true));
  EXPECT_FALSE(host_name_fault(std::string(63, 'x') + "." + std::string(63, 'y')));
  for (const char* name :
       {"", ".", "a.", ".a", "a..b", "-a", "a-", "a-.b", "a_b", "a b", "a;b", "$(x)", "#N#", "é"})
    EXPECT_TRUE(host_name_fault(name)) << name;
  EXPECT_TRUE(host_name_fault(std::string_view("a\0b", 3)));
  EXPECT_TRUE(host_name_fault(std::string(64, 'x')));
  EXPECT_TRUE(host_name_fault(std::string(62, 'x') + "." + std::string(62, 'x') + "." + std::string(62, 'x') +
                              "." + std::string(62, 'x') + ".toolong"));
  EXPECT_EQ(host_name_fault("ab_c")->begin, 2u);
}

}  // namespace
TEST(Suggestion, KnowsHabitsAndWordsOfNames) {
  EXPECT_EQ(suggestion("accuracy", {"seconds", "test_accuracy", "test_accuracy_tta"}), "test_accuracy");
  EXPECT_EQ(suggestion("accuracy", {"test_accuracy", "train_accuracy"}), "") << "which one?";
  EXPECT_EQ(suggestion("lr", {"epochs", "learning_rate"}), "learning_rate");
  EXPECT_EQ(suggestion("lr", {"epochs"}), "") << "only what exists";
  EXPECT_EQ(suggestion("workers", {"main", "systems"}), "systems");
  EXPECT_EQ(suggestion("num_workers", {"systems", "workers"}), "workers");
}

}  // namespace radl
