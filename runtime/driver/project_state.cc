#include "runtime/driver/project_state.h"

#include <algorithm>
#include <filesystem>

#include "common/text.h"
#include "compiler/syntax/parser.h"
#include "runtime/state/place.h"

namespace radl::driver {
namespace {

namespace fs = std::filesystem;

// Clouds start processes in folders of their own, so the state's place must not depend on this one's.
std::string absolute(const Host& host, const std::string& path) {
  return (fs::path(host.folder) / path).lexically_normal().string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  auto left = std::filesystem::weakly_canonical(a, error),
       right = std::filesystem::weakly_canonical(b, error);
  return left == right;
}

// Where a source lay when it was applied, and where it lies now: a project's folder may have been moved.
bool was_applied_from(const std::string& recorded, const std::string& file) {
  std::error_code error;
  if (same_file(recorded, file)) return true;
  return !fs::exists(recorded, error) && fs::path(recorded).filename() == fs::path(file).filename();
}

struct Applied {
  std::vector<std::string> from;     // infrastructures that were applied from one of the files
  std::vector<std::string> unknown;  // those that do not say: their first apply did not come to its end
};

Applied applied_from(const Host& host, const std::string& directory, const std::vector<std::string>& names,
                     const std::vector<std::string>& files, const Stop& stop) {
  Applied found;
  for (const std::string& name : names) {
    auto store = Store::open(directory, name, OpenMode::Read, *host.world, stop);
    auto snapshot = store.ok() ? (*store)->snapshot() : Result<Snapshot>(store.status());
    if (!snapshot.ok() || snapshot->source_paths.empty()) {
      found.unknown.push_back(name);
      continue;
    }
    const std::vector<std::string>& paths = snapshot->source_paths;
    bool matches = std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
      return std::any_of(files.begin(), files.end(),
                         [&](const auto& file) { return was_applied_from(path, file); });
    });
    if (matches) found.from.push_back(name);
  }
  return found;
}

std::vector<std::string> radl_files_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".radl" || !entry.is_regular_file(error)) continue;
    found.push_back(folder == "." ? entry.path().filename().string() : entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The files by which a state is searched. A folder may have lost its file; the state beside it still counts.
std::vector<std::string> files_applied(const ProjectOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
    } else if (auto file = only_file_in(path); file.ok()) {
      files.push_back(*file);
    }
  }
  return files;
}

// What the command line or the environment says.
std::string given_state(const Host& host, const ProjectOptions& options) {
  if (!options.state.empty()) return options.state;
  return host.variable("RADL_STATE");
}

// A folder that a file names lies beside it, wherever radlc is run.
std::string beside(const Host& host, const std::string& place, const std::string& file) {
  if (is_bucket_place(place) || place.starts_with('/')) return state_place(host, place);
  return absolute(host, (fs::path(file).parent_path() / place).string());
}

// `option state = '...'` of a file that is not compiled; "" if there is none.
Result<std::string> state_option_of(const std::string& file) {
  SourceMap sources;
  Diagnostics ignored;  // the commands that compile report them
  auto source = sources.load(file);
  if (!source.ok()) return std::string();
  auto tree = parse(**source, ignored);
  for (const ast::Block* block : tree->blocks) {
    const auto* context = ast::as<ast::Contextualize>(block);
    if (!context) continue;
    for (const ast::Option* option : context->options) {
      if (option->name.text != "state" || option->value == nullptr) continue;
      const auto* text = ast::as<ast::String>(option->value);
      if (text && text->parts.empty()) return std::string(text->text);
      return Status(Code::Invalid, file +
                                       ": this command does not evaluate the file, and its option state is "
                                       "not a plain string")
          .with_hint("pass the place of the state with --state or RADL_STATE");
    }
  }
  return std::string();
}

}  // namespace

Result<std::string> only_file_in(const std::string& folder) {
  std::string here = folder == "." ? "this folder" : folder;
  std::vector<std::string> found = radl_files_in(folder);
  if (found.size() == 1) return found.front();
  if (!found.empty()) return invalid(here + " has several .radl files; name one: " + join(found, ", "));
  return not_found((folder == "." ? "no file was given, and " : "") + here + " has no .radl file");
}

Result<std::string> state_of_program(const Host& host, const ProjectOptions& options,
                                     const ir::Program& program, const std::string& file) {
  if (std::string given = given_state(host, options); !given.empty()) return state_place(host, given);
  auto option = program.options.find("state");
  if (option == program.options.end()) return absolute(host, default_state_directory(file));
  if (option->second->is_string()) return beside(host, option->second->get<std::string>(), file);
  return Status(Code::Invalid, "option state: expected a string")
      .with_hint("a folder, or 's3://BUCKET/PREFIX', 'gs://..', 'az://..'");
}

std::string state_place(const Host& host, const std::string& words) {
  return is_bucket_place(words) ? words : absolute(host, words);
}

Result<std::string> state_directory(const Host& host, const ProjectOptions& options) {
  if (std::string given = given_state(host, options); !given.empty()) return state_place(host, given);
  std::error_code error;
  std::vector<std::string> files = files_applied(options);
  if (options.files.empty()) {
    if (auto file = only_file_in("."); file.ok()) files = {*file};
  }
  for (const std::string& file : files) {
    auto option = state_option_of(file);
    if (!option.ok()) return std::move(option).status();
    if (!option->empty()) return beside(host, *option, file);
  }
  if (options.files.empty()) return absolute(host, ".radl");
  const std::string& file = options.files.front();
  return absolute(host, fs::is_directory(file, error) ? file + "/.radl" : default_state_directory(file));
}

Result<StatePlace> find_state(const Host& host, const ProjectOptions& options, const Stop& stop) {
  auto place = state_directory(host, options);
  if (!place.ok()) return std::move(place).status();
  const std::string& directory = *place;
  auto names = list_states(directory, host.environment(), stop);
  if (!names.ok()) return std::move(names).status();
  if (!options.name.empty()) {
    if (std::find(names->begin(), names->end(), options.name) != names->end())
      return StatePlace{directory, options.name};
    return not_found("no infrastructure " + options.name + " in " + directory +
                     (names->empty() ? "" : "; existing: " + join(*names, ", ")));
  }
  if (names->empty())
    return Status(Code::NotFound, "nothing has been applied here: " + directory + " holds no state");
  std::vector<std::string> files = files_applied(options), candidates = *names;
  if (files.empty() && candidates.size() > 1) files = radl_files_in(".");
  if (!files.empty() && (candidates.size() > 1 || !options.files.empty())) {
    Applied applied = applied_from(host, directory, *names, files, stop);
    candidates = applied.from.empty() ? applied.unknown : applied.from;
    if (candidates.empty() && !options.files.empty()) {
      return Status(Code::NotFound, "nothing has been applied from " + join(files, ", ") + "; " + directory +
                                        " holds: " + join(*names, ", "))
          .with_hint("name one with --name");
    }
  }
  if (candidates.size() == 1) return StatePlace{directory, candidates.front()};
  return Status(Code::Invalid, directory + " holds several infrastructures: " + join(*names, ", "))
      .with_hint("name one with --name");
}

}  // namespace radl::driver
