#include "runtime/steps/program/results.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "common/files.h"
#include "common/new_file.h"
#include "common/own_folders.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/remote.h"
#include "runtime/steps/training/bucket_folder.h"
#include "runtime/steps/training/result_folder.h"

namespace radl::program {
namespace {

constexpr int kMissing = 45;

// Copies the outputs into the folder of results. What is not there is named.
Result<std::vector<std::string>> gather(jobs::Member& member, const Json& outputs) {
  std::vector<std::string> missing;
  for (const Json& output : outputs) {
    const std::string name = output.get<std::string>();
    auto copied = member.exec(fmt::format(R"sh(cd {} || exit 1
o={}
[ -e "source/$o" ] || exit {}
mkdir -p "results/$(dirname "$o")" && rm -rf "results/$o" && cp -a "source/$o" "results/$o")sh",
                                          shell_path(member.folder()), shell_quote(name), kMissing));
    if (!copied) return copied.status();
    if (copied->exit_status == kMissing)
      missing.push_back(name);
    else if (copied->exit_status != 0)
      return std::move(ssh::command_failure(*copied, name)).at(member.address());
  }
  return missing;
}

void take_log(const std::string& path, Metrics& into) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) take_json_line(line, into);
}

// A program may print what it was given.
Status mask_file(const std::string& path, const Redactor& secrets) {
  std::ifstream in(path);
  NewFile masked;
  Status done = masked.create(path, 0600);
  for (std::string line; done.ok() && std::getline(in, line);) done = masked.write(secrets.mask(line) + "\n");
  return done.ok() ? masked.commit() : done;
}

Json members_json(const std::vector<std::unique_ptr<jobs::Member>>& members, const ProgramFacts& facts) {
  Json all = Json::array();
  for (size_t i = 0; i < facts.ends.size(); ++i)
    all.push_back({{"node", members[i]->address()},
                   {"exit_status", facts.ends[i] < 0 ? Json() : Json(facts.ends[i])},
                   {"restarts", facts.restarts[i]}});
  return all;
}

}  // namespace

Status check_results_folder(const Json& program) {
  const std::string place = program.at("results");
  std::error_code error;
  if (training::is_bucket(place)) return {};
  if (Status usable = training::check_result_folder(place); !usable.ok()) return usable;
  if (std::filesystem::exists(std::filesystem::path(place) / kResultsMark, error)) return {};
  // Of programs before there was that mark.
  if (auto report = read_file(place + "/report.json")) {
    const Json json = Json::parse(*report, nullptr, false);
    if (json.is_object() && json.contains("program") && json.contains("metrics")) return {};
  }
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with('.'))
      return Status(Code::Conflict,
                    fmt::format("'{}' is to get the results, and holds '{}', which no program has "
                                "put there",
                                place, name))
          .with_hint("name an empty or a new folder with `results`");
  }
  return {};
}

std::string process_name(size_t member) { return "member-" + std::to_string(member); }

Result<Collected> collect_results(const Json& program,
                                  const std::vector<std::unique_ptr<jobs::Member>>& members,
                                  const std::vector<bool>& lost, const ProgramFacts& facts,
                                  const std::string& scratch, const Context& context,
                                  const Redactor& secrets) {
  const std::string place = program.at("results");
  const bool bucket = training::is_bucket(place);
  const std::string local = bucket ? scratch : place;
  std::error_code error;
  if (bucket) std::filesystem::remove_all(local, error);
  if (Status s = bucket ? Status() : training::make_result_folder(local); !s.ok()) return s;
  if (Status s = make_directories(local + "/logs"); !s.ok()) return s;
  Collected collected;
  const bool all = program.value("collect", "first") == "all";
  for (size_t i = 0; i < members.size(); ++i) {
    if (lost[i]) continue;
    if (i < facts.ends.size()) {
      const std::string log = local + "/logs/" + members[i]->address() + ".log";
      Status brought = members[i]->fetch_file(process_name(i) + ".log", log, context.stop);
      if (brought.ok()) brought = mask_file(log, secrets);
      if (!brought.ok() && brought.code() != Code::NotFound) return brought;
    }
    if (i > 0 && !all) continue;
    auto missing = gather(*members[i], program.value("outputs", Json::array()));
    if (!missing) return missing.status();
    if (i == 0) collected.missing = std::move(*missing);
    auto fetched = members[i]->fetch("results", all ? local + "/" + members[i]->address() : local);
    if (!fetched) return fetched.status();
  }
  Metrics metrics;
  // A launcher may have put its first worker on any node; what two of them report is the chief's.
  for (size_t i = facts.ends.size(); i-- > 0;)
    take_log(local + "/logs/" + members[i]->address() + ".log", metrics);
  // The folder may hold what an earlier program has left.
  std::vector<std::string> names;
  if (!lost[0]) {
    auto left = members[0]->files("results");
    if (!left) return left.status();
    for (jobs::NodeFile& file : *left) names.push_back(std::move(file.name));
  }
  take_files(all ? local + "/" + members[0]->address() : local, std::move(names), metrics);
  auto seconds = facts.phases.find("program");
  collected.output = {{"exit_status", facts.exit_status},
                      {"seconds", seconds == facts.phases.end() ? 0.0 : seconds->second},
                      {"results_path", place},
                      {"log_path", place + "/logs"},
                      {"report_path", place + "/report.json"},
                      {"metrics", metrics}};
  Json report = collected.output;
  report["program"] = program.value("name", "");
  report["attempts"] = facts.attempts;
  report["members"] = members_json(members, facts);
  report["phases"] = facts.phases;
  Status written = write_user_file(local + "/report.json",
                                   report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!written.ok() || !bucket) return written.ok() ? Result<Collected>(std::move(collected)) : written;
  http::Client http;
  auto folder = training::open_bucket_folder(http, place);
  // The report last: it is what the next apply looks for.
  Status sent = folder ? training::send_files(*folder, local, "report.json", context.stop) : folder.status();
  std::filesystem::remove_all(local, error);
  if (!sent.ok()) return std::move(sent).at("results");
  return collected;
}

}  // namespace radl::program
