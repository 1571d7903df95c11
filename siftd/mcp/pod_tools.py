"""Pods as an agent asks for them: of the whole surface, since their two tools would cost every session some tokens.

An agent looks at pods and makes none: what stands in them unasked is a person's to say.
"""

from typing import Annotated, Any

from pydantic import Field

from siftd.mcp.link import Link
from siftd.mcp.shown import labelled
from siftd.wire.asking import Pod, Pods

PODS = ("list_pods", "get_pod")
Found = dict[str, Any]


class PodTools:
    """The tools over one workspace's pods."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def list_pods(self) -> Found:
        """From where facts are handed over in this project: standing instructions, vital facts, the project's, the
        person's, named playbooks. Each with how many of its slots are filled, or why it rests."""
        return labelled({"pods": self._link.ask(Pods())["pods"]})

    def get_pod(
        self, pod: Annotated[str, Field(description="as list_pods cites it: vital, project, playbook:release")]
    ) -> Found:
        """The facts of one pod, in the order of its slots, and why others do not stand in it. Before you follow a
        procedure that has a name, look for its playbook."""
        return labelled({**self._link.ask(Pod(pod=pod, about=pod.partition(":")[2]))["pod"]})
