// Takes an infrastructure over from a running Infrastructure Manager.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/im_takeover.h"
#include "runtime/cli/import_run.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/net/ssh/keys.h"

namespace radl::cli::im_import_command {
namespace {

struct Options {
  ProjectOptions project;
  RunOptions run;
  std::string uri, file;
  bool forget = false;
};

constexpr size_t kLargestFile = size_t{16} << 20;

// The file of an import that was interrupted is the same; any other is the user's.
Status write_file(const std::string& path, const std::string& text) {
  auto there = read_file(path, kLargestFile);
  if (there.ok() && *there == text) return {};
  if (there.status().code() == Code::NotFound)
    return write_file_atomic(path, text, 0600);  // the IM's RADL may hold passwords
  if (!there.ok()) return there.status();
  return Status(Code::Exists, path + " exists and is not what this import would write")
      .with_hint("name another file with --output");
}

// Keeps the private key beside the state and gives the fingerprint that a node is known by.
Result<std::string> keep_key(const Session& session, const std::string& folder, const ImNode& node,
                             const Stop& stop) {
  if (node.key.empty()) return std::string();
  const std::string path = folder + "/" + node.address;
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  const std::string key = node.key.ends_with('\n') ? node.key : node.key + "\n";
  if (Status written = write_file_atomic(path, key, 0600); !written.ok()) return written;
  ProcessRequest request;
  request.argv = {"ssh-keygen", "-y", "-P", "", "-f", path};
  request.stop = stop;
  auto line = run_process(session.host.environment(), request);
  if (!line.ok()) return line.status();
  if (line->exit_status != 0)
    return invalid(node.address + ": the IM's private key for it cannot be read: ssh-keygen: " + line->err);
  if (Status written = write_file_atomic(path + ".pub", line->out, 0600); !written.ok()) return written;
  return ssh::fingerprint_of_line(line->out);
}

// The security groups of its networks, where the cloud has them under the IM's names. The others stay the
// IM's, and the next apply creates radlc's own beside them.
Status import_groups(ImportRun& import, const Plan& plan, const ImInfrastructure& from,
                     const std::vector<std::string>& networks) {
  for (const std::string& network : networks) {
    for (const Action& action : plan.actions) {
      const bool of_it =
          action.id == "network." + network || action.id.starts_with("network." + network + "@");
      if (!of_it || action.type != "security_group" || action.verb != Verb::Create) continue;
      auto record = import_resource(import.run, plan, action.id, im_group(from.id, network));
      if (!record.ok() && record.status().code() != Code::NotFound) return record.status();
      if (record.ok()) std::printf("%s is %s\n", shown(record->address).c_str(), shown(record->id).c_str());
    }
  }
  return {};
}

Status import_nodes(const Session& session, ImportRun& import, const Plan& plan, const ImTakeover& made,
                    const Stop& stop) {
  for (const ImNode& node : made.nodes) {
    if (Status stopped = stop.check(); !stopped.ok()) return stopped;
    auto key = keep_key(session, import.store->work_directory() + "/im-keys", node, stop);
    if (!key.ok()) return key.status();
    auto record = import_resource(import.run, plan, node.address, node.id, *key);
    if (!record.ok()) return record.status();
    std::printf("%s is %s of %s\n", shown(record->address).c_str(), shown(record->id).c_str(),
                shown(record->cloud).c_str());
  }
  return {};
}

// What an interrupted import has recorded already.
void leave_recorded(const Snapshot& state, ImTakeover& made) {
  std::erase_if(made.nodes, [&](const ImNode& node) {
    const auto found = state.resources.find(node.address);
    return found != state.resources.end() && found->second.id.ends_with(node.id);
  });
}

int import_into_state(const Session& session, const Options& options, const ImInfrastructure& from,
                      ImTakeover made, const Stop& stop) {
  auto opened = ImportRun::open(session, options.project, options.run, "im-import");
  if (!opened.ok()) return report(session, opened.status());
  ImportRun& import = **opened;
  auto snapshot = import.store->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  leave_recorded(*snapshot, made);
  auto plan = plan_for(*import.project, *snapshot, *import.machinery, {}, nullptr, tell_on_stderr(), stop);
  if (!plan.ok()) return report_unplanned(session, *import.project, plan.status());
  Status imported = import_groups(import, *plan, from, made.networks);
  if (imported.ok()) imported = import_nodes(session, import, *plan, made, stop);
  return imported.ok() ? int(kDone) : report(session, imported);
}

void tell_what_is_left(const ImInfrastructure& from, const Options& options, const std::string& file) {
  std::fprintf(
      stderr,
      "note: the group %s, and other things besides machines and their networks' security groups that the IM "
      "created, stay as they are\n",
      shown(im_group(from.id, "")).c_str());
  if (!options.forget)
    std::fprintf(
        stderr,
        "note: the IM still manages these machines, and would delete them with its infrastructure; add "
        "--forget to make it drop its record\n");
  std::printf("To see how they differ from the file: radlc plan --refresh %s\n", shell_word(file).c_str());
}

int run_im_import(const Session& session, Options& options) {
  auto at = im_address(options.uri);
  if (!at.ok()) return report(session, at.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto auth = load_auth(session.host.environment(), options.run.auth, stop);
  if (!auth.ok()) return report(session, auth.status());
  if (!*auth)
    return report(session, invalid("an auth file with a line of the type InfrastructureManager is required")
                               .with_hint("pass --auth FILE"));
  auto service = ImService::make(session.host.environment(), *at, **auth, stop);
  if (!service.ok()) return report(session, service.status());
  auto from = service->read();
  if (!from.ok()) return report(session, from.status());
  auto made = take_over(*session.host.providers, *from);
  if (!made.ok()) return report(session, made.status());
  if (options.file.empty()) options.file = "im-" + from->id.substr(0, 8) + ".radl";
  if (Status written = write_file(options.file, made->file); !written.ok()) return report(session, written);
  std::printf("Wrote %s\n", shown(options.file).c_str());
  for (const std::string& note : made->notes) std::fprintf(stderr, "note: %s\n", shown(note).c_str());
  options.project.files = {options.file};
  if (const int code = import_into_state(session, options, *from, std::move(*made), stop); code != kDone)
    return code;
  if (options.forget)
    if (Status forgotten = service->forget(); !forgotten.ok()) return report(session, forgotten);
  tell_what_is_left(*from, options, options.file);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("im-import", "Take an infrastructure over from an Infrastructure Manager");
  auto options = std::make_shared<Options>();
  command->add_option("URI", options->uri, "the infrastructure: https://HOST:8800/infrastructures/ID")
      ->required();
  command->add_option("-o,--output", options->file, "RADL file to write (default: im-ID.radl)")
      ->type_name("FILE");
  command->add_flag("--forget", options->forget,
                    "make the IM drop its record of the infrastructure afterwards; the machines continue");
  add_place_options(*command, options->project);
  add_cloud_option(*command, options->run);
  add_lock_timeout(*command, options->run.lock_timeout);
  return [options, &session] { return run_im_import(session, *options); };
}

}  // namespace radl::cli::im_import_command
