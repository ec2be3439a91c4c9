# Each folder of src/ is a layer and a library, and may use only the layers it names:
#
#   dutiful_layer(cron USES time text LINKS something SOURCES parse.cc … TESTS parse_test.cc …)
#
# Two tests enforce this. links.cron links every object of the layer with only the layers it names;
# includes.cron checks its #include lines. Unit tests become cron_tests.
function(dutiful_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "USES;LINKS;SOURCES;TESTS")
  set(target dutiful_${name})
  list(TRANSFORM layer_USES PREPEND dutiful::)

  add_library(${target} STATIC ${layer_SOURCES})
  add_library(dutiful::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # The objects also become libdutiful.so, which exports only what the public headers mark. No other
  # library may replace our functions, so calls of them can be direct.
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  target_link_libraries(${target} PUBLIC ${layer_USES} PRIVATE ${layer_LINKS} dutiful_warnings)

  if(NOT DUTIFUL_TESTS)
    return()
  endif()

  add_executable(${name}_links ${PROJECT_SOURCE_DIR}/cmake/empty_main.cc)
  target_link_libraries(${name}_links PRIVATE
    -Wl,--whole-archive $<TARGET_FILE:${target}> -Wl,--no-whole-archive ${layer_USES} ${layer_LINKS})
  add_dependencies(${name}_links ${target})
  add_test(NAME links.${name} COMMAND ${name}_links)

  string(REPLACE "dutiful::" "" may_use "${layer_USES}")
  string(REPLACE ";" "," may_use "${may_use}")
  add_test(NAME includes.${name}
    COMMAND ${CMAKE_COMMAND} -DLAYER=${name} -DMAY_USE=${may_use}
            -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake)

  if(layer_TESTS)
    add_executable(${name}_tests ${layer_TESTS})
    # As the layer: a class of a test may derive from a hidden one.
    set_target_properties(${name}_tests PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(${name}_tests PRIVATE ${target} dutiful::test_support)
    dutiful_discover_tests(${name}_tests)
  endif()
endfunction()

# Registers every test of an executable with ctest.
function(dutiful_discover_tests target)
  include(GoogleTest)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${target}. ${ARGN})
endfunction()

# For tests that walk through every minute of years: optimizing them saves more time than it costs.
function(dutiful_optimize)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Debug>:-O1>)
endfunction()

# For layers with tests in which descriptors run out, and the layers that these tests reach. UBSan
# opens a pipe to check an object's type, and reports the object as invalid if it gets none.
function(dutiful_tested_without_descriptors layer)
  if(DUTIFUL_TESTS AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*undefined")
    target_compile_options(${layer}_tests PRIVATE -fno-sanitize=vptr)
    foreach(reached ${layer} ${ARGN})
      target_compile_options(dutiful_${reached} PRIVATE -fno-sanitize=vptr)
    endforeach()
  endif()
endfunction()
