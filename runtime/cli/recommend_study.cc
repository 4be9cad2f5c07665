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
#include "runtime/foresight/anwar.h"
#include "runtime/foresight/epoch_model.h"
#include "runtime/runs/calibration_store.h"

namespace radl::cli {
namespace {

constexpr int kNoAnswer = 3;

// Those that are built in, and those that were imported.
Result<std::vector<foresight::StudyRow>> rows_named(const Host& host, const std::string& name) {
  auto known = load_calibration(host.calibration_file());
  if (!known.ok()) return std::move(known).status();
  std::vector<foresight::StudyRow> all = foresight::study_rows(), rows;
  all.insert(all.end(), known->studies.begin(), known->studies.end());
  std::set<std::string> names;
  std::set<std::tuple<std::string, int, int, double>> seen;
  for (foresight::StudyRow& row : all) {
    names.insert(row.study);
    if (row.study == name && seen.insert({row.machine, row.machines, row.batch, row.latency_ms}).second)
      rows.push_back(std::move(row));
  }
  if (rows.empty())
    return not_found("there is no study '" + name + "'")
        .with_hint("there are: " + join(std::vector<std::string>(names.begin(), names.end()), ", "));
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
                              {"epoch_seconds", *row->seconds},
                              {"where", row->where}})
                            .dump(2)
                            .c_str());
  else
    std::printf("%d nodes: %s an epoch, measured (%s)\n", row->machines, duration_text(*row->seconds).c_str(),
                shown(row->where).c_str());
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
           {"outside", one.estimate.outside}});
    sizes.push_back(std::move(json));
  }
  return {{"recommendation", 1},
          {"algorithm", "model"},
          {"workers", chosen ? Json(all[*chosen].nodes) : Json()},
          {"sizes", sizes}};
}

void print_sizes(const std::vector<Sized>& all, const std::optional<size_t>& chosen) {
  for (size_t i = 0; i < all.size(); ++i) {
    const Sized& one = all[i];
    if (!one.rejected.empty()) {
      std::printf("    %3d node%s  rejected: %s\n", one.nodes, one.nodes == 1 ? " " : "s",
                  shown(one.rejected).c_str());
      continue;
    }
    std::printf(
        "  %s %3d node%s  %-36s%s%s\n", chosen == i ? "*" : " ", one.nodes, one.nodes == 1 ? " " : "s",
        banded_text(one.estimate.seconds, one.estimate.low, one.estimate.high).c_str(),
        one.estimate.outside.empty() ? "" : "  outside: ", shown(join(one.estimate.outside, "; ")).c_str());
  }
}

// By time, or by the nodes' time together, or by both weighted.
double value_of(const Sized& one, const foresight::Objective& objective) {
  return (objective.time + objective.money * one.nodes) * one.estimate.seconds;
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
  std::optional<size_t> chosen;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].rejected.empty() &&
        (!chosen || value_of(all[i], *objective) < value_of(all[*chosen], *objective)))
      chosen = i;
  if (flags.json)
    std::printf("%s\n", json_of(all, chosen).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print_sizes(all, chosen);
  if (chosen) return kDone;
  return report(session, not_found("no size can do it")) == kDone ? kDone : kNoAnswer;
}

}  // namespace

int run_study(const Session& session, const RecommendFlags& flags) {
  auto rows = rows_named(session.host, flags.study);
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
