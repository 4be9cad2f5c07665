// Names of checkpoints, and which files are whole ones.
#include "common/checkpoint_file.h"

#include <gtest/gtest.h>

#include "common/digest.h"
#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

TEST(CheckpointFile, NamesSayRunAndStepAndLaterOnesAreGreater) {
  const CheckpointName first{1, 390}, second{2, 7};
  EXPECT_EQ(first.text(), "step-00000390.ckpt");
  EXPECT_EQ(second.text(), "run-0002-step-00000007.ckpt");
  EXPECT_LT(first, second);
  EXPECT_LT((CheckpointName{1, 99999999}), (CheckpointName{1, 123456789}));
  for (const CheckpointName& name : {first, second, CheckpointName{1, 123456789}})
    EXPECT_EQ(parse_checkpoint_name(name.text()), name);
  for (const char* other :
       {"", "run", "step-.ckpt", "step-1.ckpt.part", "run-2step-1.ckpt", "run-2-step-1", "xstep-1.ckpt"})
    EXPECT_FALSE(parse_checkpoint_name(other)) << other;
}

TEST(CheckpointFile, TheNumberOfARunIsReadAsItIsWritten) {
  EXPECT_EQ(parse_checkpoint_run(checkpoint_run_text(12)), 12u);
  for (const char* other : {"", "2", "2\n3\n", "x\n", "-1\n"})
    EXPECT_FALSE(parse_checkpoint_run(other)) << other;
}

TEST(CheckpointFile, OnlyAWholeFileIsACheckpoint) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("step-00000001.ckpt");
  const std::string body = std::string(kCheckpointMagic) + std::string(3 << 20, 'x');
  const std::string whole = body + sha256_hex(body);
  ASSERT_TRUE(write_file_atomic(path, whole).ok());
  EXPECT_TRUE(check_checkpoint_file(path).ok());
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  const std::string other = "x" + body;
  for (const std::string& bad : {flipped, whole.substr(0, whole.size() - 1), whole.substr(0, 40),
                                 std::string(), other + sha256_hex(other)}) {
    ASSERT_TRUE(write_file_atomic(path, bad).ok());
    EXPECT_EQ(check_checkpoint_file(path).code(), Code::Corrupt) << bad.size();
  }
  EXPECT_EQ(check_checkpoint_file(folder.path("none")).code(), Code::NotFound);
}

}  // namespace
}  // namespace radl
