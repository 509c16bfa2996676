// Follows the feed by EventSource. What happened is put into the stream as text; the parts of the page that show a state
// are asked for anew from the server, which renders them as it does for everybody.
const QUIET_MS = 300;
const LEAST_MS = 1200;
const SLOW_MS = 5000;
const SHOWN = 200;

export function follow({ goal, since, live }) {
  const parts = [...document.querySelectorAll("[data-refresh]")];
  const stream = document.querySelector("[data-events]");
  const state = document.querySelector("[data-stream]");
  if (live === undefined || (!parts.length && !stream)) return;
  const refresh = refresher();
  const query = new URLSearchParams();
  if (goal) query.set("goal", goal);
  if (since) query.set("since", since);
  const source = new EventSource(`/v1/events?${query}`);
  source.onopen = () => told(state, "busy", "live");
  source.onerror = () => {
    const over = source.readyState === EventSource.CLOSED;
    told(state, "warn", over ? "not live: load the page again" : "connecting again");
  };
  source.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    if (stream) append(stream, event);
    refresh();
  };
  source.addEventListener("reset", () => refresh());
  window.addEventListener("pagehide", () => source.close());
  if (goal) setInterval(() => document.querySelector("[data-busy]") && refresh(), SLOW_MS);
}

function told(state, tone, words) {
  if (!state) return;
  state.hidden = false;
  state.className = `badge ${tone}`;
  state.textContent = words;
}

function append(stream, event) {
  if (!event.text) return;
  stream.querySelector("[data-none]")?.remove();
  const line = document.createElement("li");
  const time = document.createElement("time");
  const words = document.createElement("span");
  time.dateTime = event.time;
  time.textContent = event.time.slice(11, 19);
  words.textContent = event.text;
  if (event.actor.startsWith("user:")) {
    const who = document.createElement("span");
    who.className = "soft small";
    who.textContent = ` ${event.actor.slice(5)}`;
    words.append(who);
  }
  line.className = "new";
  line.append(time, words);
  stream.prepend(line);
  while (stream.children.length > SHOWN) stream.lastElementChild.remove();
}

function refresher() {
  let waiting = 0;
  let last = 0;
  const load = async () => {
    waiting = 0;
    last = performance.now();
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = fresh.title;
    for (const old of document.querySelectorAll("[data-refresh]")) renew(old, fresh.getElementById(old.id));
  };
  return () => {
    waiting ||= setTimeout(load, Math.max(QUIET_MS, LEAST_MS - (performance.now() - last)));
  };
}

// A part in which somebody types or stands is left as it is; what was unfolded stays so.
function renew(old, fresh) {
  if (!fresh || (old.contains(document.activeElement) && document.activeElement !== document.body)) return;
  if ([...old.querySelectorAll("textarea, input:not([type=hidden])")].some(changed)) return;
  const open = new Set([...old.querySelectorAll("details[open]")].map(named));
  const shut = new Set([...old.querySelectorAll("details:not([open])")].map(named));
  for (const each of fresh.querySelectorAll("details")) {
    if (open.has(named(each))) each.open = true;
    else if (shut.has(named(each))) each.open = false;
  }
  if (old.innerHTML !== fresh.innerHTML) old.replaceChildren(...fresh.childNodes);
}

function changed(field) {
  return field.type === "radio" || field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

function named(details) {
  const within = details.closest("[id]")?.id ?? "";
  return `${within} ${details.querySelector("summary")?.textContent.trim() ?? ""}`;
}
