// A `program` resource to what the runtime runs (docs/ir.md, "Program steps").
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/own_folders.h"
#include "common/shorten.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/eval/program_source.h"
#include "compiler/ir/elastic_farm.h"
#include "compiler/ir/program_names.h"
#include "compiler/passes/recipes.h"

namespace radl::passes {
namespace {

namespace fs = std::filesystem;
using nlohmann::json_literals::operator""_json_pointer;

bool is_one_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c == '_' || (c < 128 && std::isalnum(c)); });
}

bool leaves_its_folder(const std::string& path) {
  return path.empty() || path.starts_with('/') || path.starts_with('~') || goes_up(path);
}

// One line of a lock file for pip, continued lines joined: what is not pinned, else "".
std::string not_pinned(std::string_view line) {
  std::string text(line.substr(0, std::min(line.find(" #"), line.size())));
  text.erase(0, text.find_first_not_of(" \t"));
  if (text.empty() || text[0] == '#') return "";
  if (text[0] == '-') {
    if (text.starts_with("-e") || text.starts_with("--editable") || text.starts_with("-r") ||
        text.starts_with("--requirement"))
      return text;
    return "";  // --index-url, --find-links, ...
  }
  return text.find("--hash=") == text.npos ? text : "";
}

class ProgramMaker {
 public:
  ProgramMaker(Build& build, LocalFiles& files, const ir::Resource& resource, const ast::Resource& written,
               const std::string& folder)
      : build_(build),
        files_(files),
        given_(resource.properties),
        name_(resource.name),
        written_(written),
        folder_(folder) {}

  bool run(ir::Step& step) {
    if (!members() || !source() || !main() || !python() || !names() || !paths() || !losses() ||
        !surroundings() || !farm())
      return false;
    numbers();
    const std::string results = given_.contains("results") ? given_["results"].get<std::string>()
                                                           : absolute_path(folder_, name_ + "-results");
    made_["name"] = name_;
    made_["results"] = results;
    ir::Json depends = without_places(made_);
    depends.erase("resume_arguments");
    depends["results"] = result_for_digest(results, folder_);
    if (is_elastic()) {  // its outputs are the same on any nodes
      depends.erase("members");
      depends.erase("elastic");
    }
    made_["identity"] = identity(depends);
    step.kind = ir::StepKind::Program;
    step.program = std::move(made_);
    for (const ir::Json& node : step.program["members"]) step.nodes.push_back(node);
    step.digest = json_digest({{"kind", "program"}, {"program", std::move(depends)}});
    return true;
  }

 private:
  // At the property, or at the resource where it stands in a map that `with` hands on.
  Span at(std::string_view property) const {
    for (const ast::Feature* feature : written_.body.items) {
      if (feature->name.text == property && feature->value != nullptr) return feature->value->span;
    }
    return written_.type.span;
  }
  bool wrong(std::string_view property, std::string message, std::string help = "") {
    auto& diagnostic = build_.diagnostics.report(DiagCode::PropertyValue, at(property), std::move(message));
    if (!help.empty()) diagnostic.with_help(std::move(help));
    return false;
  }
  std::string text(const char* key, const std::string& otherwise = "") const {
    auto found = given_.find(key);
    return found != given_.end() && found->is_string() ? found->get<std::string>() : otherwise;
  }

  bool is_elastic() const { return ir::has_elastic_farm(given_); }

  // An elastic farm may have no node now: it is done.
  bool members() {
    ir::Json members = ir::Json::array();
    for (const ir::Json& node : given_["systems"]) {
      if (std::find(members.begin(), members.end(), node) == members.end()) members.push_back(node);
    }
    if (members.empty() && !is_elastic())
      return wrong("systems", fmt::format("program '{}' has no node: its systems are not deployed", name_));
    made_["members"] = std::move(members);
    return true;
  }

  bool source() {
    ProgramSource source;
    if (auto bad = program_source(given_, files_, source)) {
      build_.diagnostics.report(bad->code, at(bad->property), std::move(bad->message));
      return false;
    }
    if (!source.made.is_null()) made_["source"] = std::move(source.made);
    ignored_ = std::move(source.ignored);
    return true;
  }

  bool main() {
    const std::string main = text("main");
    if (given_["main"].is_object()) return wrong("main", "'main' is a string that is known before apply");
    if (main.empty()) return wrong("main", "'main' is empty");
    made_["main"] = main;
    const std::string kind = made_.value("/source/kind"_json_pointer, "");
    if (main.starts_with("-m ")) return true;
    if (main.starts_with("-"))
      return wrong("main", fmt::format("'main' is a file, a program or '-m MODULE', not '{}'", main));
    if (kind == "wheel") return wrong("main", "of a wheel a module is run: main = '-m MODULE'");
    if (main.ends_with(".py") && kind.empty() && !main.starts_with('/'))
      return wrong(
          "main",
          fmt::format("'{}' is part of nothing: give its folder as 'source' (`source = '.'`: this one)",
                      main));
    if (leaves_its_folder(main) && !main.starts_with('/'))
      return wrong("main", fmt::format("'{}' leaves the folder of the program", main));
    return kind != "folder" || in_folder(main);
  }

  // A file that is named as one is there.
  bool in_folder(const std::string& main) {
    const bool named = main.ends_with(".py") || main.starts_with("./");
    const fs::path root(made_["source"]["path"].get<std::string>());
    std::error_code error;
    if (!named) return true;
    if (fs::exists(root / main, error)) return is_sent(root, main) && can_be_run(root / main, main);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root, error)) names.push_back(entry.path().filename());
    const std::string near = nearest(main.starts_with("./") ? main.substr(2) : main, names);
    return wrong("main", fmt::format("there is no '{}' in '{}'", main, root.filename().string()),
                 near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }

  bool is_sent(const fs::path& root, const std::string& main) {
    std::error_code error;
    const std::string path = fs::path(main).lexically_normal().generic_string();
    if (!ignored_.leaves_out(path, fs::is_directory(root / path, error))) return true;
    return wrong(
        "main", fmt::format("'{}' is left out of the source by 'exclude' or {}", main, kIgnoreFile),
        fmt::format("a later pattern '!/{}' takes it in again, where no folder above it is left out", path));
  }

  // What a launcher does with it is the launcher's.
  bool can_be_run(const fs::path& path, const std::string& main) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (main.ends_with(".py") || !given_.value("launcher", ir::Json::array()).empty()) return true;
    if (fs::is_directory(status)) return wrong("main", fmt::format("'{}' is a folder", main));
    constexpr fs::perms kAny = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if ((status.permissions() & kAny) != fs::perms::none) return true;
    return wrong("main", fmt::format("'{}' is not executable", main), fmt::format("`chmod +x {}`", main));
  }

  bool python() {
    if (!given_.contains("requirements")) {
      if (given_.contains("wheelhouse"))
        return wrong("wheelhouse", "'wheelhouse' holds the wheels of 'requirements', which are not given");
      made_["python"]["program"] = text("python", "python3");
      return true;
    }
    const std::string path = text("requirements");
    std::ifstream in(path);
    std::string line, whole;
    int number = 0, begin = 1;
    while (std::getline(in, line)) {
      ++number;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (whole.empty()) begin = number;
      const bool goes_on = line.ends_with('\\');
      whole += goes_on ? line.substr(0, line.size() - 1) + " " : line;
      if (goes_on) continue;
      if (std::string loose = not_pinned(whole); !loose.empty())
        return wrong("requirements",
                     fmt::format("{}, line {}: '{}' has no --hash", fs::path(path).filename().string(), begin,
                                 shorten(loose, 60)),
                     "a lock file is made by `pip-compile --generate-hashes` or `uv pip compile "
                     "--generate-hashes`");
      whole.clear();
    }
    ir::Json& made = made_["python"];
    made = {{"program", text("python", "python3")},
            {"requirements", path},
            {"requirements_sha256", text("requirements_sha256")}};
    if (!given_.contains("wheelhouse")) return true;
    std::error_code error;
    if (!fs::is_directory(text("wheelhouse"), error))
      return wrong("wheelhouse", "'wheelhouse' is a folder of wheels");
    made["wheelhouse"] = text("wheelhouse");
    made["wheelhouse_sha256"] = text("wheelhouse_sha256");
    return true;
  }

  bool known_names(const char* property, const ir::Json& value) {
    if (value.is_string()) {
      std::string unknown;
      ir::replace_program_names(value.get<std::string>(), [&](std::string_view name) {
        const auto& all = ir::kProgramNames;
        if (std::find(all.begin(), all.end(), name) == all.end() && unknown.empty()) unknown = name;
        return std::string();
      });
      if (unknown.empty()) return true;
      const std::vector<std::string> names(ir::kProgramNames.begin(), ir::kProgramNames.end());
      const std::string near = nearest(unknown, names);
      return wrong(property, fmt::format("'{}': members are given no variable {}", property, unknown),
                   near.empty() ? fmt::format("variables: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near));
    }
    if (!value.is_structured()) return true;
    return std::all_of(value.begin(), value.end(),
                       [&](const ir::Json& inner) { return known_names(property, inner); });
  }

  bool names() {
    const ir::Json variables = given_.value("environment", ir::Json::object());
    for (const auto& [name, value] : variables.items()) {
      if (!is_one_name(name))
        return wrong("environment", fmt::format("'{}' is not a name of an environment variable", name));
      if (name.starts_with("RADL_"))
        return wrong("environment", fmt::format("'{}': names that begin with RADL_ are radlc's own", name));
    }
    for (const char* property : {"arguments", "resume_arguments", "launcher", "environment"}) {
      if (!given_.contains(property)) continue;
      if (!known_names(property, given_[property])) return false;
      made_[property] = given_[property];
    }
    return !secret_argument("arguments") && !secret_argument("resume_arguments") &&
           !secret_argument("launcher");
  }

  // Everybody on a machine can read the arguments of its processes.
  bool secret_argument(const char* property) {
    if (!given_.contains(property) || ir::secrets_in(given_[property]).empty()) return false;
    build_.diagnostics
        .report(DiagCode::SecretShown, at(property),
                fmt::format("'{}' can be read by every user of the node: it cannot hold a secret", property))
        .with_help("give it as a variable of 'environment'");
    return true;
  }

  bool paths() {
    for (const ir::Json& output : given_.value("outputs", ir::Json::array())) {
      if (!output.is_string() || leaves_its_folder(output))
        return wrong("outputs", fmt::format("'outputs' are paths within the program's folder, not {}",
                                            output.is_string() ? "'" + output.get<std::string>() + "'"
                                                               : std::string("what is known after apply")));
    }
    for (const char* property : {"outputs", "inputs", "checkpoints"}) {
      if (given_.contains(property)) made_[property] = given_[property];
    }
    return true;
  }

  bool losses() {
    const bool alone = text("lost") == "alone";
    if (given_.contains("min") && !alone) return wrong("min", "'min' has a meaning with lost = 'alone'");
    if (alone && text("runs_on") == "first")
      return wrong("lost", "with runs_on = 'first' there is one member: lost = 'alone' has no meaning");
    const long long least = given_.value("min", 1LL);
    const size_t count = made_["members"].size();
    if (least > static_cast<long long>(count) && !is_elastic())
      return wrong("min", fmt::format("'min' is {}, and there are {} members", least, count));
    if (alone) made_["least"] = least;
    return true;
  }

  // Not there where it is as always: what a program of an earlier version is stays the same.
  bool surroundings() {
    if (text("ends") == "chief") made_["ends"] = "chief";
    if (given_.value("ssh", false)) made_["ssh"] = true;
    if (!given_.contains("image")) return true;
    const std::string image = text("image");
    constexpr std::string_view kScheme = "docker://";
    const bool plain =
        std::all_of(image.begin(), image.end(), [](unsigned char c) { return c > 32 && c < 127; });
    if (!image.starts_with(kScheme) || image.size() == kScheme.size() || image[kScheme.size()] == '-' ||
        !plain)
      return wrong("image", "'image' is a container image: docker://NAME:TAG or docker://NAME@sha256:DIGEST");
    if (given_.contains("requirements"))
      return wrong("requirements", "with 'image' the packages are those of the image");
    if (made_.contains("ssh")) return wrong("image", "with 'ssh' a program runs on the nodes themselves");
    made_["image"] = image;
    return true;
  }

  // Tasks and their placement; the runtime checks what is in it.
  bool farm() {
    if (is_elastic() && !elastic()) return false;
    if (!given_.contains("farm")) return true;
    if (!given_["farm"].is_string()) {  // with values that are known after apply
      made_["farm"] = given_["farm"];
      return !secret_argument("farm");
    }
    if (!ir::Json::accept(text("farm"))) return wrong("farm", "'farm' is JSON: use a module of std/farm");
    if (text("runs_on") == "first" || text("ends") == "chief" || given_.value("ssh", false))
      return wrong("farm", "a farm has no chief: `runs_on`, `ends` and `ssh` cannot be combined with it");
    made_["farm"] = text("farm");
    return !secret_argument("farm");
  }

  bool elastic() {
    if (!given_.contains("farm")) return wrong("elastic", "'elastic' has a meaning with `farm` only");
    std::string system;
    for (const std::string node : made_["members"]) {
      const std::string of = node.substr(0, node.find('['));
      if (!system.empty() && of != system)
        return wrong(
            "systems",
            fmt::format("an elastic farm has the nodes of one system, not of '{}' and '{}'", system, of));
      system = of;
    }
    made_["elastic"] = true;
    return true;
  }

  void numbers() {
    for (const char* property : {"cpu", "memory", "gpu"}) {
      if (given_.contains(property)) made_["needs"][property] = given_[property];
    }
    for (const char* property : {"runs_on", "collect", "retries", "lost", "stop_signal", "may_fail"})
      made_[property] = given_[property];
    made_["workers"] = given_["processes"];
    made_["grace_seconds"] = given_["grace"];
    if (given_.contains("timeout")) made_["timeout_seconds"] = given_["timeout"];
  }

  // Content in place of where it lies.
  static ir::Json without_places(ir::Json made) {
    if (made.contains("source")) {
      made["source"].erase(made["source"].contains("sha256") ? "path" : "kind");
      made["source"].erase("sent");
    }
    for (const char* place : {"requirements", "wheelhouse"}) made["python"].erase(place);
    if (made.contains("inputs")) {
      for (ir::Json& input : made["inputs"]) input.erase("path");
    }
    return made;
  }

  // What checkpoints of an earlier run are of use for: the same program, with other nodes or other rules.
  static std::string identity(ir::Json part) {
    for (const char* key :
         {"members", "results", "retries", "lost", "least", "workers", "grace_seconds", "timeout_seconds",
          "stop_signal", "collect", "needs", "outputs", "may_fail", "ends", "farm", "elastic"})
      part.erase(key);
    return json_digest(part);
  }

  Build& build_;
  LocalFiles& files_;
  const ir::Json& given_;
  const std::string& name_;
  const ast::Resource& written_;
  const std::string& folder_;
  ir::Json made_ = ir::Json::object();
  IgnoreRules ignored_;
};

}  // namespace

bool program_step(Build& build, LocalFiles& files, const ir::Resource& resource, const ast::Resource& written,
                  const std::string& folder, ir::Step& step) {
  return ProgramMaker(build, files, resource, written, folder).run(step);
}

}  // namespace radl::passes
