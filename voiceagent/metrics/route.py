"""``GET /metrics``: the exposition, for those who may also talk to the server."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.metrics.prometheus import Metrics
from voiceagent.security import Gate, caller_of_request


def routes(metrics: Metrics, gate: Gate) -> APIRouter:
    """``/metrics``. Without a token only by a loopback name, like everything else here."""
    router = APIRouter()

    # Not async: collecting takes some milliseconds, which are not the audio's.
    @router.api_route("/metrics", methods=["GET", "HEAD"], response_model=None)
    def exposition(request: Request) -> Response:
        refusal = gate.check(caller_of_request(request))
        if refusal:
            headers = {"www-authenticate": "Bearer"} if refusal.status == 401 else None
            error = {"type": "invalid_request_error", "code": "refused", "message": refusal.message}
            return JSONResponse({"error": error}, refusal.status, headers)
        # A scraper sends one Accept header; several are one list.
        accept = ",".join(request.headers.getlist("accept"))
        body, content_type = metrics.render(accept)
        return Response(body, headers={"content-type": content_type})

    return router
