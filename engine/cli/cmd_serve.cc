// radl-train serve: predictions over HTTP until it is interrupted.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <thread>

#include "engine/cli/command.h"
#include "engine/serve/server.h"

namespace radl::engine::cli::serve_command {
namespace {

struct Flags {
  std::string model;
  serve::ServerOptions server;
  BuildOptions build{.batch_size = 32, .training = false};
  double wait_ms = 2;
  size_t memory_mib = server.memory >> 20;
  bool flip = false;
};

// Large buffers come from the kernel and go back to it at once, whichever thread had them: otherwise each of
// many connections' threads keeps its largest for the next.
void return_freed_memory() { ::mallopt(M_MMAP_THRESHOLD, 256 << 10); }

int run(Flags& f, const Context& context) {
  return_freed_memory();
  auto bundle = exporter::read_bundle(f.model);
  if (!bundle.ok()) return fail(bundle.status());
  auto predictor = serve::Predictor::create(*bundle, f.build, f.flip);
  if (!predictor.ok()) return fail(predictor.status());
  f.server.batch_wait_seconds = f.wait_ms / 1000;
  f.server.memory = f.memory_mib << 20;
  auto server = serve::Server::start(std::move(*predictor), f.server);
  if (!server.ok()) return fail(server.status());
  const bool six = f.server.address.find(':') != std::string::npos;
  fmt::print("{} on http://{}{}{}:{}  (POST /predict, GET /health, GET /metrics)\n", bundle->name,
             six ? "[" : "", f.server.address, six ? "]" : "", (*server)->port());
  std::fflush(stdout);
  while (!context.stop.asked()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server->reset();
  fmt::print(stderr, "stopped\n");
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("serve", "Serve predictions over HTTP");
  c->add_option("model", f->model, "folder of the trained model")->required();
  c->add_option("--address", f->server.address, "IP address to listen on")->capture_default_str();
  c->add_option("--port", f->server.port, "port to listen on; 0: any free port, which is printed")
      ->capture_default_str();
  c->add_option("--batch-size", f->build.batch_size, "maximum number of images in a batch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  c->add_option("--batch-wait", f->wait_ms, "milliseconds to wait for a batch to fill")
      ->check(CLI::Range(0.0, 10000.0))
      ->capture_default_str();
  c->add_option("--connections", f->server.connections.most, "maximum number of connected clients")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  c->add_option("--memory", f->memory_mib, "MiB for all requests together; further requests get status 503")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  c->add_option("--threads", f->build.threads, "number of threads; 0: one per core")->capture_default_str();
  c->add_option("--kernels", f->build.kernels, "auto, accurate, ref, eigen, onednn")->capture_default_str();
  c->add_flag("--flip", f->flip, "average with the mirrored image");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::serve_command
