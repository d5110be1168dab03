# SPDX-License-Identifier: Apache-2.0
"""A vehicle that takes VDA5050 2.0 orders over MQTT and carries them out as missions.

The rules are free of ROS and MQTT: :mod:`~behavior_vda5050.messages` (what is said),
:mod:`~behavior_vda5050.order_rules` (which orders are taken),
:mod:`~behavior_vda5050.actions` (what may run beside what),
:mod:`~behavior_vda5050.vehicle` (an order from acceptance to end). Around them:
:mod:`~behavior_vda5050.mqtt_link`, :mod:`~behavior_vda5050.missions` (driving and
actions by the executor) and :mod:`~behavior_vda5050.node`.

Source: VDA 5050, Interface for the communication between automated guided vehicles (AGV) and a
master control, version 2.0.0; section numbers in these modules are those of that document.
"""
