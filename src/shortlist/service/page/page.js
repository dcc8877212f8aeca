// Which view is shown, and what went wrong.

import * as compose from "./compose.js";
import { byId } from "./elements.js";
import * as operate from "./operate.js";
import { ask, Problem, useKey } from "./service.js";
import * as shortlist from "./shortlist.js";

const VIEWS = { shortlist, compose, operate };

function fail(error) {
  const isKeyMissing = error instanceof Problem && error.status === 401;
  byId("key-form").hidden = !isKeyMissing && byId("key-form").hidden;
  byId("failure").hidden = error === null;
  byId("failure").textContent = error === null ? "" : error.message;
}

async function show() {
  const asked = location.hash.slice(1);
  const name = asked in VIEWS ? asked : "shortlist";
  for (const [other, view] of Object.entries(VIEWS)) {
    byId(`${other}-view`).hidden = other !== name;
    const link = document.querySelector(`nav a[href="#${other}"]`);
    if (other === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    view.hide?.();
  }
  document.title = `${byId(`${name}-title`).textContent} – Shortlist`;
  try {
    const me = await ask("/me");
    byId("key-form").hidden = me.is_open;
    byId("who").textContent = me.is_open
      ? "without keys: everybody here may do all"
      : [me.name, me.role, me.tenant].filter(Boolean).join(", ");
    fail(null);
    await VIEWS[name].show(fail);
  } catch (error) {
    fail(error);
  }
}

byId("key-form").onsubmit = (event) => {
  event.preventDefault();
  useKey(byId("key").value);
  byId("key").value = "";
  show();
};
addEventListener("hashchange", show);
show();
