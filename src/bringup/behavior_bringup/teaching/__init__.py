# SPDX-License-Identifier: Apache-2.0
"""`behavior teach`: a motion that is shown becomes leaves of a tree."""
