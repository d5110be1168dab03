# SPDX-License-Identifier: Apache-2.0
"""Permissions and governance of DDS Security in the folders of an sros2 keystore. Pure but files.

Keys, certificates and signatures are made where the keystore is used: `ros2 security
generate_artifacts` fills the same folders in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

from behavior_bringup.security.policy import Profile, enclave_path, policy_xml

VALIDITY = timedelta(days=3650)
DISCOVERY = "ros_discovery_info"
"""Topic on which ROS's middleware tells which node has which endpoint."""
_QUESTIONS = ("cancel_goal", "get_result", "send_goal")
_NEWS = ("feedback", "status")
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMAS = "http://www.omg.org/spec/DDS-SECURITY/20170901"


def write_keystore(
    folder: Path, processes: Mapping[str, Mapping[str, Profile]], *, domain: int, now: datetime
) -> None:
    """Write `policy.xml` and the folders of a keystore.

    Args:
        folder: is made if it is not there; what is in it already is replaced.
        processes: as for `policy_xml`.
        domain: the ROS domain in which the permissions count.
        now: from when on.

    Raises:
        OSError: it cannot be written.
    """
    keystore = folder / "keystore"
    for part, mode in (("enclaves", 0o755), ("public", 0o755), ("private", 0o700)):
        (keystore / part).mkdir(mode=mode, parents=True, exist_ok=True)
    _write(folder / "policy.xml", policy_xml(processes))
    _write(keystore / "enclaves" / "governance.xml", governance_xml(domain))
    for process, nodes in processes.items():
        enclave = keystore / "enclaves" / enclave_path(process).lstrip("/")
        enclave.mkdir(parents=True, exist_ok=True)
        permissions = permissions_xml(
            enclave_path(process), Profile.union(nodes.values()), domain=domain, now=now
        )
        _write(enclave / "permissions.xml", permissions)


def permissions_xml(enclave: str, profile: Profile, *, domain: int, now: datetime) -> str:
    """What the participant of an enclave may do; everything else is denied."""
    published, subscribed = dds_topics(profile)
    root = _document("permissions")
    permissions = ElementTree.SubElement(root, "permissions")
    grant = ElementTree.SubElement(permissions, "grant", name=enclave)
    ElementTree.SubElement(grant, "subject_name").text = f"CN={enclave}"
    validity = ElementTree.SubElement(grant, "validity")
    begin = now.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    ElementTree.SubElement(validity, "not_before").text = begin.isoformat()
    ElementTree.SubElement(validity, "not_after").text = (begin + VALIDITY).isoformat()
    rule = ElementTree.SubElement(grant, "allow_rule")
    _domains(rule, domain)
    for kind, names in (("publish", published), ("subscribe", subscribed)):
        topics = ElementTree.SubElement(ElementTree.SubElement(rule, kind), "topics")
        for name in sorted(names):
            ElementTree.SubElement(topics, "topic").text = name
    ElementTree.SubElement(grant, "default").text = "DENY"
    return _text(root)


def governance_xml(domain: int) -> str:
    """Nobody takes part who is not known, and everything is encrypted."""
    root = _document("governance")
    rule = ElementTree.SubElement(
        ElementTree.SubElement(root, "domain_access_rules"), "domain_rule"
    )
    _domains(rule, domain)
    for name, value in (
        ("allow_unauthenticated_participants", "false"),
        ("enable_join_access_control", "true"),
        ("discovery_protection_kind", "ENCRYPT"),
        ("liveliness_protection_kind", "ENCRYPT"),
        ("rtps_protection_kind", "SIGN"),
    ):
        ElementTree.SubElement(rule, name).text = value
    topic = ElementTree.SubElement(ElementTree.SubElement(rule, "topic_access_rules"), "topic_rule")
    for name, value in (
        ("topic_expression", "*"),
        ("enable_discovery_protection", "true"),
        ("enable_liveliness_protection", "true"),
        ("enable_read_access_control", "true"),
        ("enable_write_access_control", "true"),
        ("metadata_protection_kind", "ENCRYPT"),
        ("data_protection_kind", "ENCRYPT"),
    ):
        ElementTree.SubElement(topic, name).text = value
    return _text(root)


def dds_topics(profile: Profile) -> tuple[set[str], set[str]]:
    """DDS topics that ROS publishes and subscribes for what a profile allows."""
    published = {DISCOVERY, *(f"rt{name}" for name in profile.publish)}
    subscribed = {DISCOVERY, *(f"rt{name}" for name in profile.subscribe)}
    asked = {*profile.request, *_parts(profile.call, _QUESTIONS)}
    answered = {*profile.reply, *_parts(profile.execute, _QUESTIONS)}
    published |= {f"rq{name}Request" for name in asked} | {f"rr{name}Reply" for name in answered}
    subscribed |= {f"rr{name}Reply" for name in asked} | {f"rq{name}Request" for name in answered}
    published |= {f"rt{name}" for name in _parts(profile.execute, _NEWS)}
    subscribed |= {f"rt{name}" for name in _parts(profile.call, _NEWS)}
    return published, subscribed


def _parts(actions: set[str], parts: tuple[str, ...]) -> set[str]:
    return {f"{action}/_action/{part}" for action in actions for part in parts}


def _document(kind: str) -> ElementTree.Element:
    ElementTree.register_namespace("xsi", _XSI)
    schema = f"{_SCHEMAS}/omg_shared_ca_{kind}.xsd"
    return ElementTree.Element("dds", {f"{{{_XSI}}}noNamespaceSchemaLocation": schema})


def _domains(rule: ElementTree.Element, domain: int) -> None:
    ElementTree.SubElement(ElementTree.SubElement(rule, "domains"), "id").text = str(domain)


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
