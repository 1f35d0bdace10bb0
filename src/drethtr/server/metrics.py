"""Counts of requests and seconds, in the text format of Prometheus."""

from collections import Counter
from collections.abc import Callable
from time import monotonic

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA = "text/plain; version=0.0.4"


class Metrics:
    """Counts of requests since the start; `waiting` and `model` return the waiting lines and the name of the model."""

    def __init__(self, waiting: Callable[[], int], model: Callable[[], str]) -> None:
        self.waiting = waiting
        self.model = model
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: Counter[tuple[str, str]] = Counter()

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a finished request."""
        address = scope["method"] if scope["method"] in METHODS else "other", address_of(scope)
        self.requests[(*address, status)] += 1
        self.seconds[address] += seconds  # type: ignore[assignment]

    async def show(self, request: Request) -> Response:
        """`GET /metrics`: counts of requests, for Prometheus."""
        rows = [
            "# HELP drethtr_requests_total Answered requests.",
            "# TYPE drethtr_requests_total counter",
            *(
                f'drethtr_requests_total{{method="{method}",path="{path}",status="{status}"}} {number}'
                for (method, path, status), number in sorted(self.requests.items())
            ),
            "# HELP drethtr_request_seconds_total Seconds to answer them.",
            "# TYPE drethtr_request_seconds_total counter",
            *(
                f'drethtr_request_seconds_total{{method="{method}",path="{path}"}} {seconds:.3f}'
                for (method, path), seconds in sorted(self.seconds.items())
            ),
            "# HELP drethtr_lines_waiting Lines waiting to be read.",
            "# TYPE drethtr_lines_waiting gauge",
            f"drethtr_lines_waiting {self.waiting()}",
            "# HELP drethtr_model_info The loaded model.",
            "# TYPE drethtr_model_info gauge",
            f'drethtr_model_info{{model="{escape(self.model())}"}} 1',
        ]
        return PlainTextResponse("\n".join(rows) + "\n", media_type=MEDIA)


METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"})


class CountRequests:
    """Middleware that counts requests and measures their time."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = monotonic(), 500

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_counted)
        finally:
            self.metrics.count(scope, status, monotonic() - began)


def address_of(scope: Scope) -> str:
    """The route of a request: its path with names in place of parameters."""
    endpoint = scope.get("endpoint")
    for route in scope["app"].routes:
        # Several routes may have the same handler.
        if isinstance(route, Route) and route.endpoint == endpoint and route.matches(scope)[0] is not Match.NONE:
            return route.path_format
        if isinstance(route, Mount) and route.app == endpoint:
            return route.path
    return "unknown"


def escape(value: str) -> str:
    """Escape the value of a label."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
