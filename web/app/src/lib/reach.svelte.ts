/** The page without a network, and its threads where the server sends no headers for them: what the service worker is for. */
import { refuseThreads } from 'posttrain-engine';

const AFTER_LOAD_MS = 3000;

export class Reach {
    /** A reload would give the page threads. */
    couldIsolate = $state(false);
    /** Everything is kept: the page now works without a network. */
    kept = $state(false);
    /** A newer version waits. */
    newer = $state(false);
    private registration: ServiceWorkerRegistration | undefined;
    private reloading = false;

    constructor() {
        const off = new URLSearchParams(location.search).get('isolation') === 'off';
        if (off) refuseThreads('the address of the page asks for one thread (isolation=off)');
        if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
        // Fetching and checking the whole site takes a processor: the page, and a first step of training, come first.
        const begin = () => setTimeout(() => void this.register(off).catch(() => undefined), AFTER_LOAD_MS);
        if (document.readyState === 'complete') begin();
        else addEventListener('load', begin, { once: true });
    }

    private async register(off: boolean): Promise<void> {
        const { serviceWorker } = navigator;
        this.registration = await serviceWorker.register('./sw.js');
        const look = () => (this.newer = Boolean(this.registration?.waiting && serviceWorker.controller));
        look();
        this.registration.addEventListener('updatefound', () => this.registration?.installing?.addEventListener('statechange', look));
        serviceWorker.addEventListener('controllerchange', () => this.reloading && location.reload());
        await serviceWorker.ready;
        this.kept = true;
        this.couldIsolate = !off && !crossOriginIsolated && isSecureContext;
    }

    reload(): void {
        location.reload();
    }

    /** The newer version takes over; its page comes with a reload. */
    update(): void {
        this.reloading = true;
        this.registration?.waiting?.postMessage('take over');
    }
}
