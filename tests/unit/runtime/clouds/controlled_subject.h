// A cloud whose account is on a test server: tests request changes outside radlc through RADL_TEST_CONTROL.
// The server's own tests start it and the suite's program.
#pragma once

#include <cstdlib>

#include "common/http/http.h"
#include "tests/unit/runtime/clouds/cloud_suite.h"

namespace radl::test {

class ControlledSubject : public CloudSubject {
 public:
  ControlledSubject(std::unique_ptr<CloudFamily> family, const CloudId& id) : family_(std::move(family)) {
    auto made = family_->make(id);
    EXPECT_TRUE(made.ok()) << made.status().text();
    cloud_ = std::move(*made);
  }
  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return real_world().clock; }
  ir::Program changed_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["instance_tags"].equals = "project=x";
    return program;
  }
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["memory.size"].min = 1e15;
    return program;
  }
  std::string impossible_feature() const override { return "memory.size"; }
  bool tells_host_keys() const override { return false; }
  int more_than_a_page() const override { return 5; }

  bool stop(const Seen& seen) override { return control("stop/" + seen.id) == Json(true); }
  bool breaks(bool yes) override { return control(yes ? "breaks/yes" : "breaks/no") == Json(true); }
  bool exhaust(bool yes) override { return control(yes ? "exhaust/yes" : "exhaust/no") == Json(true); }
  Json of_others() override { return control("others"); }

 protected:
  Json control(const std::string& what) {
    http::Request request;
    request.url = std::string(std::getenv("RADL_TEST_CONTROL")) + "/" + what;
    request.stall_seconds = 120;
    auto answer = http_.send(request);
    EXPECT_TRUE(answer.ok() && answer->ok()) << what;
    return answer.ok() ? Json::parse(answer->body, nullptr, false) : Json();
  }

 private:
  http::Client http_{environment_of_process()};
  std::unique_ptr<CloudFamily> family_;
  std::unique_ptr<Cloud> cloud_;
};

// Of a program's main. Without a server there is nothing to try: 77 is "skipped" for ctest.
inline int run_with_server(int argc, char** argv, const char* variable, const char* starts_one) {
  if (!std::getenv(variable)) {
    std::printf("skipped: %s names no server (%s starts one)\n", variable, starts_one);
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace radl::test
