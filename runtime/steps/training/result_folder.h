// The folder of this computer that the result of a training or of a program goes to.
#pragma once

#include <string>

#include "common/status.h"

namespace radl::training {

// Whether files can be put there, as far as that is known without doing it: it, or the nearest folder above
// it that is there, is a folder that we may write to. Invalid, with what is in the way.
Status check_result_folder(const std::string& path);

// Makes it, with the mark of what is ours (common/own_folders.h).
Status make_result_folder(const std::string& path);

}  // namespace radl::training
