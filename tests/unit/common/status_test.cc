#include "common/status.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

TEST(Status, KeepsItsTextsWhenItIsMadeMoreOfInItsPlace) {
  Status status(Code::Auth, "no login");
  status = std::move(status).with_hint("add a key");
  status = std::move(status).at("worker[0]");
  EXPECT_EQ(status.code(), Code::Auth);
  EXPECT_EQ(status.message(), "worker[0]: no login");
  EXPECT_EQ(status.hint(), "add a key");
}

}  // namespace
}  // namespace radl
