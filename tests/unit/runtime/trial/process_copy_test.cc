// Copies of a process: what they report, and when there is none.
#include "runtime/trial/process_copy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "common/files.h"
#include "common/stop.h"

namespace radl {
namespace {

std::string answer_of(const ProcessCopy& copy) {
  std::string text;
  char buffer[64];
  for (ssize_t got; (got = ::read(copy.answers, buffer, sizeof buffer)) != 0;) {
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  ::close(copy.answers);
  return text;
}

int exit_status(const ProcessCopy& copy) {
  int status = -1;
  while (::waitpid(copy.process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessCopy, ReportsThroughItsPipeAndChangesNothingHere) {
  int changed = 0;
  auto copy = copy_process([&](int answers) {
    changed = 7;
    (void)write_all(answers, "changed to " + std::to_string(changed), "pipe");
  });
  ASSERT_TRUE(copy.ok()) << copy.status().text();
  EXPECT_EQ(answer_of(*copy), "changed to 7");
  EXPECT_EQ(exit_status(*copy), 0);
  EXPECT_EQ(changed, 0);
}

TEST(ProcessCopy, IsRefusedWhileThereIsASecondThread) {
  StopSource over;
  std::thread other([stop = over.token()] { (void)stop.sleep(std::chrono::hours(1)); });
  const auto refused = copy_process([](int) {}, std::chrono::milliseconds(0));
  over.request();
  other.join();
  EXPECT_EQ(refused.status().code(), Code::Internal);
  auto copy = copy_process([](int) {});
  ASSERT_TRUE(copy.ok()) << copy.status().text();
  EXPECT_EQ(answer_of(*copy), "");
  EXPECT_EQ(exit_status(*copy), 0);
}

}  // namespace
}  // namespace radl
