# Warnings are errors in our own code; third-party headers are included as system headers.
add_library(dutiful_warnings INTERFACE)
target_compile_options(dutiful_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
