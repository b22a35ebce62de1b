/// <reference lib="webworker" />
/** The service worker: keeps the whole site, of one version, so that it works without a network; and gives the page the headers for threads where
 * the server sends none. precache.mjs puts the list of files in when the site is built. */
export {};
declare const self: ServiceWorkerGlobalScope;
declare const __PRECACHE__: { version: string; files: Record<string, string> };

/** Files and their hashes. A change of any file makes another version. */
const { version, files } = __PRECACHE__;
const PREFIX = 'posttrain-';
const CACHE = PREFIX + version;

const headers = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
};

const urlOf = (file: string) => new URL(file, self.registration.scope).href;

/** Fetched with its hash, so that a file of another version is refused; what an older version holds alike is taken from there. */
async function keep(cache: Cache, file: string, hash: string): Promise<void> {
    const url = urlOf(file);
    for (const name of await caches.keys()) {
        const held = name !== CACHE && name.startsWith(PREFIX) ? await (await caches.open(name)).match(url) : undefined;
        if (held?.headers.get('X-Hash') === hash) return cache.put(url, held);
    }
    const response = await fetch(url, { integrity: hash, cache: 'no-cache' });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    const marked = new Headers(response.headers);
    marked.set('X-Hash', hash);
    await cache.put(url, new Response(response.body, { status: 200, headers: marked }));
}

async function install(): Promise<void> {
    const cache = await caches.open(CACHE);
    await Promise.all(Object.entries(files).map(([file, hash]) => keep(cache, file, hash)));
}

/** Older versions go; pages that still show one were told to reload. */
async function activate(): Promise<void> {
    const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
}

function isolated(response: Response): Response {
    const all = new Headers(response.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers: all });
}

async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const plain = request.mode === 'navigate' && url.searchParams.get('isolation') === 'off';
    url.search = url.hash = '';
    if (url.href === urlOf('./')) url.pathname += 'index.html';
    const held = await (await caches.open(CACHE)).match(url.href);
    const response = held ?? (await fetch(request));
    return plain || response.type === 'opaque' || response.status === 0 ? response : isolated(response);
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('message', (event) => {
    if (event.data === 'take over') void self.skipWaiting();
});
self.addEventListener('fetch', (event) => {
    const { request } = event;
    if (request.method !== 'GET' || !request.url.startsWith(self.registration.scope)) return;
    event.respondWith(answer(request));
});
