// `radlc farm add` and `radlc farm plot` (docs/farm.md).
#include <cstdio>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/shown.h"
#include "runtime/farm/plot.h"
#include "runtime/steps/farm/farm_parts.h"

namespace radl::cli::farm_command {

int run_add(const Session& session, const ProjectOptions& project, const std::string& farm,
            const std::vector<std::string>& words, driver::FarmAddition added) {
  if (words.empty() == (added.trials == 0))
    return report(session,
                  invalid("a command is required, or --trials")
                      .with_hint("radlc farm add [FILE] COMMAND, or radlc farm add [FILE] --trials 8"));
  auto nodes = load_nodes(session.host, project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, farm);
  if (!known) return report(session, known.status());
  added.command = words.size() == 1 ? words[0] : "";
  for (size_t i = 0; words.size() > 1 && i < words.size(); ++i)
    added.command += (i > 0 ? " " : "") + shell_quote(words[i]);
  auto what = driver::add_to_farm(*known, added, farm::wall_seconds());
  if (!what) return report(session, what.status());
  std::printf("%s: added to %s\n", shown(*what).c_str(), shown(known->name()).c_str());
  return kDone;
}

int run_plot(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::string& output, bool as_json) {
  auto nodes = load_nodes(session.host, project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, farm);
  if (!known) return report(session, known.status());
  auto plot = driver::farm_curves(*known);
  if (!plot) return report(session, plot.status());
  if (as_json) {
    std::printf("%s\n", plot->dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
  }
  const std::string path = output.empty() ? known->name() + "-plot.html" : output;
  if (Status written = write_file_atomic(path, farm::plot_page(*plot)); !written.ok())
    return report(session, written);
  std::printf("%s\n", shown(path).c_str());
  return kDone;
}

}  // namespace radl::cli::farm_command
