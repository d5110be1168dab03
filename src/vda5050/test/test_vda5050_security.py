# SPDX-License-Identifier: Apache-2.0
"""VDA5050 over TLS on a real Mosquitto: who is who, and what must not be given."""

import getpass
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode
from test_vda5050 import HEADER
from test_vda5050_mqtt import MOSQUITTO, WAIT, Broker

from behavior_ros.testing import until
from behavior_vda5050 import broker as settings
from behavior_vda5050.broker import BrokerError, Tls, read_password
from behavior_vda5050.messages import ConnectionState, InstantActions
from behavior_vda5050.mqtt_link import MqttLink
from behavior_vda5050.node import _broker
from behavior_vda5050.reading import Reader

OPENSSL, PASSWD = shutil.which("openssl"), shutil.which("mosquitto_passwd")
real = pytest.mark.skipif(
    MOSQUITTO is None or OPENSSL is None,
    reason="no TLS broker: apt-get install mosquitto openssl brings what is needed",
)
VALUES = {
    "host": "localhost",
    "port": 0,
    "manufacturer": "acme",
    "serial_number": "7",
    "interface_name": "uagv",
    "username": "",
    "password_file": "",
    "tls": False,
    "ca_file": "",
    "certificate_file": "",
    "key_file": "",
}


# -- certificates ----------------------------------------------------------------------------------


def openssl(*words: str) -> None:
    subprocess.run([str(OPENSSL), *words], check=True, capture_output=True, timeout=240)


def authority(folder: Path, name: str) -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(
        *("req", "-x509", *key, "-keyout", str(folder / f"{name}.key"), "-days", "2"),
        *("-out", str(folder / f"{name}.crt"), "-subj", f"/CN={name}"),
    )


def certificate(folder: Path, name: str, signer: str, host: str = "localhost") -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    request, names = folder / f"{name}.csr", folder / f"{name}.ext"
    names.write_text(f"subjectAltName=DNS:{host}\n")
    openssl(
        *("req", *key, "-keyout", str(folder / f"{name}.key"), "-out", str(request)),
        *("-subj", f"/CN={name}"),
    )
    openssl(
        *("x509", "-req", "-in", str(request), "-CA", str(folder / f"{signer}.crt")),
        *("-CAkey", str(folder / f"{signer}.key"), "-CAcreateserial", "-days", "2"),
        *("-out", str(folder / f"{name}.crt"), "-extfile", str(names)),
    )


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pki")
    authority(folder, "ca")
    authority(folder, "strangers")
    certificate(folder, "broker", "ca")
    certificate(folder, "elsewhere", "ca", host="elsewhere.example")
    certificate(folder, "robot", "ca")
    certificate(folder, "thief", "strangers")
    return folder


class TlsBroker(Broker):
    """Mosquitto that wants a client's certificate, or a password."""

    def __init__(self, folder: Path, pki: Path, name: str = "broker", passwords: str = "") -> None:
        self._lines = f"""
cafile {pki / "ca.crt"}
certfile {pki / f"{name}.crt"}
keyfile {pki / f"{name}.key"}
"""
        if passwords:
            self._lines += f"password_file {passwords}\nallow_anonymous false\n"
        else:
            self._lines += "require_certificate true\nallow_anonymous true\n"
        super().__init__(folder)

    def start(self) -> None:
        # Started by root it would become a user that may not read the certificates.
        own = f"user {getpass.getuser()}\n"
        self._config.write_text(f"listener {self.port} 127.0.0.1\n{own}{self._lines}")
        super().start()


class Connection:
    """A link, and what it told."""

    def __init__(self, port: int, **values: object) -> None:
        self.told: list[str] = []
        reader = Reader("acme", "7", frozenset())
        self.link = MqttLink(
            _broker({**VALUES, "tls": True, "port": port, **values}),
            read=reader.read,
            report=self.told.append,
        )

    def refused(self, words: str) -> None:
        until(lambda: any(words in text for text in self.told), WAIT, f"'{words}': {self.told}")
        assert not self.link.connected


@pytest.fixture
def connect() -> Iterator:
    made: list[Connection] = []

    def start(port: int, **values: object) -> Connection:
        made.append(Connection(port, **values))
        return made[-1]

    yield start
    for each in made:
        each.link.close()


def files(pki: Path, name: str, authority: str = "ca") -> dict[str, str]:
    return {
        "ca_file": str(pki / f"{authority}.crt"),
        "certificate_file": str(pki / f"{name}.crt"),
        "key_file": str(pki / f"{name}.key"),
    }


@real
def test_both_sides_show_certificates_and_orders_get_through(
    tmp_path: Path, pki: Path, connect: type[Connection]
) -> None:
    broker = TlsBroker(tmp_path, pki)
    try:
        link = connect(broker.port, **files(pki, "robot")).link
        until(lambda: link.connected, WAIT, "connection")
        told, ready = [], threading.Event()
        control = Client(CallbackAPIVersion.VERSION2)
        control.tls_set_context(Tls(**files(pki, "robot")).context())
        control.on_connect = lambda client, *_: client.subscribe("uagv/v2/acme/7/connection", 1)
        control.on_message = lambda client, data, message: told.append(message.payload)
        control.on_subscribe = lambda *_: ready.set()
        control.connect("localhost", broker.port)
        control.loop_start()
        assert ready.wait(WAIT)
        until(lambda: any(ConnectionState.ONLINE in str(text) for text in told), WAIT, "ONLINE")
        action = {"actionType": "stateRequest", "actionId": "s"}
        message = InstantActions(**{**HEADER, "actions": [action]})
        control.publish("uagv/v2/acme/7/instantActions", message.text(), qos=1)
        (got,) = until(lambda: link.received(5), WAIT, "message")
        assert isinstance(got, InstantActions)
        control.disconnect()
        control.loop_stop()
    finally:
        broker.stop()


@real
@pytest.mark.parametrize(
    ("broker_name", "name", "authority", "words"),
    [
        ("broker", "thief", "ca", "does it want another certificate"),
        ("broker", "robot", "strangers", "certificate verify failed"),
        ("elsewhere", "robot", "ca", "certificate is not valid for 'localhost'"),
    ],
    ids=["vehicle's certificate is a stranger's", "broker's is", "broker's is another host's"],
)
def test_strangers_are_refused(
    tmp_path: Path,
    pki: Path,
    connect: type[Connection],
    broker_name: str,
    name: str,
    authority: str,
    words: str,
) -> None:
    broker = TlsBroker(tmp_path, pki, broker_name)
    try:
        connection = connect(broker.port, **files(pki, name, authority))
        connection.refused(words)
    finally:
        broker.stop()


@real
@pytest.mark.skipif(PASSWD is None, reason="apt-get install mosquitto brings mosquitto_passwd")
def test_a_password_from_a_file_or_the_environment(
    tmp_path: Path, pki: Path, connect: type[Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords = tmp_path / "passwords"
    passwords.touch()
    passwords.chmod(0o600)
    words = [str(PASSWD), "-b", str(passwords), "robot", "open sesame"]
    subprocess.run(words, check=True, timeout=240)
    broker = TlsBroker(tmp_path, pki, passwords=str(passwords))
    secret = tmp_path / "secret"
    secret.write_text("open sesame\n")
    secret.chmod(0o600)
    ca = {"ca_file": str(pki / "ca.crt"), "username": "robot"}
    try:
        link = connect(broker.port, password_file=str(secret), **ca).link
        until(lambda: link.connected, WAIT, "connection")
        link.close()
        monkeypatch.setenv(settings.PASSWORD_VARIABLE, "open sesame")
        link = connect(broker.port, **ca).link
        until(lambda: link.connected, WAIT, "connection")
        link.close()
        monkeypatch.setenv(settings.PASSWORD_VARIABLE, "guess")
        connect(broker.port, **ca).refused("refuses the connection")
    finally:
        broker.stop()


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["manufacturer", "serial_number", "interface_name"])
@pytest.mark.parametrize("wrong", ["a+b", "#", "a/b", "", "$SYS", "a\nb", "x" * 200])
def test_names_that_lead_to_other_topics_are_refused(what: str, wrong: str) -> None:
    with pytest.raises(BrokerError, match=what):
        _broker({**VALUES, what: wrong})


def test_ports_and_topics() -> None:
    plain, secure = _broker(VALUES), _broker({**VALUES, "tls": True})
    assert (plain.port, secure.port) == (1883, 8883)
    assert _broker({**VALUES, "port": 1000}).port == 1000
    assert plain.topic("order") == "uagv/v2/acme/7/order"
    assert "secret" not in repr(settings.Broker("h", username="u", password="secret"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"ca_file": "ca.crt"}, "ca_file without encryption: set tls to true"),
        ({"tls": True, "ca_file": "/nowhere/ca.crt"}, "ca_file '/nowhere/ca.crt' cannot be used"),
        ({"tls": True, "key_file": "k"}, "key_file is given without certificate_file"),
        ({"tls": True, "certificate_file": "/nowhere"}, "certificate_file '/nowhere'"),
        ({"username": "u", "password_file": "/nowhere"}, "password_file '/nowhere' cannot be read"),
    ],
)
def test_settings_that_cannot_be_say_what_to_do(values: dict, words: str) -> None:
    def use() -> None:
        broker = _broker({**VALUES, **values})
        assert broker.tls is not None
        broker.tls.context()

    with pytest.raises(BrokerError) as caught:
        use()
    assert words in str(caught.value)


def test_passwords_that_others_can_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(settings.PASSWORD_VARIABLE, raising=False)
    assert read_password("") == ""
    file = tmp_path / "secret"
    file.write_text("word\nmore\n")
    file.chmod(0o640)
    with pytest.raises(BrokerError, match="chmod 600"):
        read_password(str(file))
    file.chmod(0o600)
    assert read_password(str(file)) == "word"
    monkeypatch.setenv(settings.PASSWORD_VARIABLE, "other")
    assert read_password("") == "other"
    with pytest.raises(BrokerError, match="both given"):
        read_password(str(file))
    monkeypatch.delenv(settings.PASSWORD_VARIABLE)
    file.write_text("")
    with pytest.raises(BrokerError, match="first line"):
        read_password(str(file))
    with pytest.raises(BrokerError, match="no username"):
        settings.Broker("h", password="word")


def test_a_link_that_was_lost_just_now_is_closed_all_the_same() -> None:
    with socket.socket() as nobody:  # bound, but it does not listen
        nobody.bind(("127.0.0.1", 0))
        link = MqttLink(
            _broker({**VALUES, "port": nobody.getsockname()[1], "tls": False}),
            read=Reader("acme", "7", frozenset()).read,
            report=lambda text: None,
        )
        link.connected = True  # nobody has been told otherwise yet
        link.close()


class Refusing:
    """A connection to a broker whose access list keeps a vehicle from its topics."""

    def __init__(self) -> None:
        self.published: list[str] = []

    def publish(self, topic: str, *_: object, **__: object) -> None:
        self.published.append(topic)


def test_a_vehicle_that_may_not_subscribe_does_not_say_that_it_is_online() -> None:
    told: list[str] = []
    with socket.socket() as nobody:  # bound, but it does not listen
        nobody.bind(("127.0.0.1", 0))
        link = MqttLink(
            _broker({**VALUES, "port": nobody.getsockname()[1], "username": "robot"}),
            read=Reader("acme", "7", frozenset()).read,
            report=told.append,
        )
        broker = Refusing()
        granted, refused = (ReasonCode(PacketTypes.SUBACK, identifier=i) for i in (1, 0x80))
        link._on_subscribe(broker, None, 1, [granted, refused], None)
        assert broker.published == []
        assert not link.connected
        assert any("lets robot not subscribe" in text and "acme/7/order" in text for text in told)
        link._on_subscribe(broker, None, 2, [granted, granted], None)
        assert link.connected
        assert broker.published == ["uagv/v2/acme/7/connection"]
        link.connected = False
        link.close()
