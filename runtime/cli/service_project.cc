#include "runtime/cli/service_project.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "common/modules/lock_file.h"
#include "common/own_folders.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/inputs.h"
#include "compiler/eval/library.h"
#include "runtime/cli/project.h"

namespace radl::cli {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Contents contents;
};

// What the program names on this computer, absolute.
struct Named {
  std::set<fs::path> files;
  std::vector<Folder> folders;
};

fs::path absolute(const std::string& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

void add_place(const std::string& path, const Json& of, Named& named) {
  std::error_code error;
  if (!path.starts_with('/')) return;
  if (!fs::is_directory(path, error)) {
    named.files.insert(absolute(path));
    return;
  }
  Contents contents;
  if (const auto sent = of.find("sent"); sent != of.end()) {  // of a program's source
    contents.holding = Holding::Sources;
    auto rules = IgnoreRules::of(sent->value("exclude", std::vector<std::string>()));
    if (rules.ok()) contents.ignored = std::move(*rules);
    const fs::path own = fs::path(path) / kIgnoreFile;
    if (fs::is_regular_file(own, error)) named.files.insert(absolute(own));
  }
  named.folders.push_back({absolute(path), std::move(contents)});
}

// The IR has a digest for each file and folder that it names: PLACE and PLACE_sha256, or path and sha256.
void add_places(const Json& json, Named& named) {
  constexpr std::string_view kDigest = "sha256";
  if (json.is_object())
    for (const auto& [key, value] : json.items()) {
      if (!key.ends_with(kDigest)) continue;
      const bool alone = key == kDigest;
      if (!alone && key[key.size() - kDigest.size() - 1] != '_') continue;
      const auto place = json.find(alone ? "path" : key.substr(0, key.size() - kDigest.size() - 1));
      if (place != json.end() && place->is_string()) add_place(place->get<std::string>(), json, named);
    }
  if (json.is_structured())
    for (const Json& inner : json) add_places(inner, named);
}

// A vendored package is compared with the lock file as a whole.
void add_package(const fs::path& file, Named& named) {
  const std::string folder = "/" + std::string(vendored::kFolder) + "/", text = file.string();
  const size_t at = text.find(folder);
  if (at == text.npos) return;
  named.files.insert(fs::path(text.substr(0, at)) / vendored::kLockFile);
  const size_t end = text.find('/', at + folder.size());
  if (end != text.npos) named.folders.push_back({text.substr(0, end), {}});
}

Status not_on_a_service(const std::string& path) {
  return Status(Code::Invalid, path + " is named by an absolute path, which a service does not have")
      .with_hint("name files relative to the program");
}

Status add_sources(const Project& project, Named& named, ServiceProject& into) {
  const std::string installed = standard_library_folder(project.compile_with.environment);
  const fs::path library = installed.empty() ? fs::path() : absolute(installed);
  const bool relative = !fs::path(project.files.front()).is_absolute();
  for (const ir::Source& source : project.compiled.program.sources) {
    const fs::path path = absolute(source.path);
    if (!library.empty() && path.string().starts_with(library.string() + "/")) continue;
    if (relative && fs::path(source.path).is_absolute()) return not_on_a_service(source.path);
    named.files.insert(path);
    into.sources[source.path] = source.sha256;
    add_package(path, named);
  }
  return {};
}

fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path both;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end() && *left == *right;
       ++left, ++right)
    both /= *left;
  return both;
}

// The folder that all of it is in.
fs::path top_of(const Named& named, const std::vector<fs::path>& module_path) {
  fs::path top = named.files.begin()->parent_path();
  for (const fs::path& file : named.files) top = common_folder(top, file.parent_path());
  for (const Folder& folder : named.folders) top = common_folder(top, folder.path);
  for (const fs::path& folder : module_path) top = common_folder(top, folder);
  return top;
}

Status add_folder(const Folder& folder, const fs::path& top, ServiceProject& into) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder.path, error), end; !error && at != end;
       at.increment(error)) {
    const std::string inside = at->path().lexically_relative(folder.path).string();
    if (belongs(*at, inside, folder.contents) != Belongs::Yes) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file(error))
      into.uploads[at->path().lexically_relative(top).string()] = at->path().string();
  }
  if (error) return Status(Code::Invalid, folder.path.string() + ": " + error.message());
  into.folders.push_back(folder.path.lexically_relative(top).string());
  return {};
}

// Each input that has a value, from wherever: the service has neither the files nor the environment.
Json inputs_of(const Project& project) {
  Diagnostics ignored;  // compiling has reported them
  const passes::GivenInputs given(project.compile_with, ignored);
  Json inputs = Json::object();
  for (const auto& [name, value] : project.compiled.program.inputs) {
    if (const auto* one = given.find(name))
      inputs[name] = one->text ? Json(*one->text) : one->json;
    else if (const auto answer = project.answers.find(name); answer != project.answers.end())
      inputs[name] = answer->second;
  }
  return inputs;
}

Named named_by(const ir::Program& program) {
  Named named;
  for (const ir::Step& step : program.steps) {
    for (const ir::Resource& resource : step.resources) add_places(resource.properties, named);
    add_places(step.training, named);
    add_places(step.program, named);
    for (const auto& [job, result] : {std::pair(&*step.training, "result"), {&*step.program, "results"}})
      if (const auto place = job->find(result); place != job->end() && place->is_string())
        add_place(place->get<std::string>(), Json::object(), named);
  }
  return named;
}

// A second name of a folder, as long as this.
class Alias {
 public:
  explicit Alias(const fs::path& folder) {
    std::string pattern = (fs::temp_directory_path() / "radlc-project-XXXXXX").string();
    std::error_code error;
    if (mkdtemp(pattern.data()) == nullptr) return;
    holder_ = pattern;
    fs::create_directory_symlink(folder, holder_ / "project", error);
  }
  ~Alias() {
    std::error_code ignored;
    if (!holder_.empty()) fs::remove(path(), ignored), fs::remove(holder_, ignored);
  }
  Alias(const Alias&) = delete;
  Alias& operator=(const Alias&) = delete;
  fs::path path() const { return holder_ / "project"; }

 private:
  fs::path holder_;
};

bool may_name_absolutely(const Project& project, const Json& inputs) {
  const auto has_one = [](const std::string& text) {
    for (const char* begin : {"'/", "\"/", "'~/", "\"~/"})
      if (text.find(begin) != text.npos) return true;
    return false;
  };
  if (has_one(inputs.dump())) return true;
  const std::string library = standard_library_folder(project.compile_with.environment);
  return std::ranges::any_of(project.compiled.program.sources, [&](const ir::Source& source) {
    if (!library.empty() && absolute(source.path).string().starts_with(absolute(library).string() + "/"))
      return false;
    auto text = read_file(source.path);
    return text.ok() && has_one(*text);
  });
}

// Compiled under another name, as on the service, a program names its own files there. What it still names
// elsewhere, it names by an absolute path.
Status check_names(const Session& session, const Project& project, const fs::path& top,
                   const ServiceProject& made) {
  if (!may_name_absolutely(project, made.inputs)) return {};
  const Alias alias(top);
  ProjectOptions options;
  for (const std::string& file : made.files) options.files.push_back(alias.path() / file);
  for (const std::string& folder : made.module_path) options.module_path.push_back(alias.path() / folder);
  for (const auto& [name, value] : made.inputs.items())
    options.inputs.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  Project moved;
  if (!driver::load_project(session.host, options, {}, moved).ok()) return {};  // the service says why
  const Named named = named_by(moved.compiled.program);
  const auto check = [&](const fs::path& path) {
    const std::string inside = path.lexically_relative(alias.path()).string();
    return inside.starts_with("..") ? not_on_a_service(path) : Status();
  };
  for (const fs::path& file : named.files)
    if (Status fine = check(file); !fine.ok()) return fine;
  for (const Folder& folder : named.folders)
    if (Status fine = check(folder.path); !fine.ok()) return fine;
  return {};
}

}  // namespace

Status same_sources(const ServiceProject& project, const Json& plan) {
  std::set<std::string> compiled;
  for (const Json& source : plan.value("of", Json::object()).value("sources", Json::array()))
    if (const auto digest = source.find("sha256"); digest != source.end() && digest->is_string())
      compiled.insert(digest->get<std::string>());
  for (const auto& [path, digest] : project.sources)
    if (!compiled.contains(digest))
      return Status(Code::Conflict, path + ": the service read another file than this one")
          .with_hint("name files relative to the program; if the file has just changed, plan again");
  return {};
}

Result<std::string> name_on_service(const ProjectOptions& options) {
  if (!options.name.empty()) return options.name;
  auto files = driver::source_files(options);
  if (!files.ok()) return files.status();
  return fs::path(files->front()).stem().string();
}

Result<ServiceProject> project_for_service(const Session& session, const ProjectOptions& options) {
  auto loaded = load_project(session, options);
  if (!loaded.ok()) return loaded.status();
  const Project& project = **loaded;
  Named named;
  ServiceProject made;
  if (Status added = add_sources(project, named, made); !added.ok()) return added;
  for (const ir::Step& step : project.compiled.program.steps) {
    for (const ir::Resource& resource : step.resources) add_places(resource.properties, named);
    add_places(step.training, named);
    add_places(step.program, named);
  }
  std::vector<fs::path> module_path;
  for (const std::string& folder : project.compile_with.module_path) module_path.push_back(absolute(folder));
  const fs::path top = top_of(named, module_path);
  for (const std::string& file : project.files)
    made.files.push_back(absolute(file).lexically_relative(top).string());
  for (const fs::path& folder : module_path)
    made.module_path.push_back(folder.lexically_relative(top).string());
  for (const fs::path& file : named.files)
    made.uploads[file.lexically_relative(top).string()] = file.string();
  for (const Folder& folder : named.folders)
    if (Status added = add_folder(folder, top, made); !added.ok()) return added;
  made.inputs = inputs_of(project);
  if (Status fine = check_names(session, project, top, made); !fine.ok()) return fine;
  return made;
}

}  // namespace radl::cli
