#include "runtime/ansible/galaxy.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shorten.h"
#include "common/turn.h"
#include "runtime/ansible/configuration.h"

namespace radl::recipes {
namespace {

std::string last_lines(const std::string& text) {
  std::string tail(end_of(text, 1500));
  while (tail.ends_with('\n')) tail.pop_back();
  return tail;
}

Status install(const Requirement& one, const std::string& folder, const Context& context) {
  Json entry = one.collection ? Json{{"name", one.source}} : Json{{"src", one.source}};
  if (!one.version.empty()) entry["version"] = one.version;
  if (!one.name.empty() && !one.collection) entry["name"] = one.name;
  if (one.scm == "git") entry[one.collection ? "type" : "scm"] = "git";
  Json list{{one.collection ? "collections" : "roles", Json::array({entry})}};
  std::string file = folder + "/requirements-" + to_hex(random_bytes(4)) + ".yml";
  if (Status s = write_file_atomic(file, list.dump() + "\n", 0600); !s.ok()) return s;
  std::vector<std::string> argv{"ansible-galaxy",
                                one.collection ? "collection" : "role",
                                "install",
                                "-r",
                                file,
                                "-p",
                                folder + (one.collection ? "/collections" : "/roles")};
  auto ran = run_process(context.environment, {.argv = argv,
                                               .inherited = kAnsibleVariables,
                                               .deadline = std::chrono::minutes(10),
                                               .stop = context.stop});
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!ran) return ran.status();
  // ansible-galaxy says [WARNING] and ends with 0 for some roles that it cannot fetch.
  bool failed = ran->exit_status != 0 ||
                ran->err.find("was NOT installed successfully") != std::string::npos ||
                ran->out.find("was NOT installed successfully") != std::string::npos;
  if (!failed) return {};
  return Status(Code::NotFound, fmt::format("ansible-galaxy cannot install {} '{}': {}",
                                            one.collection ? "collection" : "role", one.source,
                                            last_lines(ran->err + ran->out)))
      .with_hint("the Galaxy server or the address must be reachable from this computer");
}

}  // namespace

std::optional<Requirement> parse_requirement(const std::string& application) {
  Requirement one;
  std::string rest;
  for (std::string_view prefix : {"ansible.roles.", "ansible.modules.", "ansible.collections."}) {
    if (!application.starts_with(prefix)) continue;
    one.collection = prefix == "ansible.collections.";
    rest = application.substr(prefix.size());
  }
  if (rest.empty()) return std::nullopt;
  if (size_t bar = rest.find('|'); bar != std::string::npos) {
    one.name = rest.substr(bar + 1);
    rest.erase(bar);
  }
  if (rest.starts_with("git+")) {
    one.scm = "git";
    rest.erase(0, 4);
  }
  if (size_t comma = rest.rfind(','); comma != std::string::npos) {
    one.version = rest.substr(comma + 1);
    rest.erase(comma);
  }
  one.source = rest;
  return one;
}

Status install_requirements(const ir::Program& program, const std::string& folder, const Context& context,
                            const std::function<void(const std::string&)>& say) {
  auto turn = KeyTurn::take("galaxy " + folder, context.stop);
  if (!turn) return std::move(turn).status();
  for (const auto& node : program.nodes) {
    for (const auto& application : node.applications) {
      auto one = parse_requirement(application.name);
      if (!one || application.preinstalled) continue;
      if (one->version.empty()) one->version = application.version;
      std::string mark = folder + "/installed-" + sha256_hex(application.name + one->version).substr(0, 16);
      if (read_file(mark)) continue;
      if (Status s = make_directories(folder, 0700); !s.ok()) return s;
      say(fmt::format("installing {} '{}'", one->collection ? "collection" : "role", one->source));
      if (Status s = install(*one, folder, context); !s.ok()) return s;
      if (Status s = write_file_atomic(mark, application.name + "\n", 0600); !s.ok()) return s;
    }
  }
  return {};
}

}  // namespace radl::recipes
