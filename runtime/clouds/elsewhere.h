// Clouds that the Infrastructure Manager knows and radlc does not have, reported in one line before a plan
// fails; and other names of clouds that radlc has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// "OpenNebula" of "one" and "opennebula"; "" of any other name that a `deploy` may say.
std::string_view cloud_elsewhere(std::string_view name);
// "OpenNebula" of "one://host/1"; "" of an image's address that is none of these.
std::string_view image_elsewhere(std::string_view url);
// "ec2" of "aws" and "amazon": what others call radlc's own clouds; "" of any other name.
std::string_view cloud_called(std::string_view name);
// Whether a text may ask for one of them: quick, and true too often.
bool may_ask_elsewhere(std::string_view text);

struct AskedElsewhere {
  ir::Origin origin;  // of the first node of a system
  std::string text;  // "system 'node': OpenNebula, which its image is for, is not among radlc's clouds (...)"
};
// One for each system of which `deploy` names such a cloud, or all of whose images are for such clouds.
std::vector<AskedElsewhere> asked_elsewhere(const ir::Program& program);

// "radlc makes machines on this computer, ..."
std::string clouds_there_are();

}  // namespace radl
