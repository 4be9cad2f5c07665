#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/output_file.h"
#include "common/text_diff.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/ir/ir.h"
#include "compiler/tools/check/check.h"
#include "compiler/tools/fmt/format.h"
#include "compiler/tools/fmt/upgrade.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"

namespace radl::cli::fmt_command {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool check = false, diff = false, upgrade = false;
};

enum class Outcome { Same, Changed, Refused };

void print_diff(const Session& session, const std::string& diff) {
  Style style(session.terminal.color);
  // A patch is given on as it is; a terminal gets no control characters.
  const std::string text = session.terminal.is_terminal ? shown(diff) : diff;
  for (std::string_view line : split_lines(text)) {
    std::string_view look = line.starts_with("+") ? style.green() : line.starts_with("-") ? style.red() : "";
    std::string_view end = look.empty() ? "" : style.off();
    std::fprintf(stdout, "%.*s%.*s%.*s", int(look.size()), look.data(), int(line.size()), line.data(),
                 int(end.size()), end.data());
  }
}

// Files that are named together are read as `compile` reads them: one that bears EC3's marks holds for all.
// In a folder each stands for itself.
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

// Without the places in files: those change.
void drop_origins(Json& value) {
  if (value.is_object()) value.erase("origin");
  if (value.is_structured())
    for (Json& each : value) drop_origins(each);
}

// The program that the file comes to, with `text` in its place when that is given; nullopt when it does not
// compile. Missing inputs are no error: what depends on them is left out of both programs.
std::optional<Json> program_of(const Session& session, const std::string& path, const std::string* text) {
  auto with = compile_options(session, {});
  if (!with.ok()) return std::nullopt;
  with->inputs_may_be_missing = true;
  with->ask = nullptr;
  SourceMap sources;
  Diagnostics unheard;
  if (text) sources.overlay(path, *text);
  auto compiled = compile({path}, *with, sources, unheard);
  if (!compiled || unheard.has_errors()) return std::nullopt;
  Json program = ir::to_json(compiled->program);
  program.erase("sources");
  program.erase("source_digest");
  drop_origins(program);
  return program;
}

// As `radl 2` of today, when that comes to the same program.
Result<std::string> upgraded(const Session& session, const std::string& path, const SourceFile& source,
                             Diagnostics& diagnostics) {
  auto text = formatter::upgrade(source, diagnostics);
  if (!text.ok()) return text;
  std::optional<Json> before = program_of(session, path, nullptr);
  if (!before) return invalid(path + " does not compile (see radlc check) and was left alone");
  std::optional<Json> after = program_of(session, path, &*text);
  if (!after) return invalid(path + " would not compile as `radl 2` and was left alone");
  if (*before != *after)
    return invalid(path + " would come to another program as `radl 2` and was left alone");
  return text;
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
    bytes = read_file(path, SourceMap::kMaxFileBytes);
    if (!bytes.ok()) return report(session, bytes.status()), Outcome::Refused;
    source = &sources.add(path, *bytes);
  }
  auto formatted = options.upgrade ? upgraded(session, path, *source, diagnostics)
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
    if (Status written = write_output_file(path, *formatted); !written.ok())
      return report(session, written), Outcome::Refused;
  }
  return Outcome::Changed;
}

int run(const Session& session, const Options& options) {
  auto paths = expand_paths(options.paths.empty() ? std::vector<std::string>{"."} : options.paths);
  if (!paths.ok()) return report(session, paths.status());
  bool refused = false, changed = false;
  DialectChoice dialect = dialect_of(options.paths);
  for (const std::string& path : *paths) {
    Outcome outcome = format_one(session, options, path, dialect);
    refused = refused || outcome == Outcome::Refused;
    changed = changed || outcome == Outcome::Changed;
  }
  return refused || (options.check && changed) ? kUserError : kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("fmt", "Write files in the one layout; names those that it changed");
  auto options = std::make_shared<Options>();
  command->add_option("PATH", options->paths,
                      "files, folders, or - for standard input to output (default: this folder)");
  command->add_flag("--check", options->check, "write nothing; exit 1 when a file would change");
  command->add_flag("--upgrade", options->upgrade,
                    "write RADL 1 and the older way of `radl 2` as `radl 2` of today, where that comes to "
                    "the same program");
  command->add_flag("--diff", options->diff, "write nothing; show what would change");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::fmt_command
