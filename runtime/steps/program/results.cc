#include "runtime/steps/program/results.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include "common/digest.h"
#include "common/files.h"
#include "common/new_file.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/program/artifact.h"
#include "runtime/steps/training/bucket_folder.h"
#include "runtime/steps/training/result_folder.h"

namespace radl::program {
namespace {

constexpr const char *kReport = "report.json", *kItsReport = "program-report.json";

// Copies the outputs into the folder of results: a name, or a pattern of the shell. Prints "missing I" for
// one that is not there.
std::string gather_script(const std::string& folder, const Json& outputs) {
  std::string script;
  for (size_t i = 0; i < outputs.size(); ++i)
    // Words are not split at spaces, so that what is not quoted is a pattern and nothing else. A link that is
    // named is what it leads to.
    script += fmt::format(R"sh((cd {}/source || exit 1
IFS=
o={}
if [ -e "$o" ]; then set -- "$o"; else set -- $o; fi
for f; do
  [ -e "$f" ] || {{ echo 'missing {}'; exit 0; }}
  case $f in
    .. | */..) continue ;;
  esac
  to=../results/$f
  if [ -d "$f" ]; then
    mkdir -p "$to" && cp -a "./$f/." "$to" || exit 1
  else
    mkdir -p "${{to%/*}}" && rm -rf "$to" && cp -a -L "./$f" "$to" || exit 1
  fi
done) || exit 1
)sh",
                          folder, shell_quote(outputs[i].get<std::string>()), i);
  return script;
}

// A log on its way: lines are masked, since a program may print what it was given, and read for metrics. Of a
// line at most kLongestHeld bytes are kept in memory: a progress bar may never end one.
class ArrivingLog {
 public:
  ArrivingLog(const Redactor& secrets, Metrics& metrics) : secrets_(secrets), metrics_(metrics) {}

  Status create(const std::string& path) { return log_.create(path, 0600); }
  void add(std::string_view piece) {
    for (size_t end; (end = piece.find('\n')) != piece.npos; piece.remove_prefix(end + 1)) {
      hold(piece.substr(0, end));
      end_line();
    }
    hold(piece);
    while (held_.size() > kLongestHeld) pass_on();
  }
  // Its SHA-256.
  Result<std::string> end() {
    if (!held_.empty() || hidden_) end_line();
    flush();
    return status_.ok() ? Result<std::string>(digest_.finish_hex()) : status_;
  }
  Status commit() { return log_.commit(); }

 private:
  void hold(std::string_view piece) {
    if (!hidden_) held_ += piece;
  }
  void end_line() {
    if (!passed_on_) take_line(held_, metrics_);
    passed_on_ = hidden_ = false;
    write(secrets_.mask(held_) + '\n');
    held_.clear();
  }
  // Writes the beginning of a line, up to a place that lies in no secret: the two parts, masked one by one,
  // are what the whole is when it is masked. The end stays: a secret may have begun there.
  void pass_on() {
    passed_on_ = true;
    const std::string_view held = held_;
    const std::string whole = secrets_.mask(held);
    for (size_t at = held.size() - kLongestSecret; at >= kLongestSecret; at -= kLongestSecret) {
      const std::string first = secrets_.mask(held.substr(0, at));
      if (first + secrets_.mask(held.substr(at)) != whole) continue;
      write(first);
      held_.erase(0, at);
      return;
    }
    // Secrets lie across every such place.
    write(Redactor::kMask);
    hidden_ = true;
    held_.clear();
  }
  void write(std::string_view masked) {
    masked_ += masked;
    if (masked_.size() >= kPiece) flush();
  }
  void flush() {
    digest_.update(masked_);
    if (status_.ok()) status_ = log_.write(masked_);
    masked_.clear();
  }

  static constexpr size_t kPiece = 1 << 20, kLongestHeld = 1 << 20, kLongestSecret = 1 << 16;  // bytes
  const Redactor& secrets_;
  Metrics& metrics_;
  NewFile log_;
  Sha256 digest_;
  std::string held_, masked_;  // held_: of the line that has not ended
  bool passed_on_ = false;     // its beginning
  bool hidden_ = false;        // the rest of it
  Status status_;
};

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
  if (training::is_result_folder(place)) return {};
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

std::vector<std::string> users_results(const Json& program) {
  const std::string place = program.at("results");
  if (training::is_bucket(place)) return {};
  std::vector<std::string> names = {kReport};
  for (const Json& node : program.value("members", Json::array()))
    names.push_back(fmt::format("logs/{}.log", node.get<std::string>()));
  for (const Json& output : program.value("outputs", Json::array())) names.push_back(output);
  return training::users_files(place, names);
}

std::string process_name(size_t member) { return "member-" + std::to_string(member); }

namespace {

// Gives a program's own file with the name of ours another one, and prints "renamed".
std::string rename_its_report_script(const std::string& folder) {
  return fmt::format(
      "(cd {0}/results 2> /dev/null && [ -e {1} ] || exit 0\nmv -f {1} {2} && echo renamed) || exit 1\n",
      folder, kReport, kItsReport);
}

// Prints "log" if there is one, and "attempts N": the first number that no log of an earlier attempt has.
std::string logs_script(const std::string& folder, const std::string& log) {
  return fmt::format(
      "(cd {0} || exit 1\nif [ -e {1} ]; then echo log; fi\nn=1; while [ -e {1}.$n ]; do n=$((n+1)); done; "
      "echo "
      "\"attempts $n\") || exit 1\n",
      folder, log);
}

std::string log_of(const jobs::Member& member) { return fmt::format("logs/{}.log", member.address()); }

// `from`: the file on the node. In one pass: it may be large. False: there is none.
Result<bool> take_log(jobs::Member& member, const std::string& from, const std::string& name,
                      const Redactor& secrets, training::ResultFolder& folder, Metrics& metrics) {
  ArrivingLog log(secrets, metrics);
  if (Status made = log.create(folder.path() + "/" + name); !made.ok()) return made;
  auto there = member.read_all(from, [&](std::string_view piece) { log.add(piece); });
  if (!there) return there.status();
  if (!*there) return false;
  auto digest = log.end();
  if (!digest) return digest.status();
  Status done = folder.make_way({{name, *digest}});
  if (done.ok()) done = log.commit();
  return done.ok() ? Result<bool>(true) : done;
}

// Logs of attempts that failed before (Member::keep_logs), those before `end`, or up to the first that is
// missing.
Status take_earlier_logs(jobs::Member& member, const std::string& log, int end, const Redactor& secrets,
                         training::ResultFolder& folder) {
  for (int attempt = 1; attempt < end; ++attempt) {
    Metrics of_a_failure;
    auto taken = take_log(member, fmt::format("{}.{}", log, attempt),
                          fmt::format("logs/{}.attempt-{}.log", member.address(), attempt), secrets, folder,
                          of_a_failure);
    if (!taken) return taken.status();
    if (!*taken) return {};
  }
  return {};
}

Status take_logs(jobs::Member& member, const std::string& log, const Redactor& secrets,
                 training::ResultFolder& folder, Metrics& metrics) {
  auto taken = take_log(member, log, log_of(member), secrets, folder, metrics);
  if (!taken) return taken.status();
  return take_earlier_logs(member, log, std::numeric_limits<int>::max(), secrets, folder);
}

// What a member has left. Log, outputs, list and small files come in one command.
struct Brought {
  std::vector<std::string> names;    // of its files among the results
  std::vector<std::string> missing;  // outputs
};
Result<Brought> take_all(jobs::Member& member, const std::string& log, const Json& outputs, bool all,
                         const Redactor& secrets, training::ResultFolder& folder, Metrics& metrics,
                         std::vector<std::string>& notes) {
  ArrivingLog arriving(secrets, metrics);
  jobs::Beforehand first;
  const std::string on_node = shell_path(member.folder()), name = log_of(member);
  if (!log.empty()) {
    if (Status made = arriving.create(folder.path() + "/" + name); !made.ok()) return made;
    first.file = log;
    first.take = [&](std::string_view piece) { arriving.add(piece); };
    first.script += logs_script(on_node, log);
  }
  first.script += gather_script(on_node, outputs);
  if (!all) first.script += rename_its_report_script(on_node);
  auto fetched = folder.take(member, "results", all ? member.address() : "", first);
  if (!fetched) return fetched.status();
  Brought left{std::move(fetched->names), {}};
  for (const std::string& link : fetched->left)
    notes.push_back(
        fmt::format("{}: '{}' in its results is a link to a folder, or out of the results, "
                    "and was not fetched",
                    member.address(), link));
  int attempts = 1;
  std::istringstream lines(fetched->said);
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.find(' ');
    const std::string what = line.substr(0, blank);
    const int number = blank == line.npos ? 0 : std::atoi(line.c_str() + blank);
    if (what == "missing") left.missing.push_back(outputs.at(static_cast<size_t>(number)));
    if (what == "renamed")
      notes.push_back(fmt::format("{}: its own '{}' is called '{}' in the results", member.address(), kReport,
                                  kItsReport));
    if (what == "attempts") attempts = number;
    if (what != "log") continue;
    auto digest = arriving.end();
    Status done = digest ? folder.make_way({{name, *digest}}) : digest.status();
    if (done.ok()) done = arriving.commit();
    if (!done.ok()) return done;
  }
  Status earlier = take_earlier_logs(member, log, attempts, secrets, folder);
  return earlier.ok() ? Result<Brought>(std::move(left)) : earlier;
}

// Folder on this computer for results, with a folder for logs. For a bucket: `scratch`, emptied.
Result<training::ResultFolder> open_folder(const Json& program, const std::string& scratch,
                                           const training::ResultOwner& owner) {
  const std::string place = program.at("results");
  const bool bucket = training::is_bucket(place);
  const std::string local = bucket ? scratch : place;
  std::error_code error;
  if (bucket) std::filesystem::remove_all(local, error);
  auto opened = bucket ? training::ResultFolder::own(local) : training::ResultFolder::open(local, owner);
  if (!opened) return opened;
  for (const std::string& made : {local + "/logs", parent_path(scratch)}) {
    if (Status s = make_directories(made, made == local + "/logs" ? 0755 : 0700); !s.ok()) return s;
  }
  return opened;
}

}  // namespace

Result<std::string> collect_logs(const Json& program,
                                 const std::vector<std::unique_ptr<jobs::Member>>& members,
                                 const std::vector<bool>& lost, size_t running, const std::string& scratch,
                                 const std::string& step, const Redactor& secrets,
                                 std::vector<std::string>& notes) {
  auto folder = open_folder(program, scratch, {step, program.value("identity", "")});
  if (!folder) return folder.status();
  Status first;  // failure: the others' logs are brought all the same
  for (size_t i = 0; i < running; ++i) {
    if (lost[i]) continue;
    Metrics of_a_failure;
    Status taken = take_logs(*members[i], process_name(i) + ".log", secrets, *folder, of_a_failure);
    if (first.ok()) first = std::move(taken);
  }
  notes.insert(notes.end(), folder->moved().begin(), folder->moved().end());
  return first.ok() ? Result<std::string>(folder->path() + "/logs") : first;
}

Result<Collected> collect_results(const Json& program,
                                  const std::vector<std::unique_ptr<jobs::Member>>& members,
                                  const std::vector<bool>& lost, const ProgramFacts& facts,
                                  const std::string& scratch, const std::string& step, const Context& context,
                                  const Redactor& secrets) {
  const training::ResultOwner owner{step, program.value("identity", "")};
  const std::string place = program.at("results");
  const bool bucket = training::is_bucket(place);
  auto opened = open_folder(program, scratch, owner);
  if (!opened) return opened.status();
  training::ResultFolder& folder = *opened;
  const std::string local = folder.path();
  Collected collected;
  const bool all = program.value("collect", "first") == "all";
  std::vector<std::string> of_chief;  // files among its results
  std::vector<Metrics> reported(facts.ends.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (lost[i]) continue;
    const bool has_log = i < facts.ends.size();
    const std::string log = has_log ? process_name(i) + ".log" : "";
    if (i > 0 && !all) {
      Status taken = has_log ? take_logs(*members[i], log, secrets, folder, reported[i]) : Status();
      if (!taken.ok()) return taken;
      continue;
    }
    Metrics of_no_log;
    auto left = take_all(*members[i], log, program.value("outputs", Json::array()), all, secrets, folder,
                         has_log ? reported[i] : of_no_log, collected.notes);
    if (!left) return left.status();
    if (i == 0) collected.missing = std::move(left->missing);
    if (i == 0) of_chief = std::move(left->names);
  }
  Metrics metrics;
  // A launcher may have put its first worker on any node; what two of them report is the chief's.
  for (size_t i = reported.size(); i-- > 0;)
    for (const auto& [name, value] : reported[i]) take_number(name, value, metrics);
  // The folder may also contain the user's own files.
  take_files(all ? local + "/" + members[0]->address() : local, std::move(of_chief), metrics);
  auto seconds = facts.phases.find("program");
  collected.output = {{"exit_status", facts.exit_status},
                      {"seconds", seconds == facts.phases.end() ? 0.0 : seconds->second},
                      {"results_path", place},
                      {"log_path", place + "/logs"},
                      {"report_path", fmt::format("{}/{}", place, kReport)},
                      {"metrics", metrics}};
  Json report = collected.output;
  report["program"] = program.value("name", "");
  report["attempts"] = facts.attempts;
  report["members"] = members_json(members, facts);
  report["phases"] = facts.phases;
  Status written = folder.write(kReport, report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (written.ok()) written = folder.close();
  if (!written.ok()) return written;
  if (!bucket) {
    auto files = artifact_of(local, step);
    if (!files) return files.status();
    collected.output["files"] = std::move(*files);
  }
  collected.notes.insert(collected.notes.end(), folder.moved().begin(), folder.moved().end());
  if (!bucket) return collected;
  http::Client http(context.environment);
  auto kept = training::open_bucket_folder(http, place);
  // The report last: it is what the next apply looks for.
  Status sent =
      kept ? training::send_results(*kept, local, {owner, kReport, ""}, context.stop) : kept.status();
  std::error_code error;
  std::filesystem::remove_all(local, error);
  if (!sent.ok()) return std::move(sent).at("results");
  return collected;
}

}  // namespace radl::program
