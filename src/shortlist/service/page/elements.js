// Elements, made from text alone: nothing that was published is ever taken for HTML.

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-")) made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Fills a list with an item for each, of the parts that it has.
export function list(id, all, parts) {
  byId(id).replaceChildren(...all.map((each) => element("li", {}, ...parts(each))));
}

// An element of a drawing.
export function shape(name, attributes) {
  return marked(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
}

export function marked(made, attributes) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function time(text) {
  const moment = new Date(text);
  return element("time", { dateTime: text, title: text }, moment.toLocaleTimeString());
}

export function number(value) {
  return value.toLocaleString(undefined, { maximumSignificantDigits: 6 });
}

export function summary(data) {
  if (!data || !Object.keys(data).length) return null;
  const text = Object.entries(data)
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
  return element("small", {}, text.length > 240 ? `${text.slice(0, 240)}…` : text);
}

export function options(select, pairs, chosen) {
  select.replaceChildren(
    ...pairs.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
}

export function later(work, pause) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), pause);
  };
}
