// What predictions are made of: look at it, take it elsewhere, forget it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/human.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/figures/calibration_store.h"

namespace radl::cli::calibration_command {
namespace {

using foresight::Calibration;

struct Options {
  std::string file, what;
  ResultFile out;
  bool json = false, all = false;
};

constexpr const char* kStudyName = "anwar-2021";  // what is built in, by name

std::string as_text(const Calibration& calibration) {
  return to_json(calibration).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int run_show(const Session& session, const Options& options) {
  auto calibration = load_calibration(session.host.calibration_file());
  if (!calibration.ok()) return report(session, calibration.status());
  if (options.json) {
    std::fputs(as_text(*calibration).c_str(), stdout);
    return kDone;
  }
  if (calibration->empty()) {
    std::fputs("Nothing was measured yet: radlc profile FILE\n", stderr);
    return kDone;
  }
  for (const foresight::MeasuredProfile& profile : calibration->profiles) {
    std::printf("profile  %s  on %s, %s cores, %s:", shown(profile.family).c_str(),
                shown(profile.machine).c_str(), plain_number(profile.cores).c_str(),
                shown(profile.taken_at.substr(0, 10)).c_str());
    for (const auto& point : profile.node.steps.points)
      std::printf("  %g images %s", point.batch, duration_text(point.seconds).c_str());
    std::printf("\n");
  }
  std::map<std::string, size_t> runs, programs, studies;
  for (const foresight::TrainingRun& run : calibration->runs) ++runs[run.family + "  on " + run.machine];
  for (const foresight::ProgramRun& run : calibration->programs)
    ++programs[fmt::format("{}  on {} x {}", run.family, run.nodes, run.machine)];
  for (const foresight::StudyRow& row : calibration->studies) ++studies[row.study + "  on " + row.machine];
  for (const auto& [of, count] : runs) std::printf("runs     %s: %zu\n", shown(of).c_str(), count);
  for (const auto& [of, count] : programs) std::printf("program  %s: %zu\n", shown(of).c_str(), count);
  for (const auto& [of, count] : studies) std::printf("study    %s: %zu rows\n", shown(of).c_str(), count);
  std::printf("digest   %s\n", digest_of(*calibration).c_str());
  return kDone;
}

int run_export(const Session& session, const Options& options) {
  auto calibration = load_calibration(session.host.calibration_file());
  if (!calibration.ok()) return report(session, calibration.status());
  return put_result(session, as_text(*calibration), options.out, ResultKind::Calibration);
}

Result<Calibration> read_import(const std::string& file) {
  if (file == kStudyName) {
    Calibration calibration;
    calibration.studies = foresight::study_rows();
    return calibration;
  }
  auto text = read_file(file, size_t{1} << 28);
  if (!text.ok()) return std::move(text).status();
  if (file.ends_with(".csv")) {
    auto rows = foresight::read_study_rows(*text, file);
    if (!rows.ok()) return std::move(rows).status();
    Calibration calibration;
    if (rows->empty()) return invalid(file + ": it has no rows");
    calibration.studies = std::move(*rows);
    return calibration;
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return invalid(file + ": not a file that `radlc calibration export` wrote");
  auto calibration = foresight::calibration_from_json(json);
  if (!calibration.ok()) return std::move(calibration).status().at(file);
  return calibration;
}

int run_import(const Session& session, const Options& options) {
  auto calibration = read_import(options.file);
  if (!calibration.ok()) return report(session, calibration.status());
  auto store = CalibrationStore::open(session.host.calibration_file());
  if (!store.ok()) return report(session, store.status());
  auto added = store->add(*calibration);
  if (!added.ok()) return report(session, added.status());
  std::printf("%zu added\n", *added);
  return kDone;
}

int run_forget(const Session& session, const Options& options) {
  if (options.what.empty() != options.all)
    return report(session, invalid("pass the name of a family or a study, or --all"));
  auto store = CalibrationStore::open(session.host.calibration_file());
  if (!store.ok()) return report(session, store.status());
  auto removed = store->forget(options.all ? std::nullopt : std::optional(options.what));
  if (!removed.ok()) return report(session, removed.status());
  if (*removed == 0 && !options.all)
    return report(session,
                  not_found("no measurements of '" + options.what + "'").with_hint("radlc calibration show"));
  std::printf("%zu forgotten\n", *removed);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("calibration", "Show, export, import or remove the measurements behind forecasts");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  auto chosen = std::make_shared<std::function<int()>>();
  auto part = [&](const char* name, const char* what, int (*run)(const Session&, const Options&)) {
    CLI::App* one = command->add_subcommand(name, what);
    one->callback([=, &session] { *chosen = [=, &session] { return run(session, *options); }; });
    return one;
  };
  part("show", "List profiles, runs and studies, and their digest", run_show)
      ->add_flag("--json", options->json, "as JSON");
  add_result_file(
      *part("export", "Print all measurements as JSON, without names of nodes, people or infrastructures",
            run_export),
      "FILE", options->out, "file to write (default: standard output)");
  part("import", "Add an export of another computer, or a study of epoch times", run_import)
      ->add_option("FILE", options->file, "a file of `export`, a .csv of a study, or the built-in anwar-2021")
      ->required();
  CLI::App* forget = part("forget", "Remove the measurements of a family or a study", run_forget);
  forget->add_option("NAME", options->what,
                     "such as 'resnet20 on cifar10', 'mnist (train.py)' of a program, or mnist");
  forget->add_flag("--all", options->all, "everything");
  return [chosen] { return (*chosen)(); };
}

}  // namespace radl::cli::calibration_command
