// Shows what the server pushes when something needs somebody, and opens the page where it is decided.
self.addEventListener("push", (event) => {
  const { title, body, path, tag } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, data: { path }, icon: "/static/icon.svg" }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const page = new URL(event.notification.data.path, self.location.origin);
  if (page.origin === self.location.origin) event.waitUntil(self.clients.openWindow(page.href));
});
