# PROMTOOL and PROMETHEUS: Prometheus' programs, with which tests check what is made for it. `./do test`
# unpacks them, because installing Debian's package would start a service.
foreach(program promtool prometheus)
  string(TOUPPER ${program} variable)
  find_program(${variable} ${program} HINTS ${PROJECT_SOURCE_DIR}/.cache/unpacked/prometheus/usr/bin)
  if(NOT ${variable})
    message(NOTICE "-- ${program} was not found: the tests that need it are left out (./do test unpacks it)")
  endif()
endforeach()
