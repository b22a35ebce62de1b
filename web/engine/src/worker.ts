/** The worker: it hosts an instance, or is a thread of one. One file for both, because bundlers cannot follow two worker files that start
 * each other through the same platform. */
import { platform } from '#platform';
import type { Request } from './protocol.js';
import { Server } from './server.js';
import { serveThread } from './thread.js';
import type { ThreadInit } from './threads.js';

const parent = platform.parent();
const server = new Server(parent);
parent.onMessage((message) => {
    const wanted = message as Request | ThreadInit;
    if ('mailbox' in wanted) serveThread(wanted, parent);
    else void server.serve(wanted);
});
