# Installs the build, builds the examples against what was installed, and runs the one that ends.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(example embed testing)
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/${example} -B ${WORK}/${example} -G Ninja
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_FLAGS=${FLAGS})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
endforeach()
run(${WORK}/testing/testing)

# The units start what was installed, and systemd has nothing to say against them.
file(GLOB_RECURSE units ${WORK}/prefix/*.service)
list(LENGTH units count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "not two units: ${units}")
endif()
find_program(systemd_analyze systemd-analyze)
foreach(unit ${units})
  file(STRINGS ${unit} start REGEX "^ExecStart=")
  if(NOT start MATCHES "^ExecStart=${WORK}/prefix/bin/dutiful run ${WORK}/prefix/etc/dutiful/tasks.toml --state %S/")
    message(FATAL_ERROR "${unit} does not follow the prefix: ${start}")
  endif()
  if(systemd_analyze)
    # It also reads units of the host, which are none of our business.
    execute_process(COMMAND ${systemd_analyze} verify --man=no ${unit} OUTPUT_VARIABLE output ERROR_VARIABLE output)
    get_filename_component(name ${unit} NAME)
    if(output MATCHES "${name}[^\n]*")
      message(FATAL_ERROR "systemd-analyze verify: ${CMAKE_MATCH_0}")
    endif()
  endif()
endforeach()

# What pkg-config would say leads to the headers and the archive.
file(GLOB_RECURSE pkgconfig ${WORK}/prefix/dutiful.pc)
file(READ ${pkgconfig} contents)
get_filename_component(pcfiledir ${pkgconfig} DIRECTORY)
string(REGEX MATCH "-I[^ \n]*" headers "${contents}")
string(REGEX MATCH "-L[^ \n]*" libraries "${contents}")
string(REPLACE "\${pcfiledir}" "${pcfiledir}" headers "${headers}")
string(REPLACE "\${pcfiledir}" "${pcfiledir}" libraries "${libraries}")
string(SUBSTRING "${headers}" 2 -1 headers)
string(SUBSTRING "${libraries}" 2 -1 libraries)
if(NOT EXISTS ${headers}/dutiful/dutiful.h OR NOT EXISTS ${libraries}/libdutiful.a)
  message(FATAL_ERROR "dutiful.pc leads nowhere: ${headers} ${libraries}")
endif()

# Everything that was installed is of one version.
run(${WORK}/prefix/bin/dutiful --version)
if(NOT output MATCHES " ${VERSION}\n$" OR NOT contents MATCHES "\nVersion: ${VERSION}\n")
  message(FATAL_ERROR "not the version ${VERSION}: ${output}${contents}")
endif()
