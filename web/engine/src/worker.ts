/** The worker that hosts an instance. */
import { platform } from '#platform';
import { Server } from './server.js';

new Server(platform.parent());
