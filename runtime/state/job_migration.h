// From version 4 to 5: the state knows the folders of jobs on nodes. Internal to runtime/state.
#pragma once

#include "runtime/state/database.h"

namespace radl {

// Gives every job the folder that its definition names. Its processes may still run if it was interrupted.
Status note_job_folders(Database& db);

}  // namespace radl
