// Events of runs on other computers, for a state in a bucket.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/project_state.h"
#include "runtime/run/run_mirror.h"

namespace radl::cli {

// Keeps `folder` (Store::run_directory()) up to date while it exists. Null for a state in a folder; null with
// a note on standard error if the bucket is unreadable.
inline std::unique_ptr<RunMirror> mirror_or_note(const Session& session, const driver::StatePlace& place,
                                                 const std::string& folder, const Stop& stop = {}) {
  auto mirror = RunMirror::start(place.directory, place.name, folder, session.host.environment(), stop);
  if (mirror.ok()) return std::move(*mirror);
  std::fprintf(stderr, "note: events of other computers are missing: %s\n",
               shown(mirror.status().text()).c_str());
  return nullptr;
}

}  // namespace radl::cli
