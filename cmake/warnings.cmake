# Warnings are errors in our own code; third-party headers are included as system headers.
add_library(dutiful_warnings INTERFACE)
target_compile_options(dutiful_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)

# In instrumented builds, GCC 12 wrongly reports the variant of an event's field as uninitialized
# when it is moved. The release build, which ships, keeps the warning.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  target_compile_options(dutiful_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
