#include "runtime/cli/recommend_study.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "common/human.h"
#include "common/text.h"
#include "runtime/cli/recommend_view.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/figures/calibration_store.h"
#include "runtime/foresight/anwar.h"
#include "runtime/foresight/epoch_model.h"

namespace radl::cli {
namespace {

constexpr int kNoAnswer = 3;

// "ec2 t2.large" by "t2.*", "ec2 t2.large" or "*".
bool is_machine(const std::string& machine, const std::string& patterns) {
  const size_t space = machine.find(' ');
  const std::string type = space == std::string::npos ? machine : machine.substr(space + 1);
  for (std::string_view pattern : split(patterns, ','))
    if (matches_pattern(machine, trim(pattern)) || matches_pattern(type, trim(pattern))) return true;
  return false;
}

// Rows of the study, built in or imported, on one machine type: times of two types never make one answer.
Result<std::vector<foresight::StudyRow>> rows_named(const Host& host, const std::string& name,
                                                    const std::string& types) {
  auto known = load_calibration(host.calibration_file());
  if (!known.ok()) return std::move(known).status();
  std::vector<foresight::StudyRow> all = foresight::study_rows(), rows;
  all.insert(all.end(), known->studies.begin(), known->studies.end());
  std::set<std::string> names, machines, taken;
  std::set<std::tuple<std::string, int, int, double>> seen;
  for (foresight::StudyRow& row : all) {
    names.insert(row.study);
    if (row.study != name || !seen.insert({row.machine, row.machines, row.batch, row.latency_ms}).second)
      continue;
    machines.insert(row.machine);
    if (!types.empty() && !is_machine(row.machine, types)) continue;
    taken.insert(row.machine);
    rows.push_back(std::move(row));
  }
  const auto list = [](const std::set<std::string>& set) {
    return join(std::vector<std::string>(set.begin(), set.end()), ", ");
  };
  if (machines.empty())
    return not_found("unknown study '" + name + "'").with_hint("available: " + list(names));
  if (rows.empty())
    return not_found("study '" + name + "' has no rows of a machine like " + types)
        .with_hint("it has rows for " + list(machines));
  if (taken.size() > 1)
    return invalid("study '" + name + "' has rows of several machine types: " + list(taken))
        .with_hint("name one: --types '" + *taken.begin() + "'");
  return rows;
}

int by_look_up(const Session& session, const RecommendFlags& flags,
               const std::vector<foresight::StudyRow>& rows, int batch, double latency) {
  const auto reading = flags.as_published ? foresight::Reading::AsPublished : foresight::Reading::Ours;
  auto row = look_up(rows, batch, latency, reading);
  if (!row.ok()) {
    const int code = report(session, row.status());
    return row.status().code() == Code::NotFound ? kNoAnswer : code;
  }
  if (flags.json)
    std::printf("%s\n", Json({{"recommendation", 1},
                              {"algorithm", "lookup"},
                              {"workers", row->machines},
                              {"machine", row->machine},
                              {"epoch_seconds", *row->seconds},
                              {"where", row->where}})
                            .dump(2)
                            .c_str());
  else
    std::printf("%s: %s an epoch, measured (%s, %s)\n", counted(row->machines, "node").c_str(),
                duration_text(*row->seconds).c_str(), shown(row->machine).c_str(), shown(row->where).c_str());
  return kDone;
}

struct Sized {
  int nodes = 0;
  foresight::EpochEstimate estimate;
  std::string rejected;  // why, where it is
};

std::vector<Sized> estimates(const RecommendFlags& flags, const foresight::EpochModel& model,
                             const std::vector<int>& sizes, int batch, double latency) {
  std::vector<Sized> all;
  for (int nodes : sizes) {
    Sized sized{nodes, {}, {}};
    auto estimate = model.predict(nodes, batch, latency, flags.confidence);
    if (estimate.ok())
      sized.estimate = std::move(*estimate);
    else
      sized.rejected = estimate.status().message();
    all.push_back(std::move(sized));
  }
  return all;
}

Json json_of(const std::vector<Sized>& all, const std::optional<size_t>& chosen) {
  Json sizes = Json::array();
  for (const Sized& one : all) {
    Json json = {{"workers", one.nodes}};
    if (!one.rejected.empty())
      json["why"] = one.rejected;
    else
      json.update(
          {{"epoch_seconds",
            {{"value", one.estimate.seconds}, {"low", one.estimate.low}, {"high", one.estimate.high}}},
           {"outside", one.estimate.outside},
           {"measured_seconds", one.estimate.measured ? Json(*one.estimate.measured) : Json()}});
    sizes.push_back(std::move(json));
  }
  return {{"recommendation", 1},
          {"algorithm", "model"},
          {"workers", chosen ? Json(all[*chosen].nodes) : Json()},
          {"sizes", sizes}};
}

std::string time_text(const foresight::EpochEstimate& estimate) {
  if (estimate.measured) return duration_text(*estimate.measured) + ", measured";
  return banded_text(estimate.seconds, estimate.low, estimate.high);
}

void print_sizes(const std::vector<Sized>& all, const std::optional<size_t>& chosen) {
  if (chosen) {
    const Sized& one = all[*chosen];
    std::printf("Take %s: %s an epoch%s\n\n", counted(one.nodes, "node").c_str(),
                time_text(one.estimate).c_str(),
                one.estimate.measured          ? ""
                : one.estimate.outside.empty() ? ", predicted between measured rows"
                                               : ", outside of what was measured");
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Sized& one = all[i];
    if (!one.rejected.empty()) {
      std::printf("    %3d node%s  rejected: %s\n", one.nodes, one.nodes == 1 ? " " : "s",
                  shown(one.rejected).c_str());
      continue;
    }
    const bool predicted = !one.estimate.measured && !one.estimate.outside.empty();
    std::printf("  %s %3d node%s  %-36s%s%s\n", chosen == i ? "*" : " ", one.nodes,
                one.nodes == 1 ? " " : "s", time_text(one.estimate).c_str(), predicted ? "  outside: " : "",
                predicted ? shown(join(one.estimate.outside, "; ")).c_str() : "");
  }
}

// The position of the size to take (EpochModel::choose), by time, by the nodes' time together, or by both.
std::optional<size_t> choose_size(const foresight::EpochModel& model, const std::vector<Sized>& all,
                                  const foresight::Objective& objective) {
  std::vector<foresight::EpochModel::SizedEstimate> possible;
  std::vector<size_t> positions;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].rejected.empty()) continue;
    possible.push_back({all[i].nodes, objective.time + objective.money * all[i].nodes, all[i].estimate});
    positions.push_back(i);
  }
  const auto chosen = model.choose(possible);
  return chosen ? std::optional(positions[*chosen]) : std::nullopt;
}

int by_model(const Session& session, const RecommendFlags& flags,
             const std::vector<foresight::StudyRow>& rows, int batch, double latency) {
  std::vector<foresight::EpochTime> measured, failed;
  std::set<int> known;
  for (const auto& row : rows) {
    (row.seconds ? measured : failed)
        .push_back({row.machines, static_cast<double>(row.batch), row.latency_ms, row.seconds.value_or(0)});
    known.insert(row.machines);
  }
  auto objective = parse_objective(flags.objective);
  if (!objective.ok()) return report(session, std::move(objective).status().at("--objective"));
  auto sizes = flags.workers.empty() && !flags.max_workers
                   ? Result(std::vector<int>(known.begin(), known.end()))
                   : parse_sizes(flags.workers, flags.max_workers);
  if (!sizes.ok()) return report(session, std::move(sizes).status().at("--workers"));
  auto model = foresight::EpochModel::fit(measured, failed);
  if (!model.ok()) return report(session, model.status());
  const std::vector<Sized> all = estimates(flags, *model, *sizes, batch, latency);
  const std::optional<size_t> chosen = choose_size(*model, all, *objective);
  if (flags.json)
    std::printf("%s\n", json_of(all, chosen).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print_sizes(all, chosen);
  if (chosen) return kDone;
  return report(session, not_found("no size can do it")) == kDone ? kDone : kNoAnswer;
}

}  // namespace

int run_study(const Session& session, const RecommendFlags& flags) {
  auto rows = rows_named(session.host, flags.study, flags.types);
  if (!rows.ok()) return report(session, rows.status());
  if (!flags.batch || *flags.batch < 1 || *flags.batch > 1e9 || *flags.batch != std::floor(*flags.batch))
    return report(session,
                  invalid("a study is asked with --batch N, images of the whole cluster, and --latency MS"));
  if (!(flags.confidence > 0 && flags.confidence < 1))
    return report(session, invalid("--confidence: above 0 and below 1"));
  const double latency = flags.latency_ms.value_or(0);
  if (!(latency >= 0) || !std::isfinite(latency))
    return report(session, invalid("--latency: milliseconds, at least 0"));
  const int batch = static_cast<int>(*flags.batch);
  if (flags.algorithm == "lookup") return by_look_up(session, flags, *rows, batch, latency);
  if (flags.algorithm == "model") return by_model(session, flags, *rows, batch, latency);
  return report(session, invalid("--algorithm " + flags.algorithm +
                                 " asks for prices and types: give a FILE in place of --study"));
}

}  // namespace radl::cli
