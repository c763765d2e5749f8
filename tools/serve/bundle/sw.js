"use strict";const style=":root { color-scheme: light dark; } body { font: 15px/1.5 system-ui, sans-serif; max-width: 40em; margin: 15vh auto; padding: 0 16px; }",page=`<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>heapdb is not running</title>
<style>${style}</style>
<h1>The server has stopped or does not answer</h1>
<p role="status" id="said">This page continues when <code>heapdb serve</code> is running again.</p>
<script>const said = (text) => { document.getElementById("said").textContent = text; };
setInterval(() => fetch("/api/health").then((r) => {
  if (r.ok) location.reload();
  else if (r.status === 403)
    said("Another server is running now. Open the address that it printed, which contains its token.");
}, () => undefined), 2000);<\/script>`;addEventListener("install",()=>skipWaiting()),addEventListener("activate",e=>e.waitUntil(clients.claim())),addEventListener("fetch",e=>{e.request.mode==="navigate"&&e.respondWith(fetch(e.request).then(t=>(/frame-ancestors 'none'/.test(t.headers.get("content-security-policy"))||registration.unregister(),t),()=>new Response(page,{headers:{"content-type":"text/html; charset=utf-8","cache-control":"no-store"}})))});
