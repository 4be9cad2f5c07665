// radl-train report: a finished run as one HTML page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "common/files.h"
#include "engine/cli/command.h"
#include "engine/export/report_html.h"

namespace radl::engine::cli::report_command {
namespace {

// A run's folder, a model's folder, or the report itself.
std::string find_report(const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code e;
  for (const char* inside : {"report.json", "model/report.json"}) {
    if (fs::exists(fs::path(place) / inside, e)) return (fs::path(place) / inside).string();
  }
  return place;
}

int run(const std::string& place, std::string output, bool force) {
  const std::string path = find_report(place);
  auto text = read_file(path, 256 << 20);
  if (!text.ok()) return fail(text.status());
  auto page = exporter::report_html(*text, path);
  if (!page.ok()) return fail(page.status());
  if (output == "-") {
    fmt::print("{}", *page);
    return kDone;
  }
  if (output.empty()) output = (std::filesystem::path(path).parent_path() / "report.html").string();
  const OutputRules rules{.ours = exporter::is_report_html, .force = force};
  if (Status s = write_output(output, *page, rules); !s.ok()) return fail(s);
  fmt::print("{}\n", output);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context&) {
  auto place = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  auto* c = app.add_subcommand("report",
                               "Write an HTML page about a finished run, with curves and confusion matrix");
  c->add_option("run", *place, "folder of the run or of its model, or its report.json")->required();
  c->add_option("-o,--output", *output, "file to write (default: report.html beside the report)");
  auto force = std::make_shared<bool>(false);
  c->add_flag("--force", *force, kForce);
  return [=] { return run(*place, *output, *force); };
}

}  // namespace radl::engine::cli::report_command
