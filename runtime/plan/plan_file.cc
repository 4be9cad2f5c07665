#include "runtime/plan/plan_file.h"

#include <filesystem>
#include <fstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_depth.h"

namespace radl {

namespace {

constexpr std::string_view kMagic = "radlplan ";

constexpr int kDeepest = 200;  // of lists and objects in each other

Status not_a_plan() { return invalid("this is not a plan file; `radlc plan -out FILE` writes one"); }

}  // namespace

std::string encode_plan_file(const SavedPlan& saved) {
  Json json = {{"plan", to_json(saved.plan)},
               {"program", ir::to_json(saved.program)},
               {"state_directory", saved.state_directory},
               {"inputs", saved.inputs},
               {"files", saved.files},
               {"module_path", saved.module_path}};
  std::string body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return std::string(kMagic) + std::to_string(kPlanVersion) + " " + sha256_hex(body) + "\n" + body;
}

Result<SavedPlan> decode_plan_file(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    // A file that was cut within its first line still begins like one.
    bool cut = !bytes.empty() && kMagic.substr(0, bytes.size()) == bytes;
    return cut ? Status(Code::Corrupt, "the plan file was cut short") : not_a_plan();
  }
  size_t line_end = bytes.find('\n');
  if (line_end == std::string_view::npos) return Status(Code::Corrupt, "the plan file was cut short");
  std::string_view line = bytes.substr(kMagic.size(), line_end - kMagic.size());
  size_t space = line.find(' ');
  if (space == std::string_view::npos) return not_a_plan();
  std::string version(line.substr(0, space));
  if (version.empty() || version.find_first_not_of("0123456789") != std::string::npos) return not_a_plan();
  if (version.size() > 6 || std::stoi(version) > kPlanVersion) {
    return Status(Code::Invalid, "the plan file was written by a newer radlc (version " + version + ")")
        .with_hint("make the plan again with this radlc");
  }
  if (std::stoi(version) < kPlanVersion) {
    return Status(Code::Invalid, "the plan file was written by an older radlc (version " + version + ")")
        .with_hint("make the plan again with this radlc");
  }
  std::string_view body = bytes.substr(line_end + 1);
  if (sha256_hex(body) != line.substr(space + 1)) {
    return Status(Code::Corrupt, "the plan file was cut short or changed: its checksum does not fit")
        .with_hint("make the plan again");
  }
  if (json_shape(body).depth > kDeepest) return invalid("the plan file is nested deeper than any plan");
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || !json.contains("plan") || !json.contains("program")) return not_a_plan();
  Result<Plan> plan = plan_from_json(json["plan"]);
  if (!plan.ok()) return plan.status();
  Result<ir::Program> program = ir::from_json(json["program"]);
  if (!program.ok()) return program.status();
  SavedPlan saved{std::move(*plan), std::move(*program), "", {}, {}, {}};
  try {
    saved.state_directory = json.at("state_directory");
    saved.inputs = json.at("inputs").get<std::map<std::string, std::string>>();
    saved.files = json.value("files", std::vector<std::string>());
    saved.module_path = json.value("module_path", std::vector<std::string>());
  } catch (const Json::exception& error) {
    return invalid(std::string("the plan file cannot be read: ") + error.what());
  }
  // Older plan files do not list their files; they have one.
  if (saved.files.empty() && !saved.program.sources.empty())
    saved.files = {saved.program.sources.front().path};
  return saved;
}

bool is_plan_file(const std::string& path) {
  std::error_code unseen;
  if (!std::filesystem::is_regular_file(path, unseen)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == kMagic;
}

Result<SavedPlan> read_plan_file(const std::string& path) {
  Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) return bytes.status();
  Result<SavedPlan> saved = decode_plan_file(*bytes);
  if (!saved.ok()) return Status(saved.status()).at(path);
  return saved;
}

Status check_state_unmoved(const Plan& plan, const Snapshot& snapshot) {
  // A plan for what did not exist yet fits the state that apply has just made.
  if (plan.lineage.empty() && plan.serial == 0 && snapshot.serial == 0) return {};
  if (plan.lineage != snapshot.lineage) {
    return Status(Code::Conflict, "the plan was made for another state of '" + plan.infrastructure + "'")
        .with_hint("make the plan again");
  }
  if (plan.serial != snapshot.serial) {
    return Status(Code::Conflict, "the state has changed since the plan was made (serial " +
                                      std::to_string(plan.serial) + " then, " +
                                      std::to_string(snapshot.serial) + " now)")
        .with_hint("make the plan again");
  }
  return {};
}

Status check_sources_unmoved(const Plan& plan) {
  for (const ir::Source& source : plan.sources) {
    Result<std::string> digest = sha256_file(source.path);
    if (!digest.ok() && digest.status().code() == Code::NotFound) {
      // Modules of the standard library may be built into the program; those move with its version only.
      if (source.path.empty() || source.path[0] == '<') continue;
      return Status(Code::Conflict, source.path + " no longer exists").with_hint("make the plan again");
    }
    if (!digest.ok()) return digest.status();
    if (*digest != source.sha256) {
      return Status(Code::Conflict, source.path + " has changed since the plan was made")
          .with_hint("make the plan again");
    }
  }
  return {};
}

}  // namespace radl
