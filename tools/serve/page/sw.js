// Service worker. If the page is reloaded while the server is down, it shows a page that waits for the server. It does
// not cache data of the heap, and unregisters itself if another program answers at this address.
const style =
  ":root { color-scheme: light dark; } " +
  "body { font: 15px/1.5 system-ui, sans-serif; max-width: 40em; margin: 15vh auto; padding: 0 16px; }";
const page = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>heapdb is not running</title>
<style>${style}</style>
<h1>The server has stopped or does not answer</h1>
<p role="status" id="said">This page continues when <code>heapdb serve</code> is running again.</p>
<script>const said = (text) => { document.getElementById("said").textContent = text; };
setInterval(() => fetch("/api/health").then((r) => {
  if (r.ok) location.reload();
  else if (r.status === 403)
    said("Another server is running now. Open the address that it printed, which contains its token.");
}, () => undefined), 2000);</script>`;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("fetch", (e) => {
  if (e.request.mode !== "navigate") return;
  e.respondWith(
    fetch(e.request).then(
      (r) => {
        if (!/frame-ancestors 'none'/.test(r.headers.get("content-security-policy"))) void registration.unregister();
        return r;
      },
      () =>
        new Response(page, { headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" } }),
    ),
  );
});
