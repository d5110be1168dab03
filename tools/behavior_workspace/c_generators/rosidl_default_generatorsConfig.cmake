# SPDX-License-Identifier: Apache-2.0
# The generators of ROS 2, without those for C++: no wheel can use what they make, and compiling it
# takes half of the time. GENERATORS is the folder of the file that is hidden by this one.
set(rosidl_default_generators_DIR "${GENERATORS}")
include("${GENERATORS}/rosidl_default_generatorsConfig.cmake")
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
