// The curves of the fuzzy terms in a condition, whose corners can be moved by pointer or keyboard.

import { element, marked, number, shape } from "./elements.js";

const WIDTH = 320;
const HEIGHT = 96;
const [LEFT, RIGHT, TOP, BOTTOM] = [12, WIDTH - 12, 12, HEIGHT - 22];
const CORNERS = ["begins to rise at", "is whole from", "is whole until", "has fallen at"];
const PATH = String.raw`[A-Za-z_][\w]*(?:\.[A-Za-z_][\w]*)*`;
const CALL = String.raw`(?:trapezoid|around)\s*\([^()]*\)`;
const FUZZY = new RegExp(
  String.raw`(${PATH})\s+is\s+((?:(?:not|very|somewhat)\s+)*)(${CALL}|[A-Za-z_]\w*)`,
  "gi",
);

const EDGES = {
  linear: (u) => u,
  smooth: (u) => Math.sin((Math.PI * u) / 2) ** 2,
  gauss: (u) => (u > 0 ? Math.exp(-((3 * (1 - u)) ** 2) / 2) : 0),
};
const HEDGES = {
  not: (degree) => 1 - degree,
  very: (degree) => degree ** 2,
  somewhat: (degree) => Math.sqrt(degree),
};

// The fuzzy terms on numbers in a condition, each with its corners and where it stands.
export function termsOf(text, vocabulary) {
  // what stands in quotes is no term; the places of all else stay
  const bare = text.replace(/'[^']*'/g, (quoted) => " ".repeat(quoted.length));
  return [...bare.matchAll(FUZZY)].flatMap((found) => {
    const [all, path, hedges, term] = found;
    const known = termOf(path, term, vocabulary);
    const end = found.index + all.length;
    const words = hedges.toLowerCase().split(/\s+/).filter(Boolean).reverse();
    return known === null
      ? []
      : [{ ...known, path, words, said: all, start: end - term.length, end }];
  });
}

function termOf(path, term, vocabulary) {
  const call = term.match(/^(trapezoid|around)\s*\(([^()]*)\)$/i);
  if (call === null) {
    const declared = vocabulary[path]?.terms?.[term];
    if (!declared?.trapezoid) return null;
    const shape = declared.shape || "linear";
    const shapes = [declared.left || shape, declared.right || shape];
    return checked(declared.trapezoid, shapes);
  }
  const given = call[2].split(",").map((each) => (each.trim() === "null" ? null : Number(each)));
  if (call[1].toLowerCase() === "trapezoid") return checked(given, ["linear", "linear"]);
  const [centre, spread] = given;
  const around = [centre - spread, centre, centre, centre + spread];
  return given.length === 2 ? checked(around, ["linear", "linear"]) : null;
}

function checked(corners, shapes) {
  const finite = corners.filter((each) => each !== null);
  const isOne = corners.length === 4 && finite.length > 0 && finite.every(Number.isFinite);
  const isUp = finite.every((each, place) => place === 0 || finite[place - 1] <= each);
  return isOne && isUp ? { corners, shapes } : null;
}

// How far a number is what a term says.
export function degreeOf({ corners, shapes, words }, value) {
  const [a, b, c, d] = corners;
  let degree = 1;
  if (b !== null && value < b) degree = value <= a ? 0 : EDGES[shapes[0]]((value - a) / (b - a));
  else if (c !== null && value > c)
    degree = value >= d ? 0 : EDGES[shapes[1]]((d - value) / (d - c));
  return words.reduce((found, word) => HEDGES[word](found), degree);
}

// Shows a curve for each term; `changed` gets the condition in which a term has other corners.
export class Curves {
  constructor(place, changed) {
    this.place = place;
    this.changed = changed;
    this.figures = [];
  }

  draw(text, vocabulary) {
    const terms = termsOf(text, vocabulary);
    const isSame = (figure, at) => figure.fits(terms[at]);
    if (terms.length !== this.figures.length || !this.figures.every(isSame)) {
      this.figures = terms.map((term, at) => new Figure(term, (corner, value) => this.move(at, corner, value)));
      this.place.replaceChildren(...this.figures.map((figure) => figure.shown));
    }
    this.text = text;
    this.terms = terms;
    this.figures.forEach((figure, at) => figure.update(terms[at]));
  }

  move(at, corner, value) {
    const { corners, start, end } = this.terms[at];
    const moved = corners.map((each, place) => (place === corner ? value : each));
    const term = `trapezoid(${moved.map((each) => (each === null ? "null" : each)).join(", ")})`;
    this.changed(this.text.slice(0, start) + term + this.text.slice(end));
  }
}

// One curve with a handle at each corner. While one is moved the elements stay, and so does focus.
class Figure {
  constructor(term, move) {
    this.path = term.path;
    this.corners = term.corners;
    this.move = move;
    this.domain = domainOf(term.corners);
    this.caption = element("figcaption");
    this.svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group" });
    this.curve = shape("path", { class: "curve" });
    this.ends = [shape("text", { class: "start" }), shape("text", { class: "end" })];
    this.handles = term.corners.map((value, corner) => (value === null ? null : this.handle(corner)));
    const axis = shape("path", { class: "axis", d: `M${LEFT},${BOTTOM} L${RIGHT},${BOTTOM}` });
    this.svg.append(axis, this.curve, ...this.ends, ...this.handles.filter(Boolean));
    this.shown = element("figure", { className: "term" }, this.caption, this.svg);
  }

  fits(term) {
    const hasSameEnds = term.corners.every((each, at) => (each === null) === (this.corners[at] === null));
    return term.path === this.path && hasSameEnds;
  }

  update(term) {
    this.corners = term.corners;
    const finite = term.corners.filter((each) => each !== null);
    const [low, high] = this.domain;
    if (Math.min(...finite) < low || Math.max(...finite) > high) this.domain = domainOf(finite);
    this.caption.textContent = term.said;
    this.svg.setAttribute("aria-label", term.said);
    const points = Array.from({ length: 161 }, (_, at) => this.value(LEFT + (at * (RIGHT - LEFT)) / 160));
    const all = [...points, ...finite].sort((one, other) => one - other);
    this.curve.setAttribute("d", `M${all.map((each) => this.point(term, each)).join(" L")}`);
    this.domain.forEach((value, at) => {
      marked(this.ends[at], { x: at ? RIGHT : LEFT, y: HEIGHT - 6 });
      this.ends[at].textContent = number(value);
    });
    this.handles.forEach((handle, corner) => {
      if (handle === null) return;
      const value = term.corners[corner];
      const [x, y] = this.point(term, value);
      const [least, most] = this.between(corner);
      marked(handle, {
        cx: x,
        cy: y,
        "aria-label": `${term.path} ${CORNERS[corner]}`,
        "aria-valuenow": value,
        "aria-valuetext": number(value),
        "aria-valuemin": Number.isFinite(least) ? least : this.domain[0],
        "aria-valuemax": Number.isFinite(most) ? most : this.domain[1],
      });
    });
  }

  handle(corner) {
    const handle = shape("circle", { class: "handle", r: 7, tabindex: 0, role: "slider" });
    let moved = null;
    handle.onpointerdown = (event) => {
      moved = null;
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      event.preventDefault();
    };
    handle.onpointermove = (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = this.svg.getBoundingClientRect();
      const value = this.value(((event.clientX - box.left) / box.width) * WIDTH);
      moved ??= this.cornerTowards(corner, value);
      if (moved !== null) this.set(moved, value);
    };
    handle.onkeydown = (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.set(corner, this.corners[corner] + steps[event.key] * this.step * (event.shiftKey ? 10 : 1));
    };
    return handle;
  }

  // Where corners lie on each other, the one that can go there.
  cornerTowards(corner, value) {
    const here = this.corners[corner];
    const equal = [0, 1, 2, 3].filter((each) => this.corners[each] === here);
    if (Math.abs(value - here) < this.step) return null;
    return value < here ? equal[0] : equal.at(-1);
  }

  // A corner stays between its neighbours, and on round numbers.
  set(corner, value) {
    const [least, most] = this.between(corner);
    const round = Number((Math.round(value / this.step) * this.step).toPrecision(12));
    const kept = Math.min(Math.max(round, least), most);
    if (kept !== this.corners[corner]) this.move(corner, kept);
  }

  between(corner) {
    const before = this.corners.slice(0, corner).filter((each) => each !== null);
    const after = this.corners.slice(corner + 1).filter((each) => each !== null);
    return [before.at(-1) ?? -Infinity, after[0] ?? Infinity];
  }

  get step() {
    const fine = (this.domain[1] - this.domain[0]) / 200;
    const power = 10 ** Math.floor(Math.log10(fine));
    return power * [1, 2, 5, 10].find((each) => each * power >= fine);
  }

  value(x) {
    const [low, high] = this.domain;
    return low + ((x - LEFT) / (RIGHT - LEFT)) * (high - low);
  }

  point(term, value) {
    const [low, high] = this.domain;
    const x = LEFT + ((value - low) / (high - low)) * (RIGHT - LEFT);
    return [x.toFixed(2), (BOTTOM - degreeOf(term, value) * (BOTTOM - TOP)).toFixed(2)];
  }
}

// Room on both sides of the corners.
function domainOf(corners) {
  const finite = corners.filter((each) => each !== null);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const room = 0.5 * (high - low) || Math.abs(low) / 2 || 1;
  return [low - room, high + room];
}
