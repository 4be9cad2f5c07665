// Modules from elsewhere: brings and pins what `use` names by an address.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "compiler/eval/addresses.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/vendor/vendor.h"

namespace radl::cli::vendor_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> words, module_path;
  bool update = false, check = false;
};

// One lock file serves all programs of a folder: what any of them uses stays.
std::vector<std::string> with_neighbours(std::vector<std::string> files, const std::string& folder) {
  std::vector<std::string> neighbours;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    if (entry.path().extension() != ".radl" || !entry.is_regular_file(error)) continue;
    std::string path = folder.empty() ? entry.path().filename().string() : entry.path().string();
    if (std::find(files.begin(), files.end(), path) == files.end()) neighbours.push_back(std::move(path));
  }
  std::sort(neighbours.begin(), neighbours.end());
  files.insert(files.end(), neighbours.begin(), neighbours.end());
  return files;
}

struct Asked {
  std::vector<std::string> files, names;
  SearchPath search;
};

// `radlc vendor` without FILE means the folder, which may hold several programs.
Result<Asked> asked_for(const Session& session, const Options& options) {
  Asked asked;
  ProjectOptions project;
  project.module_path = options.module_path;
  for (const std::string& word : options.words) {
    std::error_code error;
    std::vector<std::string> rest = {word};
    take_files(rest, project);
    if (!rest.empty() && !options.update && fs::is_directory(word, error))
      project.files.push_back(word);
    else
      asked.names.insert(asked.names.end(), rest.begin(), rest.end());
  }
  if (project.files.empty()) project.files = {"."};
  for (const std::string& file : project.files) {
    std::error_code error;
    if (!fs::is_directory(file, error)) {
      if (!fs::exists(file, error)) return not_found("no such file: " + file);
      asked.files.push_back(file);
      continue;
    }
    auto inside = with_neighbours({}, file == "." ? "" : file);
    if (inside.empty()) return not_found((file == "." ? "this folder" : file) + " has no .radl file");
    asked.files.insert(asked.files.end(), inside.begin(), inside.end());
  }
  auto compile = compile_options(session, project);
  if (!compile.ok()) return std::move(compile).status();
  asked.search.project = project_of(fs::path(asked.files.front()).parent_path().string());
  asked.search.folders = compile->module_path;
  asked.search.standard_library = standard_library_folder(compile->environment);
  return asked;
}

// Prints what is wrong with addresses; Invalid with an empty message then.
Result<std::vector<vendored::Address>> addresses(const Session& session, const Asked& asked, bool all_there) {
  UsedAddresses used = used_addresses(with_neighbours(asked.files, asked.search.project), asked.search);
  for (const Status& wrong : used.wrong) report(session, wrong);
  bool missing = false;
  std::vector<vendored::Address> made;
  for (UsedAddress& each : used.all) {
    if (each.missing && all_there) {
      missing = true;
      report(session, not_found(fmt::format("{}: {} has no module '{}'", each.where, each.address.package,
                                            each.address.module)));
    }
    made.push_back(std::move(each.address));
  }
  if (!used.wrong.empty() || missing) return invalid("");
  return made;
}

int check(const Session& session, const Asked& asked) {
  auto used = addresses(session, asked, true);
  if (!used.ok()) return report(session, used.status());
  auto missing = vendored::find_missing(asked.search.project, *used);
  if (!missing.ok()) return report(session, missing.status());
  for (const std::string& line : *missing) std::fprintf(stderr, "%s\n", shown(line).c_str());
  if (missing->empty()) return kDone;
  return report(session,
                Status(Code::Invalid, fmt::format("{} of the packages that are used {} not here as pinned",
                                                  missing->size(), missing->size() == 1 ? "is" : "are"))
                    .with_hint("`radlc vendor` downloads them"));
}

int run(const Session& session, const Options& options) {
  auto asked = asked_for(session, options);
  if (!asked.ok()) return report(session, asked.status());
  if (!asked->names.empty() && !options.update) {
    return report(
        session,
        invalid("no such file: " + asked->names.front()).with_hint("names of packages go with --update"));
  }
  if (options.check) return check(session, *asked);
  Cancellation cancellation;
  SignalGuard signals(cancellation);
  vendored::Request request;
  request.project = asked->search.project;
  request.used = [&] { return addresses(session, *asked, false); };
  request.update = options.update;
  request.names = asked->names;
  request.say = [](const std::string& line) {
    std::printf("%s\n", shown(line).c_str());
    std::fflush(stdout);
  };
  request.stop = cancellation.finishing();
  http::Client http(session.host.environment());
  auto done = vendored::vendor(request, http);
  if (!done.ok()) return report(session, done.status());
  // Now everything is here that can be: modules that no package has are mistakes.
  if (auto used = addresses(session, *asked, true); !used.ok()) return report(session, used.status());
  if (done->packages == 0)
    std::printf("No module from elsewhere is used.\n");
  else if (done->brought == 0)
    std::printf("Everything is here: %zu package%s.\n", done->packages, done->packages == 1 ? "" : "s");
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "vendor",
      "Download modules from repositories and archives to modules/vendored, pinned in radl.lock.json");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->words,
                      "files or folders (default: this folder); with --update, also names of packages");
  auto* update = command->add_flag("--update", options->update,
                                   "update the tags and branches of the named packages, or of all");
  command
      ->add_flag("--check", options->check, "change nothing; exit with 1 if a package is missing or differs")
      ->excludes(update);
  command->add_option("--module-path", options->module_path, "folder in which modules are searched");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::vendor_command
