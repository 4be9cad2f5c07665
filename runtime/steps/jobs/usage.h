// A process's use of its node: processors, memory, network, GPUs.
//
// A reading holds Linux counters (/proc/PID/stat, /proc/net/dev: proc(5)); two readings give
// rates.
#pragma once

#include <optional>
#include <string>

namespace radl::jobs {

struct Usage {
  double processors = 0;          // 1.5: one and a half processors
  double memory_bytes = 0;        // resident, of all its processes
  double received = 0, sent = 0;  // bytes/s, of the whole node without loopback
  std::optional<double> gpu;      // 0..1, mean of the node's GPUs
  int stopped = 0;                // number of its processes stopped by SIGSTOP or similar
};

struct UsageReading {
  std::string process;
  double uptime = 0, ticks = 0, memory_bytes = 0, received = 0, sent = 0;
  std::optional<double> gpu;
  int stopped = 0;
};

// Shell text with the function `usage NAME`, which prints a reading of a process and of everything that
// carries its mark. Requires kProcessScript before it.
extern const char* const kUsageScript;
// Parses a line of `usage`; nullopt: not one.
std::optional<UsageReading> read_usage(const std::string& line);
Usage usage_between(const UsageReading& first, const UsageReading& second);
// "stopped, 1.9 CPUs, 512 MiB, in 1.2 MiB/s, out 0.3 MiB/s, GPU 87%".
std::string usage_text(const Usage& usage);

}  // namespace radl::jobs
