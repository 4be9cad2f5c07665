// The conformance suite on the simulated cloud: without faults, with each fault alone, with all of them.
#include "runtime/clouds/simulated/simulated_cloud.h"
#include "tests/support/fake_world.h"
#include "tests/unit/runtime/clouds/cloud_suite.h"

namespace radl::test {
namespace {

using simulated::Faults;
using simulated::SimulatedCloud;

class SimulatedSubject : public CloudSubject {
 public:
  SimulatedSubject(const Faults& faults, uint64_t seed, bool in_file) : faults_(faults) {
    simulated::Options options;
    options.seed = seed;
    options.faults = faults;
    if (in_file) options.file = folder_.path() + "/cloud";
    auto made = SimulatedCloud::make(options, clock_);
    EXPECT_TRUE(made.ok()) << made.status().text();
    cloud_ = std::move(*made);
  }

  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return clock_; }
  int more_than_a_page() const override { return 30; }

  ir::Program program() const override { return with_network_and_disk("22", 8e9); }
  ir::Program changed_program() const override { return with_network_and_disk("80", 16e9); }
  ir::Program impossible_program() const override {
    return ProgramBuilder().deploy({"worker", 1, 1e15}).build();
  }
  std::string impossible_feature() const override { return "memory.size"; }
  // With the fault `tags` it is a cloud in which those of the file count.
  std::vector<std::string> own_tags() const override {
    if (faults_.tags != 0) return {};
    return {"radlc:infrastructure", "radlc:address", "radlc:token"};
  }

  bool tamper(const Seen& seen) override {
    Json patch;
    if (seen.type == "security_group") patch = {{"rules", {{{"protocol", "tcp"}, {"remote", 23}}}}};
    if (seen.type == "volume") patch = {{"size_bytes", 1e9}};
    if (seen.type == "instance") patch = {{"type", "s1.micro"}};
    return !patch.is_null() && cloud_->tamper(seen.id, patch).ok();
  }
  bool stop(const Seen& seen) override { return cloud_->stop(seen.id).ok(); }
  bool breaks(bool on) override { return set(&Faults::broken, on); }
  bool exhaust(bool on) override { return set(&Faults::quota, on); }
  Json of_others() override {
    return {{"left", cloud_->foreign_left()}, {"touched", cloud_->foreign_touched()}};
  }

 private:
  // Always, or as it was.
  bool set(double Faults::*fault, bool on) {
    Faults now = faults_;
    if (on) now.*fault = 1;
    cloud_->set_faults(now);
    return true;
  }

  static ir::Program with_network_and_disk(const std::string& port, double disk) {
    ir::Program program = ProgramBuilder().deploy({"server"}).deploy({"worker", 2}).build();
    ir::Network open;
    open.address = "network.open";
    open.name = "open";
    open.is_public = true;
    open.ports.push_back(
        {"tcp", "0.0.0.0/0", std::stoi(port), std::stoi(port), std::stoi(port), std::stoi(port)});
    program.networks.push_back(open);
    ir::Interface interface;
    interface.index = 1;
    interface.network = "open";
    program.nodes[0].interfaces.push_back(interface);
    ir::Disk data;
    data.index = 1;
    data.size_bytes = disk;
    program.nodes[1].disks.push_back(data);
    return program;
  }

  FakeClock clock_;
  Faults faults_;
  std::unique_ptr<SimulatedCloud> cloud_;
};

CloudCase one_case(const std::string& name, const Faults& faults, uint64_t seed, bool in_file = false) {
  return {name, [=] { return std::make_unique<SimulatedSubject>(faults, seed, in_file); }};
}

std::vector<CloudCase> all_cases() {
  std::vector<CloudCase> cases = {one_case("plain", Faults(), 1), one_case("in_a_file", Faults(), 1, true)};
  for (const simulated::FaultInfo& fault : simulated::fault_table()) {
    Faults alone;
    alone.*fault.value = fault.when_on;
    if (fault.value == &Faults::preemption) continue;  // simulated_cloud_test.cc: here everything is to stay
    cases.push_back(one_case(std::string(fault.name), alone, 2));
  }
  Faults all = *simulated::parse_faults("all,preemption=0,tags=0");
  for (uint64_t seed = 1; seed <= 20; ++seed)
    cases.push_back(one_case("all_" + std::to_string(seed), all, seed));
  cases.push_back(one_case("all_in_a_file", all, 21, true));
  return cases;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Simulated, CloudSuite, testing::ValuesIn(all_cases()), case_name);

}  // namespace radl::test
