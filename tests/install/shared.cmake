# Builds the library with BUILD_SHARED_LIBS, installs it, and uses it as a program does: through
# find_package and through pkg-config. It must export the names of exported.txt, and no others.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Not optimized and without debug information, which is the quickest to compile. The build is kept.
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build --target dutiful_all)
file(REMOVE_RECURSE ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix --component library)

# The library has its symbolic links, and says by its SONAME what a program needs.
file(GLOB_RECURSE library ${WORK}/prefix/libdutiful.so)
get_filename_component(libdir ${library} DIRECTORY)
string(REGEX MATCH "^0[.][0-9]+|^[0-9]+" soversion ${VERSION})
if(NOT EXISTS ${libdir}/libdutiful.so.${soversion} OR NOT EXISTS ${libdir}/libdutiful.so.${VERSION})
  message(FATAL_ERROR "a name of the library is missing in ${libdir}")
endif()
run(objdump -p ${library})
if(NOT output MATCHES "SONAME +libdutiful[.]so[.]${soversion}\n")
  message(FATAL_ERROR "the SONAME is not libdutiful.so.${soversion}: ${output}")
endif()

# The names that it exports, without parameters.
run(nm --dynamic --defined-only --demangle ${library})
string(REGEX REPLACE "[(][^\n]*|[[]abi:[a-z0-9]*[]][^\n]*" "" names "${output}")
string(REGEX REPLACE "[0-9a-f]+ [A-Za-z] ([^\n]*)" "\\1" names "${names}")
string(STRIP "${names}" names)
string(REPLACE "\n" ";" names "${names}")
list(SORT names)
list(REMOVE_DUPLICATES names)
list(JOIN names "\n" names)
file(WRITE ${WORK}/exported.txt "${names}\n")
execute_process(COMMAND diff -u ${SOURCE}/tests/install/exported.txt ${WORK}/exported.txt
  RESULT_VARIABLE result OUTPUT_VARIABLE difference)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "libdutiful.so does not export the names of exported.txt (-) but others (+). If this is meant, copy "
          "${WORK}/exported.txt over it.\n${difference}")
endif()

# A program that finds it with CMake.
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/boundary -B ${WORK}/boundary -G Ninja
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/boundary)
run(${WORK}/boundary/boundary)

# One that finds it with pkg-config, and names no other library.
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${libdir}/pkgconfig pkg-config --cflags --libs dutiful)
separate_arguments(options UNIX_COMMAND "${output}")
if("-lsqlite3" IN_LIST options)
  message(FATAL_ERROR "pkg-config names what only the library needs: ${options}")
endif()
run(${COMPILER} -std=c++20 ${SOURCE}/examples/scheduler.cc ${options} -o ${WORK}/scheduler)
file(REMOVE_RECURSE ${WORK}/run)
file(MAKE_DIRECTORY ${WORK}/run)
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libdir} sh -c "cd ${WORK}/run && exec ${WORK}/scheduler < /dev/null")
if(NOT EXISTS ${WORK}/run/jobs.db)
  message(FATAL_ERROR "the example made no state")
endif()
