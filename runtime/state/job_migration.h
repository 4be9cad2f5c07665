// Migration from version 4 to 5: the state records jobs' folders on nodes. Internal to runtime/state.
#pragma once

#include "runtime/state/database.h"

namespace radl {

// Gives every job the folder from its definition. If it was interrupted, its processes may still run.
Status note_job_folders(Database& db);

}  // namespace radl
