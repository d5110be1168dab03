# SPDX-License-Identifier: Apache-2.0
"""Where the MQTT broker is, who the vehicle is to it, and how it proves that."""

from __future__ import annotations

import os
import ssl
import stat
from dataclasses import dataclass, field
from pathlib import Path

from behavior_vda5050.messages import VERSION

PASSWORD_VARIABLE = "VDA5050_PASSWORD"
"""Environment variable that may hold the password."""
LONGEST_PASSWORD = 1024
_PORTS = {False: 1883, True: 8883}


class BrokerError(ValueError):
    """A setting that cannot be; the message says which one and how to mend it."""


@dataclass(frozen=True)
class Tls:
    """An encrypted connection."""

    ca_file: str = ""
    """Certificates of the authorities that the broker's is checked by; empty: the system's."""
    certificate_file: str = ""
    """The vehicle's own; empty: it shows none."""
    key_file: str = ""
    """Private key of the vehicle's certificate; empty: it stands in the same file."""

    def context(self) -> ssl.SSLContext:
        """What is needed to connect; the broker's certificate and name are always checked.

        Raises:
            BrokerError: a file that cannot be used.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca_file or None)
        except (OSError, ssl.SSLError) as error:
            raise BrokerError(f"ca_file '{self.ca_file}' cannot be used: {error}") from error
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.key_file and not self.certificate_file:
            raise BrokerError("key_file is given without certificate_file: give both")
        if self.certificate_file:
            try:
                # Nobody is there to type a password for the key.
                context.load_cert_chain(
                    self.certificate_file, self.key_file or None, password=lambda: ""
                )
            except (OSError, ssl.SSLError) as error:
                raise BrokerError(
                    f"certificate_file '{self.certificate_file}' with key_file "
                    f"'{self.key_file or self.certificate_file}' cannot be used: {error}"
                ) from error
        return context


@dataclass(frozen=True)
class Broker:
    """Where the broker is, and who the vehicle is."""

    host: str
    port: int = 0
    """0: 8883 with TLS, 1883 without."""
    manufacturer: str = "behavior_suite"
    serial_number: str = "robot"
    interface: str = "uagv"
    username: str = ""
    password: str = field(default="", repr=False)
    tls: Tls | None = None

    def __post_init__(self) -> None:
        """Check the parts of topics, and choose the port.

        Raises:
            BrokerError: one that would lead to other topics, or a password without a name.
        """
        for what, part in (
            ("manufacturer", self.manufacturer),
            ("serial_number", self.serial_number),
            ("interface_name", self.interface),
        ):
            wrong = [c for c in part if c in "+#/$" or not c.isprintable()]
            if not part or wrong or len(part) > 128:
                raise BrokerError(
                    f"{what} {part[:40]!r} is part of topics: write 1 to 128 characters without "
                    "'+', '#', '/', '$' and control characters"
                )
        if self.password and not self.username:
            raise BrokerError("there is a password, but no username: set the parameter username")
        object.__setattr__(self, "port", self.port or _PORTS[self.tls is not None])

    def topic(self, name: str) -> str:
        """A topic of this vehicle."""
        major = VERSION.partition(".")[0]
        return f"{self.interface}/v{major}/{self.manufacturer}/{self.serial_number}/{name}"


def read_password(file: str) -> str:
    """The password in a file, or in the environment variable ``VDA5050_PASSWORD``; may be empty.

    It is no parameter: those can be read by anybody on the ROS network.

    Args:
        file: its first line counts; empty: there is none.

    Raises:
        BrokerError: the file cannot be read, others may read it, or both are given.
    """
    given = os.environ.get(PASSWORD_VARIABLE, "")
    if not file:
        return given
    if given:
        raise BrokerError(f"password_file and {PASSWORD_VARIABLE} are both given: leave one out")
    path = Path(file)
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise BrokerError(f"password_file '{file}' can be read by others: chmod 600 it")
        with path.open(encoding="utf-8") as stream:
            line = stream.readline(LONGEST_PASSWORD + 2).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BrokerError(f"password_file '{file}' cannot be read: {error}") from error
    if not 0 < len(line) <= LONGEST_PASSWORD:
        raise BrokerError(
            f"password_file '{file}': its first line has to be a password of 1 to "
            f"{LONGEST_PASSWORD} characters"
        )
    return line
