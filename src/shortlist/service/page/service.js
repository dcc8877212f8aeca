// Requests to the service, and its streams.

const KEY = "shortlist-key";

export class Problem extends Error {
  constructor(status, detail, problems) {
    super(detail);
    this.status = status;
    this.problems = problems;
  }
}

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

function withKey(headers) {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...headers, Authorization: `Bearer ${key}` } : headers;
}

async function refused(answer) {
  const found = await answer.json().catch(() => ({}));
  return new Problem(answer.status, found.detail || answer.statusText, found.problems || []);
}

export async function ask(path, options = {}) {
  const { method = "GET", body, signal } = options;
  const headers = withKey(body === undefined ? {} : { "Content-Type": "application/json" });
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await fetch(path, { method, headers, signal, body: text });
  if (!answer.ok) throw await refused(answer);
  return answer.json();
}

export function pathOf(kind, name, ...more) {
  return ["", kind, encodeURIComponent(name), ...more].join("/");
}

// Follows a shortlist until it is stopped. EventSource could not send a key, so the stream is read
// here; whenever it is cut, it goes on behind the last event that was told.
export async function follow(shortlist, after, { told, state, signal }) {
  let place = after;
  let pause = 250;
  while (!signal.aborted) {
    try {
      const headers = withKey({ "Last-Event-ID": place });
      const answer = await fetch(pathOf("shortlists", shortlist, "events"), { headers, signal });
      if (!answer.ok) throw await refused(answer);
      state("live");
      for await (const event of eventsOf(answer.body)) {
        pause = 250;
        place = event.id;
        if (event.event !== "ready") told(event.event, JSON.parse(event.data));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status < 500 && error.status !== 429) throw error;
    }
    state("reconnecting");
    await new Promise((resume) => setTimeout(resume, pause));
    pause = Math.min(2 * pause, 5000);
  }
}

async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = {};
      for (const line of block.split("\n")) {
        const [, name, text] = line.match(/^([a-z]+): (.*)$/) || [];
        if (name) event[name] = text;
      }
      if (event.event) yield event;
    }
  }
}
