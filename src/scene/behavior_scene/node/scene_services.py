# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that skills call: `/scene/attach` and `/scene/freeze`."""

from __future__ import annotations

from behavior_msgs.srv import AttachObject, FreezeObjects

from behavior_ros import QOS_REQUESTS
from behavior_scene.node.host import SceneHost
from behavior_scene.objects.scene import UnknownLinkError, UnknownObjectError
from behavior_scene.request_checks import names_problem

SUCCESS, UNKNOWN_OBJECT, UNKNOWN_LINK = 0, 101, 102


class SceneServices:
    """Publishes every change before it answers; the answer carries the change's revision."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        host.node.create_service(
            AttachObject, "scene/attach", self._on_attach, qos_profile=QOS_REQUESTS
        )
        host.node.create_service(
            FreezeObjects, "scene/freeze", self._on_freeze, qos_profile=QOS_REQUESTS
        )

    def _on_attach(
        self, request: AttachObject.Request, response: AttachObject.Response
    ) -> AttachObject.Response:
        problem = names_problem(name=request.name, link=request.link)
        if problem:
            response.code, response.message = UNKNOWN_OBJECT, problem
            return response
        scene = self._host.scene
        response.code, response.message = SUCCESS, "ok"
        try:
            if request.attach:
                scene.attach(request.name, request.link, self._host.now())
            else:
                scene.detach(request.name)
        except UnknownObjectError:
            response.code = UNKNOWN_OBJECT
            response.message = self._host.unknown_object(request.name)
        except UnknownLinkError:
            response.code = UNKNOWN_LINK
            response.message = self._host.unknown_link(request.link)
        else:
            response.revision = self._host.publish().revision
        return response

    def _on_freeze(
        self, request: FreezeObjects.Request, response: FreezeObjects.Response
    ) -> FreezeObjects.Response:
        problem = names_problem(request.names)
        if problem:
            response.code, response.message = UNKNOWN_OBJECT, problem
            return response
        response.code, response.message = SUCCESS, "ok"
        try:
            self._host.scene.freeze(request.names, request.freeze, self._host.now())
        except UnknownObjectError as error:
            response.code = UNKNOWN_OBJECT
            response.message = self._host.unknown_object(error.args[0])
        else:
            response.revision = self._host.publish().revision
        return response
