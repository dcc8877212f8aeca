// The network of sites: this one, its neighbours, what crosses the links, and what waits.

import { byId, element, number, shape } from "./elements.js";

const ROW = 74;
const OWN = 42;
const OTHER = 318;

export function draw({ site, running, links }) {
  const neighbours = Object.entries(links);
  byId("network").hidden = site === null;
  if (site === null) return;
  byId("network-about").textContent = running
    ? `This is ${site}, linked to ${counted(neighbours.length, "site")}.`
    : `This is ${site}; its site process does not run, so that nothing is exchanged.`;
  const svg = byId("sites");
  const height = Math.max(neighbours.length, 1) * ROW;
  svg.setAttribute("viewBox", `0 0 360 ${height}`);
  svg.replaceChildren(
    ...neighbours.flatMap(([, link], place) => line(link, place, height)),
    ...neighbours.flatMap(([name, link], place) => further(name, link, middle(place))),
    ...neighbours.flatMap(([name, link], place) => node(name, OTHER, middle(place), link.state)),
    ...node(site, OWN, height / 2, running ? "up" : "out"),
  );
  byId("links").replaceChildren(
    ...neighbours.flatMap(([name, link]) => {
      const behind = others(name, link);
      const note = behind.length ? element("small", {}, `behind it: ${behind.join(", ")}`) : null;
      const counts = ["sent", "withheld", "received", "waiting"].map((each) => number(link[each]));
      const cells = [link.state, ...counts].map((cell) => element("td", {}, cell));
      const row = element("tr", {}, element("th", { scope: "row" }, name, note), ...cells);
      if (link.state === "up") return [row];
      const why = element("td", { colSpan: 6, className: "left" }, `${name}: ${silence(link)}`);
      return [row, element("tr", {}, why)];
    }),
  );
}

// The sites behind a neighbour; how they are linked is not known here.
const others = (name, link) => link.sites.filter((each) => each !== name);

const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
const middle = (place) => place * ROW + ROW / 2 - 6;

// When a link last exchanged something matters only where it does not.
function silence(link) {
  const seconds = link["seconds since exchange"];
  const since = seconds === null ? "never heard of" : `silent for ${number(Math.round(seconds))} s`;
  return [since, link.error].filter(Boolean).join("; ");
}

function line(link, place, height) {
  const [from, to] = [height / 2, middle(place)];
  const path = shape("path", {
    class: `link ${kind(link.state)}`,
    d: `M${OWN},${from} C${OWN + 60},${to} ${OWN + 60},${to} ${OWN + 90},${to} L${OTHER},${to}`,
  });
  const waits = link.waiting ? `, ${number(link.waiting)} waiting` : "";
  return [
    path,
    text(206, to - 7, `→ ${number(link.sent)}   ← ${number(link.received)}`),
    text(206, to + 17, `${link.state}${waits}`, kind(link.state)),
  ];
}

function node(name, x, y, state) {
  return [
    shape("circle", { class: `site ${kind(state)}`, cx: x, cy: y, r: 9 }),
    text(x, y + 26, name.length > 11 ? `${name.slice(0, 10)}…` : name, "name"),
  ];
}

function further(name, link, y) {
  const count = others(name, link).length;
  if (!count) return [];
  const attributes = { class: "link", d: `M${OTHER},${y} L${OTHER + 24},${y - 12}` };
  return [shape("path", attributes), text(OTHER + 24, y - 18, `+${count}`)];
}

const kind = (state) => (state === "up" ? "up" : "out");

function text(x, y, said, className = "") {
  const made = shape("text", { x, y, class: className });
  made.textContent = said;
  return made;
}
