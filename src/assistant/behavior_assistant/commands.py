# SPDX-License-Identifier: Apache-2.0
"""The verbs `behavior ask`, `behavior mcp` and `behavior proposals`.

All commands import this file, so it imports little; what a verb needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from behavior_bringup.arguments import argument_types
from behavior_bringup.arguments.options import add_connection, add_world
from behavior_bringup.errors import BringupError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from behavior_assistant.proposals import Proposal, Proposals

_MCP = "pip install mcp==2.3.0"


class Mcp:
    """Serve trees, missions and the scene to an MCP client, on standard input and output.

    The client looks, checks, simulates and, with --allow-proposals, proposes. Nothing moves: a
    person decides by 'behavior proposals'. Every call is noted in the audit file.
    """

    help = "let an MCP client look at trees and missions, and propose some"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--allow-proposals", action="store_true", help="keep what the client proposes"
        )
        parser.add_argument(
            "--http",
            type=_port,
            metavar="PORT",
            help="serve on 127.0.0.1:PORT instead, to who brings the token that is printed",
        )
        _add_world(parser)
        add_connection(parser)

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Serve until the client has gone, or Ctrl-C."""
        from behavior_assistant.assembly import audit_of, make_workbench

        try:
            from behavior_assistant.mcp_server import make_server
        except ImportError as error:
            raise BringupError(f"The MCP server needs another package: {_MCP}") from error
        from behavior_packages.folders import proposals_folder

        bench = make_workbench(
            options.stack,
            options.namespace,
            _world(options),
            may_propose=options.allow_proposals,
        )
        transport = "http" if options.http else "stdio"
        server = make_server(bench, audit_of(proposals_folder()), transport)
        if options.http:
            _serve_http(server, options.http)
        else:
            server.run("stdio")
        return True, ""


def _port(text: str) -> int:
    port = argument_types.count(text)
    if port > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number of 1 to 65535, not {port}")
    return port


def _serve_http(server: Any, port: int) -> None:
    from rich.console import Console

    from behavior_assistant.mcp_http import PATH, serve
    from behavior_bringup.terminal import say
    from behavior_ros.web_access import WebAccess, new_token

    access = WebAccess(token=new_token())
    errors = Console(stderr=True)
    say(f"MCP on http://127.0.0.1:{port}{PATH}", errors)
    say(f"Authorization: Bearer {access.token}", errors)
    serve(server, port, access)


_BY = "who decides, for a program in which people do (this user)"
_SHOWN = (
    "approve without a terminal, as a program does that has shown a person the text of this digest"
)


class ProposalsCommand:
    """Decide on what models have proposed: nothing of it runs before a person approves it here."""

    help = "list, show, approve or reject what models have proposed"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        actions = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        listing = actions.add_parser("list", help="list them, the oldest first")
        listing.add_argument("--open", action="store_true", help="only what waits for a decision")
        listing.set_defaults(action=_list)
        for name, text, action in (
            ("show", "show one: its tree, or what it changes", _show),
            ("approve", "approve one on a terminal; a new mission runs then", _approve),
            ("reject", "reject one", _reject),
        ):
            each = actions.add_parser(name, help=text)
            each.add_argument("id", help="as 'list' prints it, or how it begins")
            each.set_defaults(action=action)
            if action is not _show:
                each.add_argument("--by", default="", metavar="NAME", help=_BY)
            if action is _approve:
                each.add_argument("--shown", default="", metavar="DIGEST", help=_SHOWN)
                add_connection(each)
        folder = actions.add_parser(
            "folder", help="make the folder of approved missions, and print it"
        )
        folder.set_defaults(action=_folder)

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do what was chosen."""
        from behavior_assistant.assembly import audit_of
        from behavior_assistant.proposals import Proposals
        from behavior_packages.folders import proposals_folder
        from behavior_tree.shown_text import visible

        folder = proposals_folder()
        user = visible(getattr(options, "by", ""), 100)
        proposals = Proposals(folder, audit_of(folder), user=user)
        answer: tuple[bool, str] = options.action(options, proposals)
        return answer


def _list(options: argparse.Namespace, proposals: Proposals) -> tuple[bool, str]:
    from behavior_bringup.terminal import say

    found = [each for each in proposals.all() if each.status == "open" or not options.open]
    for each in found:
        say(each.line())
    return True, "" if found else "there are no proposals"


def _folder(options: argparse.Namespace, proposals: Proposals) -> tuple[bool, str]:
    print(proposals.made_missions_folder())
    return True, ""


def _show(options: argparse.Namespace, proposals: Proposals) -> tuple[bool, str]:
    from rich.console import Console

    show(proposals.find(options.id), Console())
    return True, ""


def _reject(options: argparse.Namespace, proposals: Proposals) -> tuple[bool, str]:
    proposal = proposals.find(options.id)
    proposals.decide(proposal, "rejected")
    return True, f"proposal {proposal.id} is rejected"


def _approve(options: argparse.Namespace, proposals: Proposals) -> tuple[bool, str]:
    from rich.console import Console

    from behavior_assistant.approving import Approval, approve
    from behavior_assistant.assembly import make_catalogue, make_checker, missions_folder

    console = Console()
    if not (options.shown or (sys.stdin.isatty() and console.is_terminal)):
        raise UsageError("A person approves, on a terminal: this is none")

    def confirm(proposal: Proposal, file: Path) -> bool:
        if options.shown:
            _require_shown(proposal, options.shown)
            return True
        show(proposal, console)
        what = f"Write {file}" if proposal.is_edit else f"Write {file} and run it for real"
        return console.input(f"{what}? [y/N] ", markup=False).strip().lower() in ("y", "yes")

    def run(mission: str) -> tuple[bool, str]:
        return _run_for_real(mission, options, console)

    return approve(
        options.id,
        Approval(
            proposals=proposals,
            checker=make_checker(options.stack),
            catalogue=make_catalogue(options.stack),
            missions=missions_folder(options.stack),
            confirm=confirm,
            run=run,
        ),
    )


def _require_shown(proposal: Proposal, digest: str) -> None:
    """Refuse what is not the text that a person has seen."""
    if proposal.digest != digest:
        raise UsageError(f"Proposal {proposal.id} is not what was shown: look at it again")


def show(proposal: Proposal, console: Console) -> None:
    """Print a proposal with its tree, or with what it changes."""
    from behavior_bringup.terminal import say

    say(proposal.line(), console)
    say(f"proposed by {proposal.author}", console)
    if proposal.trial:
        say(proposal.trial, console)
    if proposal.status != "open":
        say(f"{proposal.status} {proposal.decided}. {proposal.outcome}", console)
    say(proposal.difference() if proposal.is_edit else proposal.xml, console)


def _run_for_real(mission: str, options: argparse.Namespace, console: Console) -> tuple[bool, str]:
    import time

    from behavior_bringup.conversion import mission_action, progress_of
    from behavior_bringup.missions.progress import ProgressDisplay
    from behavior_bringup.stacks.connection import mission_client

    begin = time.monotonic()
    with (
        mission_client(options.stack, options.namespace) as client,
        ProgressDisplay(console) as display,
    ):
        outcome = client.execute(
            mission_action(mission, "", {}),
            on_feedback=lambda feedback: display.update(
                progress_of(feedback, summary="", wall=time.monotonic() - begin)
            ),
        )
    return outcome.succeeded, f"{mission}: {outcome.message}"


class Ask:
    """Have a language model write the tree of an instruction, try it in simulation, and propose it.

    Nothing moves: a person decides by 'behavior proposals approve'. The model is named by
    BEHAVIOR_LANGUAGE_MODEL_URL, see docs/language.md.
    """

    help = "turn an instruction into a tree that was simulated, and propose it"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument("instruction", help="what shall be done, in plain words")
        parser.add_argument(
            "--episodes",
            type=argument_types.count,
            default=5,
            metavar="N",
            help="simulated, from other start states (5)",
        )
        parser.add_argument(
            "--attempts",
            type=argument_types.count,
            default=3,
            metavar="N",
            help="answers that the model may give until its tree has no fault (3)",
        )
        parser.add_argument(
            "--as",
            dest="mission",
            default="asked",
            metavar="NAME",
            help="what the mission is called (asked)",
        )
        parser.add_argument(
            "--script", type=Path, metavar="FILE", help="answers that stand for a model's"
        )
        _add_world(parser)
        add_connection(parser)

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Ask, try, propose."""
        from behavior_assistant.asking import ask_and_propose

        return ask_and_propose(options, _world(options))


def _add_world(parser: argparse.ArgumentParser) -> None:
    add_world(parser, "simulated world in which trees are tried (the default one)")


def _world(options: argparse.Namespace) -> str:
    from behavior_bringup.offers import default_of

    return options.world or default_of("stacks", "--world NAME")


ASK = Ask()
MCP = Mcp()
PROPOSALS = ProposalsCommand()
