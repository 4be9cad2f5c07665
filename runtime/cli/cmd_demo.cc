// radlc demo: the CIFAR-10 example on this computer, from plan to destroy. It runs the commands that a user
// would type.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/files.h"
#include "common/program_folder.h"
#include "common/stop.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/project_state.h"
#include "runtime/state/copy.h"
#include "runtime/state/store.h"

namespace radl::cli::demo_command {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string folder = "radlc-demo";
  std::vector<std::string> inputs;
  bool keep = false;
};

// The installed example, or the one in the source tree.
Result<std::string> example() {
  const fs::path here = program_folder();
  std::error_code error;
  for (const char* place : {"../share/doc/radlc/examples/cifar10", "../../examples/cifar10"}) {
    const fs::path file = here / place / "training.radl";
    if (fs::exists(file, error)) return read_file(file);
  }
  return Status(Code::NotFound, fmt::format("the example cifar10 is not installed with {}", here.string()))
      .with_hint("reinstall radlc with its documentation");
}

// Writes FOLDER/training.radl; never replaces a file that differs from the example.
Result<std::string> write_example(const std::string& folder) {
  auto text = example();
  if (!text) return text.status();
  const std::string file = folder + "/training.radl";
  std::error_code error;
  if (fs::exists(file, error)) {
    auto there = read_file(file);
    if (!there) return there.status();
    if (*there == *text) return file;
    return Status(Code::Exists, fmt::format("{} differs from the example", file))
        .with_hint(fmt::format("Run `radlc apply {}` to apply your version, or name another folder.", file));
  }
  if (Status made = make_directories(folder); !made.ok()) return made;
  if (Status written = write_file_atomic(file, *text); !written.ok()) return written;
  return file;
}

// Shows a command line and runs it in this process.
int run(Session& session, const std::vector<std::string>& words) {
  std::string line = "radlc";
  for (const std::string& word : words) line += " " + word;
  std::printf("\n$ %s\n", line.c_str());
  std::fflush(stdout);
  auto command = std::find_if(commands().begin(), commands().end(),
                              [&](const Command& each) { return each.name == words.front(); });
  CLI::App app;
  const std::function<int()> body = command->add(app, session);
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  return body();
}

std::vector<std::string> with_inputs(std::vector<std::string> words, const Flags& flags) {
  for (const std::string& input : flags.inputs) words.insert(words.end(), {"--input", input});
  return words;
}

// Copies the logs of a failed run to FOLDER/logs, since the destroy that follows removes them.
Status keep_logs(const Session& session, const std::string& file, const std::string& folder) {
  auto place = driver::find_state(session.host, {.files = {file}});
  if (!place) return place.status();
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world);
  if (!store.ok()) return store.status();
  const std::string to = folder + "/logs";
  if (Status copied = copy_folder((*store)->log_directory(), to); !copied.ok()) return copied;
  std::printf("\nThe logs of the failed run are in %s.\n", to.c_str());
  return {};
}

int run_demo(Session& session, Flags flags) {
  auto file = write_example(flags.folder);
  if (!file) return report(session, file.status());
  flags.inputs.insert(flags.inputs.begin(), "result=./cifar10-run");
  std::printf(
      "One parameter server and two workers on this computer, each with its own SSH server, train "
      "CIFAR-10.\n");

  Cancellation cancellation;
  SignalGuard guard(cancellation);
  int code = run(session, with_inputs({"plan", *file}, flags));
  if (code != kDone) return code;
  code = run(session, with_inputs({"apply", "--auto-approve", *file}, flags));
  if (flags.keep && code == kDone) {
    std::printf("\nThe nodes keep running. `radlc show %s` lists them, `radlc destroy %s` removes them.\n",
                file->c_str(), file->c_str());
    return code;
  }
  if (code != kDone) {
    if (Status kept = keep_logs(session, *file, flags.folder); !kept.ok()) report(session, kept);
    std::printf("\nThe demo stopped (exit status %d). Removing what it created:\n", code);
  }
  const int removed = run(session, {"destroy", "--auto-approve", *file});
  if (code != kDone) return code;
  if (removed == kDone) {
    std::printf(
        "\nThe trained model, its TensorBoard events and the report are in %s/cifar10-run.\n"
        "Change %s and run `radlc apply %s`.\n",
        flags.folder.c_str(), file->c_str(), file->c_str());
  }
  return removed;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("demo", "Train CIFAR-10 on this computer, from plan to destroy");
  auto flags = std::make_shared<Flags>();
  command->add_option("folder", flags->folder, "folder for the example and the trained model")
      ->capture_default_str();
  command->add_option("--input", flags->inputs, "an input of the example, NAME=VALUE");
  command->add_flag("--keep", flags->keep, "keep the nodes at the end");
  return [=, &session] { return run_demo(session, *flags); };
}

}  // namespace radl::cli::demo_command
