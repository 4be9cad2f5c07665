// Shared by FC2's algorithms. Internal to runtime/foresight.
#pragma once

#include "runtime/foresight/fc2.h"
#include "runtime/foresight/fraction.h"

namespace radl::foresight {

Status check_limits(const std::vector<MachineType>& types, const Limits& limits);
// The types with a known price in the budget's currency; adds the others to `left_out`.
std::vector<const MachineType*> priced(const std::vector<MachineType>& types,
                                       std::vector<std::string>& left_out);
// (C - c_server) / c_worker; nullopt: no budget, or the worker is free.
std::optional<Fraction> affordable(const MachineType& server, const MachineType& worker,
                                   const Limits& limits);
// NotFound, with the smallest workable budget.
Status nothing_fits(const std::vector<MachineType>& servers, const std::vector<MachineType>& workers,
                    const Limits& limits);

}  // namespace radl::foresight
