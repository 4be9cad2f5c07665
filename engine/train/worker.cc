// A worker: takes a batch number and weights from the servers, gives back gradients.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/kernels/cpu.h"
#include "engine/train/cluster.h"
#include "engine/train/statistics.h"
#include "engine/train/step.h"
#include "engine/train/worker_lines.h"

namespace radl::engine {
namespace {

// One assignment computed: gradients stay in the network, what the batch adds to its statistics in `added`.
Result<cluster::StepOutcome> compute(Setup& setup, data::Loader& batches, BatchStep& step,
                                     const cluster::Assignment& given, StatisticsProbe& probe,
                                     std::vector<float>& added, WorkerLines& lines) {
  const uint64_t ticket = given.ticket;
  Result<Batch> batch = batches.get(ticket);
  if (!batch) return std::move(batch).status();
  if (given.then != ticket) batches.hint(given.then);  // made while this one is computed and exchanged
  probe.begin();
  setup.network->parameters_changed();
  StepResult result = step.run(*batch, ticket);
  probe.read(added);
  lines.add(ticket, result, batch->size);
  cluster::StepOutcome out;
  out.rate = setup.rate(ticket);
  out.loss = result.loss;
  out.correct = static_cast<uint32_t>(result.correct);
  out.images = static_cast<uint32_t>(batch->size);
  out.gradients = step.gradients();
  out.statistics = added;
  out.updates = step.pieces();
  return out;
}

// What its `finished` line says beside the time.
Result<nlohmann::ordered_json> work(const Job& job, const RunHooks& hooks, Setup& setup,
                                    cluster::WorkerClient& client, Progress& progress) {
  Result<std::unique_ptr<data::Loader>> batches = make_loader(setup, job);
  if (!batches) return std::move(batches).status();
  BatchStep batch_step(*setup.network, job);
  WorkerLines lines(job, setup, progress, [&] { return client.traffic(); });
  StatisticsProbe probe(*setup.network);
  std::vector<float> added;
  Network& network = *setup.network;
  Result<cluster::Assignment> next = client.begin(network.parameters(), network.statistics());
  while (next.ok() && !next->finished) {
    if (hooks.stop.asked()) return Status(Code::Cancelled, "interrupted; the other workers go on");
    Result<cluster::StepOutcome> step = compute(setup, **batches, batch_step, *next, probe, added, lines);
    if (!step) return std::move(step).status();
    next = client.push(*step, network.parameters(), network.statistics());
  }
  if (!next.ok()) return std::move(next).status();
  nlohmann::ordered_json said = {{"step", lines.steps()}, {"data_wait_seconds", (*batches)->wait_seconds()}};
  lines.add_links(said);
  return said;
}

}  // namespace

Result<RunSummary> run_worker(const Job& given, const RunHooks& hooks, Progress& progress) {
  Job job = given;
  auto begin = SteadyClock::now();
  Result<std::string> key = cluster::read_job_key(job.secrets);
  if (!key) return std::move(key).status().at("secrets");
  Result<std::unique_ptr<Setup>> setup = Setup::make(job, true);
  if (!setup) return std::move(setup).status();
  Result<std::unique_ptr<cluster::WorkerClient>> client = cluster::WorkerClient::connect(
      client_options(job, **setup, hooks), tcp_connector(job, hooks, cluster::Role::Worker, *key));
  if (!client) return std::move(client).status();
  if (!cpu().warning.empty()) progress.emit("warning", {{"message", cpu().warning}});
  progress.emit("started", {{"time", wall_seconds()}, {"steps", (*setup)->length.total}});
  RunSummary out;
  Result<nlohmann::ordered_json> done = work(job, hooks, **setup, **client, progress);
  (*client)->leave(done.status());
  if (!done) return std::move(done).status();
  out.task = job.task.name();
  out.steps = done->at("step");
  out.data_wait_seconds = done->at("data_wait_seconds");
  out.seconds = seconds_since(begin);
  (*done)["seconds"] = out.seconds;
  progress.emit("finished", *done);
  return out;
}

}  // namespace radl::engine
