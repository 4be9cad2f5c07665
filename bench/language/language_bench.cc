// Speed of the language's stages: scan, parse, check, export. One JSON line a measurement:
// {name, ours, peer, unit, ratio, goal, machine}; run.py adds the reference parser as the peer.
// Usage: language_bench LINES...
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/sema/check.h"
#include "compiler/sema/radl_json.h"
#include "compiler/syntax/parser.h"

namespace {

// Processor time: what other processes do meanwhile does not count. The peer is measured in the same way.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double since(double start) { return now() - start; }

// Systems of ten lines and a deploy each.
std::string document(size_t lines) {
  std::string out = "network pub (outbound = 'yes' and outports = '22/tcp,80/tcp')\nnetwork priv ()\n";
  for (size_t i = 0; i * 11 + 2 < lines; ++i) {
    std::string n = std::to_string(i);
    out += "system node" + n + " (\n  cpu.count >= " + std::to_string(i % 16 + 1) +
           " and\n  memory.size >= " + std::to_string(i % 64 + 1) +
           "G and\n  net_interface.0.connection = 'pub' and\n  net_interface.0.dns_name = 'node" + n +
           "-#N#' and\n  net_interface.1.connection = 'priv' and\n  disk.0.os.name = 'linux' and\n"
           "  disk.0.image.url = 'aws://eu-west-1/ami-" +
           n + "' and\n  disk.1.size = " + std::to_string(i % 100 + 1) + "GB  # scratch\n)\ndeploy node" + n +
           " 1\n";
  }
  return out;
}

void report(const std::string& name, double ours, const std::string& unit, nlohmann::json goal = nullptr) {
  std::cout << nlohmann::json{{"name", name}, {"ours", ours},     {"peer", nullptr},
                              {"unit", unit}, {"ratio", nullptr}, {"goal", goal}}
            << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace radl;
  if (argc == 3 && std::string(argv[1]) == "--document") {
    std::cout << document(std::stoul(argv[2]));
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    std::string text = document(std::stoul(argv[i])), size = argv[i];
    double lines = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
    auto start = now();
    SourceMap sources;
    const SourceFile& file = sources.add("bench.radl", text);
    auto loaded = now();
    tokenize(file);
    double scan = since(loaded);
    Diagnostics diagnostics;
    auto parsing = now();
    auto tree = parse(file, diagnostics);
    double parsed = since(parsing);
    auto checking = now();
    sema::Document made = sema::build_document({tree.get()}, diagnostics);
    sema::check_document(made, diagnostics);
    double checked = since(checking);
    auto writing = now();
    std::string json = sema::to_radl_json(made);
    double written = since(writing);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    double load = loaded - start;
    report("scan " + size + " lines", lines / scan, "lines/s");
    report("parse " + size + " lines", lines / parsed, "lines/s");
    report("check " + size + " lines, loaded to checked", load + parsed + checked, "s",
           lines > 900000 ? nlohmann::json(1.0) : nullptr);
    report("RADL-JSON " + size + " lines", lines / written, "lines/s");
    report("tree " + size + " lines", static_cast<double>(tree->arena.bytes()) / lines, "bytes/line");
    report("memory at " + size + " lines", static_cast<double>(usage.ru_maxrss) / 1024, "MiB",
           lines > 900000 ? nlohmann::json(1024) : nullptr);
    if (diagnostics.has_errors()) return 1;
  }
}
