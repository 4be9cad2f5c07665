// What every cloud must do, whatever it is: the behaviour that runtime/exec relies on
// (runtime/clouds/cloud.h).
//
// A cloud's own test program links radl_cloud_suite (cloud_suite_cases.cc), describes the cloud as a
// CloudSubject and instantiates the cases:
//   #include "tests/unit/runtime/clouds/cloud_suite.h"
//   INSTANTIATE_TEST_SUITE_P(Local, CloudSuite, testing::Values(CloudCase{"plain", make_subject}),
//   case_name);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "tests/support/runtime_programs.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/runtime/clouds/cloud_user.h"

namespace radl::test {

class CloudSubject {
 public:
  virtual ~CloudSubject() = default;
  virtual Cloud& cloud() = 0;
  virtual Clock& clock() = 0;
  // Of a run for this infrastructure; two infrastructures have two work directories.
  virtual Context context(const std::string& infrastructure) {
    Context context{.environment = environment_of_process()};
    context.infrastructure = infrastructure;
    context.work_directory = folder_.path() + "/" + infrastructure;
    context.run = "run-1";
    return context;
  }

  // A program with at least one machine, and one that differs from it in what can be changed in place.
  virtual ir::Program program() const {
    return ProgramBuilder().deploy({"server"}).deploy({"worker", 2}).build();
  }
  virtual ir::Program changed_program() const { return program(); }
  // A program with a machine that cannot be had, and the feature that stands against it.
  virtual ir::Program impossible_program() const = 0;
  virtual std::string impossible_feature() const = 0;
  // As many machines as more than one page of the cloud's lists takes.
  virtual int more_than_a_page() const { return 3; }
  virtual ir::Program many_machines() const {
    return ProgramBuilder().deploy({"worker", more_than_a_page()}).build();
  }
  // For an infrastructure beside one that has program(): another one where they cannot have the same
  // machines.
  virtual ir::Program program_beside() const { return program(); }

  // --- what a test may do behind the cloud's back; false: it cannot be done here ---
  // False: a machine's host key is learned at the first contact.
  virtual bool tells_host_keys() const { return true; }
  // Changes something of the resource that Seen::spec shows.
  virtual bool tamper(const Seen&) { return false; }
  virtual bool stop(const Seen&) { return false; }
  // Machines that are asked for become Broken, until it is called with false.
  virtual bool breaks(bool) { return false; }
  // No further machine can be had, until it is called with false.
  virtual bool exhaust(bool) { return false; }

  // Tags of a machine that radlc goes by; none: the cloud has none, or none that the file's could replace.
  virtual std::vector<std::string> own_tags() const { return {}; }
  // False: what was released keeps what radlc has put on it, and no test can take that off again.
  virtual bool can_release() const { return true; }
  // What belongs to others and must stay as it is.
  virtual Json of_others() { return nullptr; }

 protected:
  TemporaryFolder folder_;
};

struct CloudCase {
  std::string name;
  std::function<std::unique_ptr<CloudSubject>()> make;
};
inline std::string case_name(const testing::TestParamInfo<CloudCase>& info) { return info.param.name; }
inline void PrintTo(const CloudCase& one, std::ostream* out) { *out << one.name; }

class CloudSuite : public testing::TestWithParam<CloudCase> {
 protected:
  void SetUp() override {
    subject_ = GetParam().make();
    program_ = subject_->program();
    others_ = subject_->of_others();
  }
  // A test leaves nothing behind, and nothing of others is ever touched.
  void TearDown() override {
    for (auto& [infrastructure, user] : users_) {
      Status swept = user->sweep();
      EXPECT_TRUE(swept.ok()) << infrastructure << ": " << swept.text();
    }
    EXPECT_EQ(subject_->of_others(), others_) << "resources of others";
  }

  Cloud& cloud() { return subject_->cloud(); }
  Clock& clock() { return subject_->clock(); }
  CloudSubject& subject() { return *subject_; }
  CloudUser& user(const std::string& infrastructure = "demo-1") {
    auto& user = users_[infrastructure];
    if (!user) user = std::make_unique<CloudUser>(cloud(), clock(), subject_->context(infrastructure));
    return *user;
  }

  // Asks until the cloud answers.
  Status insist(const std::function<Status()>& ask) {
    Status answer = ask();
    for (int attempt = 0; attempt < 100; ++attempt) {
      const Code code = answer.code();
      if (code != Code::Retry && code != Code::Lost && code != Code::Timeout) return answer;
      clock().sleep(cloud().pace().first);
      answer = ask();
    }
    return answer;
  }

  Design design(const ir::Program& program) {
    Result<Design> made = user().design(program);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return made.ok() ? *made : Design();
  }
  Design design() { return design(program_); }
  const ir::Program& program() const { return program_; }

  void make_all(CloudUser& user) {
    Status made = user.make_all(design());
    ASSERT_TRUE(made.ok()) << made.text();
  }

  std::vector<Seen> everything(CloudUser& user) {
    user.settle();
    Result<std::vector<Seen>> seen = user.look({.everything = true});
    EXPECT_TRUE(seen.ok()) << seen.status().text();
    return seen.ok() ? *seen : std::vector<Seen>();
  }

  static std::multiset<std::string> ids(const std::vector<Seen>& all) {
    std::multiset<std::string> ids;
    for (const Seen& one : all) ids.insert(one.id);
    return ids;
  }
  static std::multiset<std::string> ids(const CloudUser& user) {
    std::multiset<std::string> ids;
    for (const auto& [address, one] : user.made) ids.insert(one.id);
    return ids;
  }
  const Wanted* machine_of(const Design& design) {
    for (const Wanted& wanted : design.resources)
      if (!wanted.node.empty()) return &wanted;
    return nullptr;
  }

  // Makes what a machine refers to, and says which machine it is for.
  Wanted machine_with_its_needs(CloudUser& user, const Design& design) {
    const Wanted* machine = machine_of(design);
    EXPECT_NE(machine, nullptr);
    for (const Wanted& wanted : design.resources) {
      bool needed = std::count(machine->references.begin(), machine->references.end(), wanted.address) != 0;
      if (!needed && wanted.node.empty()) needed = true;  // what those refer to in turn
      if (!needed || user.made.count(wanted.address)) continue;
      Result<Seen> made = user.make(wanted);
      EXPECT_TRUE(made.ok()) << wanted.address << ": " << made.status().text();
    }
    return *machine;
  }

  // The fields shown by the cloud that differ from the request.
  static std::vector<std::string> differing(const Json& asked, const Json& shown) {
    std::vector<std::string> fields;
    for (const auto& [field, value] : shown.items())
      if (asked.contains(field) && asked.at(field) != value) fields.push_back(field);
    return fields;
  }

 private:
  std::unique_ptr<CloudSubject> subject_;
  Json others_;
  ir::Program program_;
  std::map<std::string, std::unique_ptr<CloudUser>> users_;
};

}  // namespace radl::test
