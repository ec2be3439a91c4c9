// Reads what commands write, a little at a time, so that each has its turn.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <dutiful/run.h>

#include "commands/output_tail.h"
#include "posix/descriptor.h"

namespace dutiful {

// For one thread. What a listener throws is ignored: that part of the output is lost to it.
class OutputReader {
 public:
  using OnOutput = std::function<void(const RunInfo&, std::string_view)>;

  explicit OutputReader(OnOutput on_output);

  // Some of what is there; closes the pipe at its end. The tail may be null.
  void read_some(Descriptor& pipe, OutputTail* tail, const RunInfo& run);
  // What is there now and no more, for others may hold the pipe, and write for ever. Closes it
  // unless they do.
  void read_rest(Descriptor& pipe, OutputTail* tail, const RunInfo& run);

 private:
  void keep(std::size_t size, OutputTail* tail, const RunInfo& run);

  const OnOutput on_output_;
  std::vector<char> buffer_;
};

}  // namespace dutiful
