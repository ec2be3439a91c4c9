// The subjects of observe_bench. Each prints its figures with their limits.
#pragma once

#include <cstddef>

#include "http_load.h"

namespace dutiful::bench {

// How long a live daemon with this many tasks takes to answer.
void answers(std::size_t tasks);

// How late tasks start while their daemon is loaded, compared with the load on another one.
void lateness_under(Load load, std::size_t tasks);

}  // namespace dutiful::bench
