// Reads the output of commands, a little at a time, so that each gets its turn.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <dutiful/run.h>

#include "commands/output_tail.h"
#include "posix/descriptor.h"

namespace dutiful {

// For one thread. If the listener throws, it misses that part of the output.
class OutputReader {
 public:
  using OnOutput = std::function<void(const RunInfo&, std::string_view)>;

  explicit OutputReader(OnOutput on_output);

  // Reads some of the output, and closes the pipe at its end. The tail may be null.
  void read_some(Descriptor& pipe, OutputTail* tail, const RunInfo& run);
  // Reads what the pipe contains now and no more: other processes may hold it and write without
  // end. Closes it unless they do.
  void read_rest(Descriptor& pipe, OutputTail* tail, const RunInfo& run);

 private:
  void keep(std::size_t size, OutputTail* tail, const RunInfo& run);

  const OnOutput on_output_;
  std::vector<char> buffer_;
};

}  // namespace dutiful
