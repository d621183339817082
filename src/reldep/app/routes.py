"""What the server answers: the page, actions that change a session, files to take along."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from reldep.app.choices import GIVEN, KINDS, READING_FIELDS, chosen_options, split_name, written
from reldep.app.fields import message
from reldep.app.jobs import FILES, SHOWN
from reldep.app.page import whole_page
from reldep.app.sessions import Asked, Session, too_large
from reldep.arguments import check_choice, check_level
from reldep.exceptions import InputError
from reldep.files.read import READING
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.report import several

# Bytes of a form and of a saved session, which contain choices and never data: more than anybody
# types.
MOST_IN_A_FORM, MOST_IN_A_SESSION = 2_000_000, 5_000_000
STATIC: list[str | tuple[str, str]] = [("reldep.app", "static"), ("reldep.report", "static")]
# The options of reading that decide how columns are called.
NAMING = ("delimiter", "header", "skip_rows", "sheet")

Form = dict[str, list[str]]


def application(at_end: Callable[[], None], max_upload: int) -> ASGIApp:
    """Return the application; a guard stands before it."""

    @asynccontextmanager
    async def ending(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(at_end)

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/job", _job),
            Mount("/static", StaticFiles(packages=STATIC)),
            Route("/session.json", _saved_session),
            Route("/report.html", _whole_report),
            Route("/answers/{number}/{name}", _answer_file),
            Route("/upload", _upload, methods=["POST"]),
            Route("/session", _open_session, methods=["POST"]),
            *(Route(f"/{name}", _acting(*how), methods=["POST"]) for name, how in ACTIONS.items()),
        ],
        lifespan=ending,
    )
    app.state.max_upload = max_upload
    return app


def _session(request: Request) -> Session:
    session: Session = request.scope["session"]
    return session


async def _page(request: Request) -> Response:
    """Show the page; while the person looks for a file, the process that will read it starts."""
    await run_in_threadpool(_session(request).worker.start)
    return HTMLResponse(whole_page(_session(request)))


async def _job(request: Request) -> Response:
    """Return how far the work is."""
    session = _session(request)
    job = session.job
    if job is None or not session.is_busy:
        return JSONResponse({"busy": False})
    return JSONResponse(
        {"busy": True, "done": job.done, "total": job.total, "seconds": round(job.seconds)}
    )


async def _answer_file(request: Request) -> Response:
    """Return a file of an answer, to be saved and not to be shown."""
    session, name = _session(request), request.path_params["name"]
    one = _asked(session, request.path_params["number"])
    if one is None or name not in FILES:
        return Response(status_code=404)
    content = (session.folder_of(one.number) / name).read_bytes()
    return _download(content, f"reldep-{one.number}-{name}", FILES[name][0])


async def _whole_report(request: Request) -> Response:
    """Return all answers of the session as one report."""
    session = _session(request)
    folders = [session.folder_of(one.number) for one in session.answers]
    articles = [(folder / SHOWN).read_text("utf-8") for folder in folders]
    document = several(articles, [one.command for one in session.answers])
    return _download(document.encode(), "reldep-answers.html", FILES["report.html"][0])


async def _saved_session(request: Request) -> Response:
    text = json.dumps(_session(request).saved(), indent=2)
    return _download(text.encode(), "reldep-session.json", "application/json")


def _download(content: bytes, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def _is_longer(request: Request, most: int) -> bool:
    """Return True if a request is longer than it may be, as far as it says so."""
    said = request.headers.get("content-length", "0")
    return not (said.isascii() and said.isdigit() and len(said) < 20) or int(said) > most


async def _answered(session: Session, do: Callable[[], None]) -> Response:
    """Act, one action of a session at a time, and return the page; a mistake is said on it."""

    def act() -> None:
        with session.turn:
            session.message = ""
            do()

    status = 200
    try:
        await run_in_threadpool(act)
    except (InputError, ImportError) as error:
        session.message, status = message(error), 400
    return HTMLResponse(whole_page(session), status_code=status)


def _failing(text: str) -> Callable[[], None]:
    """Return an action that is refused."""

    def fail() -> None:
        raise InputError(text)

    return fail


async def _upload(request: Request) -> Response:
    """Store a file as it comes, then find out what is in it."""
    session, most = _session(request), request.app.state.max_upload
    name, add = (request.query_params.get(key, "") for key in ("name", "add"))
    try:
        if _is_longer(request, most):
            raise too_large(most)
        await session.store(name, request.stream(), most, add=add == "1")
    except InputError as error:
        kept = f" The page still shows {', '.join(session.names)}." if session.table else ""
        return await _answered(session, _failing(f"{error}{kept}"))
    return await _answered(session, session.read)


async def _open_session(request: Request) -> Response:
    session, body = _session(request), b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_IN_A_SESSION:
            return await _answered(session, _failing("This file is too large to be a session."))
    return await _answered(session, lambda: session.open_saved(body))


def _acting(
    do: Callable[[Session, Form], None], then: Callable[[Session], None] | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler: read the form, act, do what follows, show the page again."""

    async def handler(request: Request) -> Response:
        if "content-length" not in request.headers or _is_longer(request, MOST_IN_A_FORM):
            return Response(status_code=413)
        given = await request.form(max_files=0, max_fields=5_000)
        form: Form = {}
        for key, value in given.multi_items():
            form.setdefault(key, []).append(str(value))
        session = _session(request)

        def act() -> None:
            do(session, form)
            if then is not None:
                then(session)

        return await _answered(session, act)

    return handler


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


def _ask(session: Session, form: Form) -> None:
    name, _, given = _one(form, "question").partition(" ")
    check_choice("question", name, SENTENCES)
    session.choices.ask(name, covariates=given == GIVEN and GIVEN in offered(name))


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
    if not text and slot.columns in ("several", "many", "covariates"):
        placed = split_name(placed)[1]  # each of the columns is a variable
    session.choices.place(slot.name, placed)


def _take_out(session: Session, form: Form) -> None:
    session.choices.take_out(_one(form, "slot"), _one(form, "position"))


def _rename(session: Session, form: Form) -> None:
    session.choices.rename(_one(form, "slot"), _one(form, "position"), _one(form, "name"))


def _options(session: Session, form: Form) -> None:
    choices = session.choices
    chosen = chosen_options(choices.folded, form)
    for name in chosen:
        if choices.folded[name].columns in ("label", "labels"):
            chosen[name] = session.column(chosen[name])
    choices.alpha = _level(_one(form, "alpha"))
    choices.change_options(chosen)


def _level(text: str) -> float:
    try:
        level = float(text or "0.05")
    except ValueError:
        raise InputError(f"Level: {text!r} is not a number.") from None
    check_level("alpha", level)
    return level


def _reading(session: Session, form: Form) -> None:
    fields = {**READING_FIELDS, "sheet": READING["sheet"], "join": READING["join"]}
    before, session.choices.reading = session.choices.reading, chosen_options(fields, form)
    if any(before.get(name) != session.choices.reading.get(name) for name in NAMING):
        session.choices.kinds = {}  # the columns may have other names


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


def _choose(session: Session, form: Form) -> None:
    """Choose what a message proposes."""
    name = _one(form, "name")
    session.choices.choose(name, _one(form, "value"))
    if name in READING and name != "id":
        session.read()
    else:
        session.consider()


def _answer(session: Session, form: Form) -> None:
    session.answer(bandwidths=session.is_small or bool(_one(form, "bandwidths")))


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


def _asked(session: Session, number: str) -> Asked | None:
    return next((one for one in session.answers if str(one.number) == number), None)


# What every form of the page does, and what follows.
ACTIONS: dict[str, tuple[Any, ...]] = {
    "ask": (_ask, Session.consider),
    "place": (_place, Session.consider),
    "take-out": (_take_out, Session.consider),
    "rename": (_rename, Session.consider),
    "options": (_options, Session.consider),
    "choose": (_choose,),
    "reading": (_reading, Session.read),
    "kinds": (_kinds, Session.read),
    "mice": (lambda session, _: session.store_mice(), Session.read),
    "answer": (_answer,),
    "cancel": (lambda session, _: session.stop(),),
    "show": (_show,),
    "remove": (_remove,),
}
