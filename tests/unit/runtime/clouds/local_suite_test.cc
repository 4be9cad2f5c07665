// The conformance suite on the local cloud: real servers on this computer, with isolation where it can be
// had.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/local/network.h"
#include "runtime/clouds/local/node_process.h"
#include "tests/support/wait_until.h"
#include "tests/unit/runtime/clouds/cloud_suite.h"

namespace radl::test {
namespace {

// A program of the user's that works in a folder of its own, beside those of the nodes.
class UsersProgram {
 public:
  explicit UsersProgram(const std::string& folder) {
    std::filesystem::create_directories(folder);
    EXPECT_TRUE(write_file_atomic(folder + "/notes", "mine").ok());
    process_ = ::fork();
    if (process_ != 0) return;
    if (::chdir(folder.c_str()) == 0) ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  ~UsersProgram() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  UsersProgram(const UsersProgram&) = delete;
  UsersProgram& operator=(const UsersProgram&) = delete;
  bool runs() const { return process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == 0; }

 private:
  pid_t process_ = -1;
};

class LocalSubject : public CloudSubject {
 public:
  explicit LocalSubject(local::Isolation isolation)
      : cloud_(local::make_cloud({isolation})), users_(users_folder()) {}
  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return real_world().clock; }
  // Addresses and networks of this computer are named after the infrastructure: others may run this too.
  Context context(const std::string& infrastructure) override {
    Context context = CloudSubject::context(infrastructure);
    context.infrastructure += "-" + unique_;
    work_ = context.work_directory;
    return context;
  }

  ir::Program program() const override { return ProgramBuilder().deploy({"worker", 2}).build(); }
  ir::Program changed_program() const override {
    return ProgramBuilder().deploy({"worker", 2, 4294967296.0}).build();
  }
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["gpu.count"].min = 1;
    return program;
  }
  std::string impossible_feature() const override { return "gpu.count"; }

  // Beside the folders of the infrastructures.
  Json of_others() override {
    Json all = {{"runs", users_.runs()}};
    for (const auto& entry : std::filesystem::directory_iterator(users_folder()))
      all[entry.path().filename()] = *read_file(entry.path());
    return all;
  }

  bool stop(const Seen& seen) override {
    local::NodeDirectory node(work_, seen.id);
    for (int pid : local::processes_of(node)) ::kill(pid, SIGKILL);
    return wait_until([&] { return !local::node_runs(node); });
  }

 private:
  std::string users_folder() const { return folder_.path() + "/server[0]"; }

  std::unique_ptr<Cloud> cloud_;
  UsersProgram users_;
  std::string unique_ = to_hex(random_bytes(4)), work_;
};

CloudCase one_case(const std::string& name, local::Isolation isolation) {
  return {name, [=] { return std::make_unique<LocalSubject>(isolation); }};
}

std::vector<CloudCase> all_cases() {
  std::vector<CloudCase> cases = {one_case("shared", local::Isolation::Off)};
  TemporaryFolder folder;
  const Context context{.work_directory = folder.path(), .environment = environment_of_process()};
  if (local::why_not_isolated(context).empty() && local::why_no_network(local::Egress::Open, context).empty())
    cases.push_back(one_case("isolated", local::Isolation::Required));
  return cases;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Local, CloudSuite, testing::ValuesIn(all_cases()), case_name);

}  // namespace radl::test
