#include "runtime/steps/training/engine_bundle.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "common/digest.h"
#include "common/process/process.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/place.h"

namespace radl::training {
namespace {

struct Bundle {
  std::string program;                           // path here
  std::string loader;                            // path here of the dynamic loader
  bool packaged = false;                         // the loader and libraries come from a relocatable package
  std::map<std::string, std::string> libraries;  // name -> path here
  std::string digest;                            // over all of it
};

// The layout of tools/package: bin/radl-train is a script that starts programs/radl-train with bin/loader and
// libraries/. Returns the command that lists the program's libraries.
std::vector<std::string> choose_program(const std::string& engine, Bundle& bundle) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path bin = fs::path(engine).parent_path();
  const fs::path program = bin.parent_path() / "programs" / "radl-train";
  bundle.packaged = fs::exists(bin / "loader", error) && fs::exists(program, error);
  if (!bundle.packaged) {
    bundle.program = engine;
    return {"ldd", engine};
  }
  bundle.program = program;
  bundle.loader = bin / "loader";
  return {bundle.loader, "--library-path", bin.parent_path() / "libraries", "--list", bundle.program};
}

// Reads lines of ldd: "libdnnl.so.2 => /lib/.../libdnnl.so.2 (0x...)" or "/lib64/ld-linux-x86-64.so.2
// (0x...)".
Result<Bundle> find_bundle(const Context& context) {
  auto program = find_engine(context.environment);
  if (!program) return program.status();
  Bundle bundle;
  const std::vector<std::string> list = choose_program(*program, bundle);
  auto listed = run_process(context.environment,
                            {.argv = list, .deadline = std::chrono::seconds(20), .stop = context.stop});
  if (!listed) return listed.status();
  // It fails for a program without libraries too.
  if (listed->exit_status != 0 && (listed->out + listed->err).find("not a dynamic") == std::string::npos)
    return Status(Code::Unsupported, fmt::format("the libraries of {} cannot be listed: ldd: {}{}", *program,
                                                 listed->out, listed->err));
  std::istringstream lines(listed->out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    words >> name >> arrow >> path;
    if (arrow == "=>" && path == "not")
      return Status(Code::NotFound,
                    fmt::format("{} needs {}, which is not installed on this computer", *program, name));
    if (name.starts_with('/')) {
      if (!bundle.packaged) bundle.loader = name;
    } else if (arrow == "=>" && path.starts_with('/')) {
      bundle.libraries[name] = path;
    }
  }
  auto digest = local_digest(bundle.program);
  if (!digest) return digest.status();
  std::string all = *digest;
  for (const auto& [name, path] : bundle.libraries) {
    auto one = local_digest(path);
    if (!one) return one.status();
    all += name + *one;
  }
  bundle.digest = sha256_hex(all);
  return bundle;
}

// The nodes of a run get the same one, even if another is installed meanwhile.
struct KnownBundle {
  std::mutex mutex;
  std::optional<Bundle> bundle;
};

Result<Bundle> bundle_once(const Context& context) {
  KnownBundle& known = context.shared->of<KnownBundle>();
  std::lock_guard lock(known.mutex);
  if (known.bundle) return *known.bundle;
  auto bundle = find_bundle(context);
  if (bundle) known.bundle = *bundle;
  return bundle;
}

bool is_system_library(const std::string& path) {
  return path.starts_with("/lib/") || path.starts_with("/usr/lib/") || path.starts_with("/lib64/") ||
         path.starts_with("/usr/lib64/");
}

Status check_architecture(Remote& remote, const Stop& stop) {
  ExecOptions options;
  options.stop = stop;
  utsname here{};
  uname(&here);
  auto there = exec_for_data(remote, "uname -sm", options);
  if (!there) return there.status();
  std::string wanted = fmt::format("{} {}\n", here.sysname, here.machine);
  if (there->out == wanted) return {};
  return {Code::Unsupported,
          fmt::format("the node is a {} and radl-train was built for {}",
                      there->out.substr(0, there->out.find('\n')), wanted.substr(0, wanted.size() - 1))};
}

}  // namespace

Result<Engine> place_engine(const NodeHandle& node, const Context& context) {
  auto bundle = bundle_once(context);
  if (!bundle) return bundle.status();
  bool local = !node.attributes.value("local_directory", "").empty();
  // A package's libraries need the package's loader, whatever the node has.
  const bool system_loader = local && !bundle->packaged;
  Engine engine;
  engine.folder = fmt::format("~/.radl/engine/{}{}", bundle->digest.substr(0, 16), local ? "-local" : "");
  if (!local) {
    auto remote = node.connect();
    if (!remote) return remote.status();
    if (Status s = check_architecture(**remote, context.stop); !s.ok()) return s;
  }
  auto place = [&](const std::string& from, const std::string& to, unsigned mode) -> Status {
    auto placed = place_file(node, context, from, engine.folder + "/" + to, mode);
    if (!placed) return placed.status();
    engine.sent |= *placed;
    return {};
  };
  if (Status s = place(bundle->program, "radl-train", 0555); !s.ok()) return s;
  bool own_libraries = false;
  for (const auto& [name, path] : bundle->libraries) {
    // A local node has this computer's system libraries; any other gets all, and the loader that fits them.
    if (system_loader && is_system_library(path)) continue;
    own_libraries = true;
    if (Status s = place(path, "lib/" + name, 0444); !s.ok()) return s;
  }
  std::string folder = shell_path(engine.folder);
  if (system_loader) {
    engine.command =
        (own_libraries ? "env LD_LIBRARY_PATH=" + folder + "/lib " : "") + folder + "/radl-train";
  } else {
    if (Status s = place(bundle->loader, "lib/loader", 0555); !s.ok()) return s;
    engine.command = fmt::format("{0}/lib/loader --library-path {0}/lib {0}/radl-train", folder);
  }
  return engine;
}

std::vector<jobs::Launch> launches(const Engine& engine, const std::vector<Task>& tasks) {
  std::vector<jobs::Launch> all;
  for (const auto& task : tasks)
    all.push_back({task.file(), fmt::format("{} job-{}.json", engine.command, task.file())});
  return all;
}

Status write_job(jobs::Member& member, const Task& task, const Json& job, const std::string& key,
                 const Stop& stop) {
  Status written = member.put_bytes(key, "job.key", stop, 0600);
  if (!written.ok()) return written;
  return member.put_bytes(job.dump(1) + "\n", "job-" + task.file() + ".json", stop, 0600);
}

std::string files_of_a_run(bool fresh) {
  return std::string("job-*.json job.key progress-*.jsonl") + (fresh ? " checkpoint events model" : "");
}

}  // namespace radl::training
