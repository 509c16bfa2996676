// Lets this browser be told by web push when something needs somebody, or no longer.
export async function offerNotices(place) {
  if (!place) return;
  const words = place.querySelector("[data-state]");
  const button = place.querySelector("button");
  if (!("serviceWorker" in navigator && "PushManager" in window)) {
    words.textContent = "This browser cannot be told; on a phone, add the page to the home screen first.";
    return;
  }
  const worker = await navigator.serviceWorker.register("/static/worker.js");
  const show = async () => {
    const found = await worker.pushManager.getSubscription();
    words.textContent = found ? "This browser is told." : "This browser is not told.";
    button.textContent = found ? "Do not tell this browser any more" : "Tell this browser";
    button.hidden = false;
    return found;
  };
  await show();
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await worker.pushManager.getSubscription();
      if (found) {
        await send(place, "remove", found);
        await found.unsubscribe();
      } else if ((await Notification.requestPermission()) === "granted") {
        const key = bytes(place.dataset.notices);
        await send(place, "add", await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
      }
      await show();
    } catch (error) {
      words.textContent = `That did not work: ${error.message}`;
    } finally {
      button.disabled = false;
    }
  });
}

async function send(place, what, subscription) {
  const { endpoint, keys } = subscription.toJSON();
  const body = new URLSearchParams({ what, endpoint, p256dh: keys.p256dh, auth: keys.auth, csrf_token: place.dataset.csrf });
  const answer = await fetch("/settings/push", { method: "POST", body });
  if (!answer.ok) throw new Error("the server refused it");
}

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (each) => each.charCodeAt(0));
}
