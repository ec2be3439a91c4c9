// The marks that every process of a command carries in its environment.
#pragma once

namespace dutiful {

// The name of the daemon that started the command. Read from processes of older daemons, so never
// changed.
inline constexpr const char* instance_variable = "DUTIFUL_INSTANCE";
// The fence of the command's run (RULES P8).
inline constexpr const char* fence_variable = "DUTIFUL_FENCE";

}  // namespace dutiful
