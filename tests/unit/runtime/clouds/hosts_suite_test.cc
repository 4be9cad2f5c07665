// The conformance suite on existing machines: SSH servers on loopback, which are as they were after each
// test.
#include <deque>

#include "runtime/clouds/hosts/hosts_cloud.h"
#include "tests/support/existing_machine.h"
#include "tests/unit/runtime/clouds/cloud_suite.h"

namespace radl::test {
namespace {

class HostsSubject : public CloudSubject {
 public:
  HostsSubject() {
    for (int i = 0; i < 4; ++i) {
      machines_.emplace_back(user_.public_key);
      user_.knows("m" + std::to_string(i), machines_.back());
    }
    cloud_ = hosts::make_cloud({user_.config(), std::chrono::milliseconds(0)});
  }
  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return real_world().clock; }

  ir::Program program() const override { return with_machines(2, 0); }
  ir::Program program_beside() const override { return with_machines(2, 2); }
  ir::Program many_machines() const override { return with_machines(4, 0); }
  ir::Program changed_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["memory.size"].min = 2097152.0;
    return program;
  }
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["disk.0.os.name"].equals = "windows";
    return program;
  }
  // Its key and folders stay on the machine, which keeps running (tests/e2e/hosts_test.py).
  bool can_release() const override { return false; }
  std::string impossible_feature() const override { return "disk.0.os.name"; }

  // The machines: whoever gives one back leaves it as it was.
  Json of_others() override {
    Json all = Json::array();
    for (const ExistingMachine& machine : machines_) all.push_back(machine.files());
    return all;
  }

 private:
  static ir::Program with_machines(int count, int first) {
    ir::Program program = ProgramBuilder().deploy({"worker", count, 1048576.0}).build();
    for (ir::Node& node : program.nodes) {
      node.requirements["cpu.count"].min = 1;
      ir::Disk disk;
      for (int i = 0; i < count; ++i) disk.image_urls.push_back("ssh://m" + std::to_string(first + i));
      node.disks.push_back(disk);
    }
    return program;
  }

  SshUser user_;
  std::deque<ExistingMachine> machines_;
  std::unique_ptr<Cloud> cloud_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Hosts, CloudSuite,
                         testing::Values(CloudCase{"loopback",
                                                   [] { return std::make_unique<HostsSubject>(); }}),
                         case_name);

}  // namespace radl::test
