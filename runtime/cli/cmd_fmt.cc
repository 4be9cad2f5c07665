#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/output_file.h"
#include "common/text_diff.h"
#include "compiler/diag/render.h"
#include "compiler/source/read.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/upgraded.h"
#include "tools/findings/findings.h"
#include "tools/fmt/format.h"

namespace radl::cli::fmt_command {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool check = false, diff = false, upgrade = false;
  std::string dialect = "auto";
  std::vector<std::string> inputs;
};

enum class Outcome { Same, Changed, Refused };

void print_diff(const Session& session, const std::string& diff) {
  Style style(session.terminal.color);
  // A patch is printed unchanged; a terminal gets no control characters.
  const std::string text = session.terminal.is_terminal ? shown(diff) : diff;
  for (std::string_view line : split_lines(text)) {
    std::string_view look = line.starts_with("+") ? style.green() : line.starts_with("-") ? style.red() : "";
    std::string_view end = look.empty() ? "" : style.off();
    std::fprintf(stdout, "%.*s%.*s%.*s", int(look.size()), look.data(), int(line.size()), line.data(),
                 int(end.size()), end.data());
  }
}

// Files named together are parsed as by `compile`: a mark of EC3 in one applies to all. In a folder, each
// file is separate.
DialectChoice dialect_of(const std::vector<std::string>& paths) {
  if (paths.size() < 2) return DialectChoice::Auto;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_regular_file(path, error)) continue;
    SourceMap sources;
    Diagnostics unheard;
    auto source = sources.load(path);
    if (source.ok() && parse(**source, unheard)->ec3_mark) return DialectChoice::Ec3;
  }
  return DialectChoice::Auto;
}

Outcome format_one(const Session& session, const Options& options, const std::string& path,
                   DialectChoice dialect) {
  SourceMap sources;
  Diagnostics diagnostics;
  // The bytes as they are: the source map normalises line ends.
  Result<std::string> bytes = std::string();
  const SourceFile* source = nullptr;
  if (path == "-") {
    auto loaded = sources.load(path);
    if (!loaded.ok()) return report(session, loaded.status()), Outcome::Refused;
    source = *loaded;
  } else {
    bytes = read_source_file(path, SourceMap::kMaxFileBytes);
    if (!bytes.ok()) return report(session, bytes.status()), Outcome::Refused;
    source = &sources.add(path, *bytes);
  }
  auto formatted = options.upgrade ? upgraded(session, path, *source, dialect, options.inputs, diagnostics)
                                   : formatter::format(*source, diagnostics, {.dialect = dialect});
  if (!formatted.ok()) {
    RenderOptions look;
    look.color = session.terminal.color;
    if (diagnostics.has_errors()) std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
    report(session, formatted.status());
    return Outcome::Refused;
  }
  bool writes = !options.check && !options.diff;
  if (path == "-" && writes) {
    std::fwrite(formatted->data(), 1, formatted->size(), stdout);
    return Outcome::Same;
  }
  std::string before = path == "-" ? std::string(source->text()) : *bytes;
  if (*formatted == before) return Outcome::Same;
  if (options.diff) {
    print_diff(session, unified_diff(before, *formatted, "a/" + path, "b/" + path));
  } else {
    std::printf("%s\n", path.c_str());
  }
  if (writes) {
    if (Status written = write_output_file(path, *formatted, {.force = true}); !written.ok())
      return report(session, written), Outcome::Refused;
  }
  return Outcome::Changed;
}

int run(const Session& session, const Options& options) {
  auto paths = expand_paths(options.paths.empty() ? std::vector<std::string>{"."} : options.paths);
  if (!paths.ok()) return report(session, paths.status());
  bool refused = false, changed = false;
  if (!options.inputs.empty() && !options.upgrade)
    return report(session, invalid("--input goes with --upgrade"));
  DialectChoice dialect = options.dialect == "ec3"     ? DialectChoice::Ec3
                          : options.dialect == "radl1" ? DialectChoice::Radl1
                                                       : dialect_of(options.paths);
  for (const std::string& path : *paths) {
    Outcome outcome = format_one(session, options, path, dialect);
    refused = refused || outcome == Outcome::Refused;
    changed = changed || outcome == Outcome::Changed;
  }
  return refused || (options.check && changed) ? kUserError : kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("fmt", "Format files, and print the names of changed ones");
  auto options = std::make_shared<Options>();
  command->add_option("PATH", options->paths,
                      "files, folders, or - for standard input to output (default: this folder)");
  command->add_flag("--check", options->check, "write nothing; exit with 1 if a file would change");
  command->add_flag(
      "--upgrade", options->upgrade,
      "also rewrite RADL 1 and older `radl 2` as current `radl 2`, if the program stays the same");
  command->add_option("--dialect", options->dialect, "language of the files (default: detected)")
      ->check(CLI::IsMember({"auto", "radl1", "ec3"}));
  command
      ->add_option("-i,--input", options->inputs,
                   "with --upgrade: value of @input.NAME@ for the comparison of both programs, NAME=VALUE")
      ->type_name("NAME=VALUE");
  command->add_flag("--diff", options->diff, "write nothing; show what would change");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::fmt_command
