// The page comes from the server; this script sends its forms, swaps the new page in without
// losing the focus, uploads files, lets columns be dragged, and watches the work.
"use strict";

(() => {
  const PAUSE = 300;
  const KEPT = "reldep-session";
  const ENDED = "The server does not answer: it has ended.";
  const RESTARTED = "The server was started again and does not know this page any more.";
  const ticked = new Set();
  let polling = 0;
  let version = 0;

  const page = () => document.getElementById("page");
  // What only readers of screens need to hear stays out of sight.
  function say(text, aloud = false) {
    const said = document.getElementById("said");
    said.classList.toggle("aloud", aloud);
    said.textContent = text;
  }

  async function send(path, options) {
    const mine = ++version;
    clearTimeout(polling);
    let text;
    try {
      const response = await fetch(path, { credentials: "same-origin", ...options });
      text = await response.text();
      if ([403, 404, 421].includes(response.status)) return lost(RESTARTED);
    } catch {
      return lost(ENDED);
    }
    if (mine === version) swap(text);
  }

  // The server is gone, or does not know this page any more: say so, and how to go on.
  function lost(what) {
    const session = page().dataset.session;
    const told = document.createElement("div");
    told.className = "message";
    told.id = "lost";
    told.setAttribute("role", "alert");
    const files = session ? JSON.parse(session).files.map((file) => file.name).join(", ") : "";
    told.append(paragraph(what));
    if (session) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([session], { type: "application/json" }));
      link.download = "reldep-session.json";
      link.textContent = "Save this session";
      told.append(paragraph(link, " first: your choices are still in this page."));
    }
    told.append(paragraph(
      session
        ? `To go on: start reldep app again if it does not run, open the address that it prints,
           open the saved session there and choose ${files} again.`
        : "To go on: start reldep app again if it does not run, and open the address that it prints."
    ));
    document.getElementById("state").replaceChildren(told);
    told.scrollIntoView({ block: "nearest" });
  }

  function paragraph(...parts) {
    const made = document.createElement("p");
    made.append(...parts);
    return made;
  }

  // For this tab only: what was chosen, should the server end and start again at the same address.
  function keep() {
    const session = page().dataset.session;
    if (session) sessionStorage.setItem(KEPT, session);
  }

  function offer() {
    const kept = sessionStorage.getItem(KEPT);
    if (!kept || page().dataset.session || document.getElementById("kept")) return;
    const files = JSON.parse(kept).files.map((file) => file.name).join(", ");
    const told = document.createElement("div");
    told.className = "note";
    told.id = "kept";
    const button = document.createElement("button");
    button.type = "button";
    button.id = "go-on";
    button.textContent = "Go on where I was";
    told.append(
      paragraph(`The server was started again. This page still knows what you chose for ${files}.`),
      button
    );
    button.addEventListener("click", () => {
      sessionStorage.removeItem(KEPT);
      send("session", { method: "POST", body: kept });
    });
    document.getElementById("state").append(told);
  }

  function swap(text) {
    const made = new DOMParser().parseFromString(text, "text/html").getElementById("page");
    if (!made) return;
    const focused = document.activeElement && document.activeElement.id;
    const open = new Set([...document.querySelectorAll("details[open][id]")].map((d) => d.id));
    const box = document.querySelector(".columns");
    const scrolled = box ? box.scrollTop : 0;
    const sought = document.getElementById("find") ? document.getElementById("find").value : "";
    const typed = halfTyped();
    const size = document.getElementById("size") ? document.getElementById("size").textContent : "";
    for (const details of made.querySelectorAll("details[id]")) {
      if (open.has(details.id)) details.open = true;
    }
    page().replaceWith(made);
    for (const [id, value] of typed) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
    const now = document.getElementById("size");
    if (now && now.textContent !== size) ticked.clear();
    if (document.getElementById("find")) document.getElementById("find").value = sought;
    find();
    tick();
    const newBox = document.querySelector(".columns");
    if (newBox) newBox.scrollTop = scrolled;
    const again = focused && document.getElementById(focused);
    if (again) {
      again.focus({ preventScroll: true });
      // The cursor stays at the end of what was typed.
      if (again.type === "text") again.setSelectionRange(again.value.length, again.value.length);
    }
    else if (focused) page().focus({ preventScroll: true });
    keep();
    watch();
  }

  // Work may end while somebody types: what is not sent yet stays in its field.
  function halfTyped() {
    const fields = document.querySelectorAll("#page input[type=text][id], #page textarea[id]");
    return [...fields].filter((f) => f.value !== f.defaultValue).map((f) => [f.id, f.value]);
  }

  function watch() {
    const work = document.querySelector("[data-poll]");
    clearTimeout(polling);
    if (work) polling = setTimeout(() => poll(work.dataset.poll), PAUSE);
  }

  async function poll(path) {
    const mine = version;
    let state;
    try {
      const response = await fetch(path, { credentials: "same-origin" });
      if (response.status === 403) return lost(RESTARTED);
      state = await response.json();
    } catch {
      return lost(ENDED);
    }
    if (mine !== version) return;
    if (!state.busy) {
      await send("./");
      const answer = document.querySelector("p.answer");
      say(answer ? answer.textContent : "", true);
      return;
    }
    const bar = document.getElementById("progress");
    if (bar && state.total) {
      bar.max = state.total;
      bar.value = state.done;
    }
    const elapsed = document.getElementById("elapsed");
    if (elapsed && state.seconds > 1) elapsed.textContent = `${state.seconds} s`;
    watch();
  }

  function submit(form, submitter) {
    const data = new URLSearchParams(new FormData(form, submitter));
    if (form.id === "place") {
      data.delete("column");
      for (const column of ticked) data.append("column", column);
      ticked.clear();
    }
    for (const field of form.elements) {
      if (field.defaultValue !== undefined) field.defaultValue = field.value;
    }
    send(form.getAttribute("action"), { method: "POST", body: data });
  }

  function place(slot, columns) {
    const data = new URLSearchParams({ slot });
    for (const column of columns) data.append("column", column);
    ticked.clear();
    send("place", { method: "POST", body: data });
  }

  function upload(file, add) {
    say(`Reading ${file.name}`, true);
    const query = new URLSearchParams({ name: file.name, add: add ? "1" : "0" });
    return send(`upload?${query}`, { method: "POST", body: file });
  }

  // Columns: found by a pattern, ticked, dragged.

  const rows = () => [...document.querySelectorAll("#columns tr[data-column]")];

  function find() {
    const field = document.getElementById("find");
    if (!field) return;
    const words = field.value.trim().toLowerCase();
    const escaped = words.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    const pattern = escaped.replace(/\*/g, ".*").replace(/\?/g, ".");
    const test = /[*?]/.test(words) ? new RegExp(`^${pattern}$`) : null;
    for (const row of rows()) {
      const name = row.querySelector("label").textContent.toLowerCase();
      row.hidden = !(test ? test.test(name) : name.includes(words));
      const about = row.nextElementSibling;
      if (about && about.dataset.about) about.hidden = row.hidden;
    }
  }

  function tick() {
    for (const row of rows()) {
      const box = row.querySelector("input[type=checkbox]");
      box.checked = ticked.has(box.value);
      row.classList.toggle("ticked", box.checked);
    }
    const told = document.getElementById("selected");
    if (told) told.textContent = ticked.size ? `${ticked.size} ticked` : "";
  }

  function setTicked(box, on) {
    if (on) ticked.add(box.value);
    else ticked.delete(box.value);
  }

  let lastTicked = null;

  function tickTo(box, shift) {
    const shown = rows().filter((row) => !row.hidden);
    const boxes = shown.map((row) => row.querySelector("input[type=checkbox]"));
    const from = boxes.findIndex((one) => one.value === lastTicked);
    const to = boxes.indexOf(box);
    if (shift && from >= 0 && to >= 0) {
      for (const one of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) {
        setTicked(one, box.checked);
      }
    } else {
      setTicked(box, box.checked);
    }
    lastTicked = box.value;
    tick();
  }

  document.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, event.submitter);
  });

  document.addEventListener("change", (event) => {
    const target = event.target;
    if (target.dataset.upload && target.files.length) {
      upload(target.files[0], target.dataset.upload === "add");
    } else if (target.id === "session-file" && target.files.length) {
      send("session", { method: "POST", body: target.files[0] });
    } else if (target.dataset.auto !== undefined) {
      submit(target.form, null);
    }
  });

  document.addEventListener("input", (event) => {
    if (event.target.id === "find") find();
  });

  document.addEventListener("click", (event) => {
    const target = event.target;
    if (target.matches("#columns input[type=checkbox]")) {
      tickTo(target, event.shiftKey);
    } else if (target.id === "select-shown") {
      for (const row of rows()) if (!row.hidden) setTicked(row.querySelector("input"), true);
      tick();
    } else if (target.id === "clear") {
      ticked.clear();
      tick();
    } else if (target.dataset && target.dataset.copy) {
      navigator.clipboard.writeText(document.getElementById(target.dataset.copy).textContent)
        .then(() => say("Copied."), () => say("The browser does not allow copying."));
    } else if (!target.closest("button, input, select, textarea, label, a, summary")) {
      const slot = target.closest("[data-slot]");
      const row = target.closest("#columns tr[data-column]");
      if (slot && ticked.size) place(slot.dataset.slot, ticked);
      else if (row) row.querySelector("input[type=checkbox]").click();
    }
  });

  document.addEventListener("dragstart", (event) => {
    const row = event.target.closest && event.target.closest("#columns tr[data-column]");
    if (!row) return;
    const own = row.dataset.column;
    const columns = ticked.has(own) ? [...ticked] : [own];
    event.dataTransfer.setData("application/x-reldep", columns.join(","));
    event.dataTransfer.effectAllowed = "copy";
  });

  function target(event) {
    const kinds = [...event.dataTransfer.types];
    if (kinds.includes("Files")) return document.body;
    if (kinds.includes("application/x-reldep")) return event.target.closest("[data-slot]");
    return null;
  }

  document.addEventListener("dragover", (event) => {
    const over = target(event);
    for (const one of document.querySelectorAll(".over")) one.classList.remove("over");
    if (!over) return;
    event.preventDefault();
    over.classList.add("over");
  });

  document.addEventListener("drop", (event) => {
    const over = target(event);
    for (const one of document.querySelectorAll(".over")) one.classList.remove("over");
    if (!over) return;
    event.preventDefault();
    if (event.dataTransfer.files.length) {
      upload(event.dataTransfer.files[0], false);
    } else {
      place(over.dataset.slot, event.dataTransfer.getData("application/x-reldep").split(","));
    }
  });

  document.documentElement.classList.add("with-script");
  find();
  tick();
  keep();
  offer();
  watch();
})();
