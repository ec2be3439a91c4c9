// How the daemon writes its log.
#pragma once

namespace dutiful {

enum class LogFormat { human, json };

}  // namespace dutiful
