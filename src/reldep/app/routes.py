"""What the server answers: the page, actions that change a session, files to take along."""

from __future__ import annotations

import importlib.resources
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from reldep.app.answering import FILES, SHOWN
from reldep.app.choices import GIVEN, KINDS, READING_FIELDS, chosen_options, split_name, written
from reldep.app.guard import Guard
from reldep.app.pages import whole_page
from reldep.app.sessions import AT_ONCE
from reldep.app.wording import message
from reldep.data.checks import check_choice, check_level
from reldep.exceptions import InputError
from reldep.files.reading import READING
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.report import several
from reldep.report.page import style_sheet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from reldep.app.sessions import Asked, Session, Sessions

# Forms hold choices, never data.
MOST_IN_A_FORM = 2_000_000
MOST_IN_A_SESSION = 5_000_000
STYLES = {"app.css": "text/css", "app.js": "text/javascript"}
# The options of reading that decide how columns are called.
NAMING = ("delimiter", "header", "skip_rows", "sheet")

Form = dict[str, list[str]]


def application(sessions: Sessions, token: str, port: int, max_upload: int) -> ASGIApp:
    """Make the application, with the guard before it."""

    async def upload(request: Request) -> Response:
        return await _upload(request, max_upload)

    @asynccontextmanager
    async def ending(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(sessions.close)

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/job", _job),
            Route("/static/{name}", _static),
            Route("/session.json", _saved_session),
            Route("/report.html", _whole_report),
            Route("/answers/{number:int}/{name}", _answer_file),
            Route("/upload", upload, methods=["POST"]),
            Route("/session", _open_session, methods=["POST"]),
            *(Route(path, _acting(do), methods=["POST"]) for path, do in ACTIONS.items()),
        ],
        lifespan=ending,
    )
    return Guard(app, sessions, token, port)


def _session(request: Request) -> Session:
    session: Session = request.scope["session"]
    return session


async def _page(request: Request) -> Response:
    """Show the page; while the person looks for a file, the process that will read it starts."""
    await run_in_threadpool(_session(request).worker.start)
    return HTMLResponse(whole_page(_session(request)))


async def _job(request: Request) -> Response:
    """Tell how far the work is."""
    session = _session(request)
    job = session.job
    if job is None or not session.is_busy:
        return JSONResponse({"busy": False})
    return JSONResponse(
        {"busy": True, "done": job.done, "total": job.total, "seconds": round(job.seconds)}
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "report.css":
        return Response(style_sheet(), media_type="text/css")
    if name not in STYLES:
        return Response(status_code=404)
    text = importlib.resources.files("reldep.app").joinpath("static", name).read_text("utf-8")
    return Response(text, media_type=STYLES[name])


async def _answer_file(request: Request) -> Response:
    """Give a file of an answer, to be saved and not to be shown."""
    session, name = _session(request), request.path_params["name"]
    one = _asked(session, request.path_params["number"])
    if one is None or name not in FILES:
        return Response(status_code=404)
    path = session.folder / "answers" / str(one.number) / name
    return _download(path.read_bytes(), f"reldep-{one.number}-{name}", FILES[name])


async def _whole_report(request: Request) -> Response:
    """Give all answers of the session as one report."""
    session = _session(request)
    folders = [session.folder / "answers" / str(one.number) for one in session.answers]
    articles = [(folder / SHOWN).read_text("utf-8") for folder in folders]
    document = several(articles, [one.command for one in session.answers])
    return _download(document.encode(), "reldep-answers.html", FILES["report.html"])


async def _saved_session(request: Request) -> Response:
    text = json.dumps(_session(request).saved(), indent=2)
    return _download(text.encode(), "reldep-session.json", "application/json")


def _download(content: bytes, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


async def _upload(request: Request, most: int) -> Response:
    """Store a file as it comes, then find out what is in it."""
    session = _session(request)
    session.message = ""
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdigit() and int(said) > most:
        session.message = f"The file is larger than {most:,} bytes, the most that may be uploaded."
        return HTMLResponse(whole_page(session), status_code=413)
    try:
        await session.store(
            request.query_params.get("name", ""),
            request.stream(),
            most,
            add=request.query_params.get("add") == "1",
        )
        await run_in_threadpool(session.read)
    except InputError as error:
        session.message = message(error)
        return HTMLResponse(whole_page(session), status_code=400)
    return HTMLResponse(whole_page(session))


async def _open_session(request: Request) -> Response:
    session = _session(request)
    session.message = ""
    try:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_IN_A_SESSION:
                raise InputError("This file is too large to be a session.")
        await run_in_threadpool(session.open_saved, json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        session.message = (
            message(error) if isinstance(error, InputError) else "This file is not a saved session."
        )
        return HTMLResponse(whole_page(session), status_code=400)
    return HTMLResponse(whole_page(session))


def _acting(do: Callable[[Session, Form], None]) -> Callable[[Request], Awaitable[Response]]:
    """Make a handler: read the form, act, show the page again."""

    async def handler(request: Request) -> Response:
        session = _session(request)
        said = request.headers.get("content-length", "")
        if not said.isdigit() or int(said) > MOST_IN_A_FORM:
            return Response(status_code=413)
        given = await request.form(max_files=0, max_fields=5_000)
        form: Form = {}
        for key, value in given.multi_items():
            form.setdefault(key, []).append(str(value))
        session.message = ""
        status = 200
        try:
            await run_in_threadpool(do, session, form)
        except (InputError, ImportError) as error:
            session.message, status = message(error), 400
        return HTMLResponse(whole_page(session), status_code=status)

    return handler


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


def _ask(session: Session, form: Form) -> None:
    name, _, given = _one(form, "question").partition(" ")
    if name not in SENTENCES or given not in ("", GIVEN):
        raise InputError(f"Unknown question {name!r}.")
    session.choices.ask(name, covariates=bool(given) and GIVEN in offered(name))
    session.consider()


def _place(session: Session, form: Form) -> None:
    """Put columns into a place: those ticked or dragged, or those that were written."""
    text = _one(form, "text").strip()
    columns = [session.column(position) for position in form.get("column", [])]
    slot = session.choices.slot(_one(form, "slot"))
    if not text and not columns:
        raise InputError("No column is ticked. Tick columns, or write their names.")
    if not text and slot.columns == "label" and len(columns) > 1:
        raise InputError(f"{slot.name.capitalize()} takes one column; {len(columns)} are ticked.")
    if text and slot.columns:
        session.columns_of(text)  # a wrong name is said at once
    name = session.choices.free_name(slot.name, columns)
    placed = text or written(columns, session.columns, name)
    if not text and (slot.columns == "several" or slot.name == GIVEN):
        placed = split_name(placed)[1]  # each of the columns is a variable
    session.choices.place(slot.name, placed)
    session.consider()


def _take_out(session: Session, form: Form) -> None:
    session.choices.take_out(_one(form, "slot"), _position(form))
    session.consider()


def _rename(session: Session, form: Form) -> None:
    session.choices.rename(_one(form, "slot"), _position(form), _one(form, "name"))
    session.consider()


def _position(form: Form) -> int:
    text = _one(form, "position")
    return int(text) if text.isascii() and text.isdigit() else 0


def _options(session: Session, form: Form) -> None:
    choices = session.choices
    chosen = chosen_options(choices.folded, form)
    for choice in choices.folded:
        if choice.columns in ("label", "labels") and choice.name in chosen:
            chosen[choice.name] = session.column(chosen[choice.name])
    choices.alpha = _level(_one(form, "alpha"))
    choices.options = chosen
    choices.where = _one(form, "where").strip() or None
    session.consider()


def _level(text: str) -> float:
    try:
        level = float(text or "0.05")
    except ValueError:
        raise InputError(f"Level: {text!r} is not a number.") from None
    check_level("alpha", level)
    return level


def _reading(session: Session, form: Form) -> None:
    fields = [*READING_FIELDS, READING["sheet"]]
    before, session.choices.reading = session.choices.reading, chosen_options(fields, form)
    if any(before.get(name) != session.choices.reading.get(name) for name in NAMING):
        session.choices.kinds = {}  # the columns may have other names
    if "join" in form:
        session.choices.join = _one(form, "join").strip() or None
    session.read()


def _kinds(session: Session, form: Form) -> None:
    """Give columns another kind, each by itself."""
    kinds = session.choices.kinds
    for key, (kind, *_) in form.items():
        if not key.startswith("kind-"):
            continue
        column = session.column(key.removeprefix("kind-"))
        kinds.pop(column, None)
        if kind:
            check_choice("kind", kind, KINDS)
            kinds[column] = kind
    session.read()


def _answer(session: Session, form: Form) -> None:
    few = session.table is not None and session.table["n_rows"] <= AT_ONCE
    session.answer(bandwidths=few or bool(_one(form, "bandwidths")))


def _cancel(session: Session, _: Form) -> None:
    session.stop()


def _show(session: Session, form: Form) -> None:
    one = _asked(session, _one(form, "number"))
    if one is None:
        raise InputError("This answer is gone.")
    if not session.is_reading:
        session.cancel()
    session.shown = one.number


def _remove(session: Session, form: Form) -> None:
    one = _asked(session, _one(form, "number"))
    session.answers = [other for other in session.answers if other is not one]
    if one is not None and session.shown == one.number:
        session.shown = None


def _asked(session: Session, number: int | str) -> Asked | None:
    return next((one for one in session.answers if str(one.number) == str(number)), None)


def _mice(session: Session, _: Form) -> None:
    """Take the mice that the documentation speaks of."""
    session.store_mice()
    session.read()


ACTIONS: dict[str, Callable[[Session, Form], None]] = {
    "/ask": _ask,
    "/place": _place,
    "/take-out": _take_out,
    "/rename": _rename,
    "/options": _options,
    "/reading": _reading,
    "/kinds": _kinds,
    "/answer": _answer,
    "/cancel": _cancel,
    "/show": _show,
    "/remove": _remove,
    "/mice": _mice,
}
