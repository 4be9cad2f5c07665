// Every command of radlc, in the order in which --help shows them.
#include "runtime/cli/command.h"

#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/shown.h"

namespace radl::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"check", "Run", check_command::add, "radlc check FILE.radl"},
      {"plan", "Run", plan_command::add, "radlc plan FILE.radl --cloud ec2"},
      {"apply", "Run", apply_command::add, "radlc apply FILE.radl --input workers=4"},
      {"scale", "Run", scale_command::add, "radlc scale FILE.radl worker 4"},
      {"autoscale", "Run", autoscale_command::add, "radlc autoscale FILE.radl"},
      {"wait", "Run", wait_command::add, "radlc wait FILE.radl training/cifar"},
      {"destroy", "Run", destroy_command::add, "radlc destroy FILE.radl"},
      {"test", "Run", test_command::add, "radlc test FILE.radl --runs 100"},
      {"demo", "Run", demo_command::add, "radlc demo --keep"},
      {"serve", "Run", serve_command::add, "radlc serve --listen 127.0.0.1:8899"},
      {"login", "Run", login_command::add, "radlc login https://radlc.example.org"},
      {"import", "Run", import_command::add, "radlc import FILE.radl 'worker[0]' i-0123456789abcdef0"},
      {"im-import", "Run", im_import_command::add,
       "radlc im-import https://im.example.org:8800/infrastructures/ID --auth auth.dat"},
      {"check-auth", "Inspect", check_auth_command::add, "radlc check-auth"},
      {"list", "Inspect", list_command::add, "radlc list"},
      {"show", "Inspect", show_command::add, "radlc show FILE.radl"},
      {"output", "Inspect", show_command::add_output, "radlc output FILE.radl accuracy"},
      {"ssh", "Inspect", ssh_command::add, "radlc ssh FILE.radl 'worker[0]'"},
      {"exec", "Inspect", exec_command::add, "radlc exec FILE.radl worker -- uptime"},
      {"cp", "Inspect", cp_command::add, "radlc cp results.txt 'worker[0]:results.txt'"},
      {"logs", "Inspect", logs_command::add, "radlc logs -f FILE.radl training/cifar"},
      {"queue", "Inspect", queue_command::add, "radlc queue FILE.radl"},
      {"farm", "Inspect", farm_command::add, "radlc farm status FILE.radl --watch"},
      {"run", "Run", run_command::add, "radlc run FILE.radl train.py -- --epochs 3"},
      {"submit", "Run", submit_command::add, "radlc submit FILE.radl job.sh"},
      {"cancel", "Run", cancel_command::add, "radlc cancel FILE.radl program/train"},
      {"state", "Inspect", state_command::add, "radlc state list FILE.radl"},
      {"catalog", "Inspect", catalog_command::add, "radlc catalog list --region eu-west-1 --cpu 8"},
      {"history", "Inspect", history_command::add, "radlc history"},
      {"runs", "Inspect", runs_command::add, "radlc runs -f FILE.radl"},
      {"recommend", "Forecast", recommend_command::add, "radlc recommend FILE.radl --deadline 3h"},
      {"profile", "Forecast", profile_command::add, "radlc profile FILE.radl"},
      {"calibration", "Forecast", calibration_command::add, "radlc calibration show"},
      {"fmt", "Write", fmt_command::add, "radlc fmt FILE.radl"},
      {"vendor", "Write", vendor_command::add, "radlc vendor FILE.radl"},
      {"compile", "Write", compile_command::add, "radlc compile FILE.radl"},
      {"convert", "Write", convert_command::add, "radlc convert FILE.radl -o FILE.json"},
      {"doc", "Write", doc_command::add, "radlc doc FILE.radl"},
      {"graph", "Write", graph_command::add, "radlc graph FILE.radl"},
      {"console", "Learn", console_command::add, "radlc console FILE.radl"},
      {"explain", "Learn", explain_command::add, "radlc explain E0318"},
      {"lsp", "Other", lsp_command::add, "radlc lsp"},
      {"completions", "Other", completions_command::add,
       "radlc completions bash > ~/.local/share/bash-completion/completions/radlc"},
      {"version", "Other", version_command::add, "radlc version --json"},
  };
  return all;
}

int report(const Session& session, const Status& status) {
  Style style(session.terminal.color);
  // An empty message: the findings were shown already.
  if (!status.message().empty()) {
    std::fprintf(stderr, "%s%serror:%s %s\n", style.bold().data(), style.red().data(), style.off().data(),
                 shown(status.message()).c_str());
  }
  if (!status.hint().empty()) std::fprintf(stderr, "  %s\n", shown(status.hint()).c_str());
  switch (status.code()) {
    case Code::Ok:
      return kDone;
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
      return kUserError;
    case Code::Cancelled:
      return kInterrupted;
    default:
      return kWorldError;
  }
}

}  // namespace radl::cli
