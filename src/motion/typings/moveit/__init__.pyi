# SPDX-License-Identifier: Apache-2.0
"""What we call of moveit_py (Jazzy), typed by us from its documentation."""
