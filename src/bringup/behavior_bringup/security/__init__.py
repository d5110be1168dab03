# SPDX-License-Identifier: Apache-2.0
"""SROS2 policies of a stack: who may publish, subscribe, ask and answer what.

1. `graph`: what the nodes of a running stack use, by process.
2. `outsiders`: operators and observers.
3. `policy`: that as a policy of sros2.
4. `keystore`: the policy as permissions of DDS, in the folders of an sros2 keystore.
"""
