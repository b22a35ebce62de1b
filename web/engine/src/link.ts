/** The client's side of the protocol. */
import type { Port } from './platform.js';
import { RUN_EVENTS, type CallName, type Calls, type Response } from './protocol.js';
import { EngineError, type FileChunk, type RunEvent } from './types.js';

interface Pending {
    resolve: (result: unknown) => void;
    reject: (error: Error) => void;
    event: ((event: unknown) => void) | undefined;
}

/** Calls to one worker, and what it answers and tells. */
export class Link {
    onRunEvent: (event: RunEvent | FileChunk) => void = () => {};
    private readonly port: Port;
    private readonly pending = new Map<number, Pending>();
    private nextId = 1;
    private dead: Error | undefined;

    constructor(port: Port) {
        this.port = port;
        port.onMessage((message) => this.receive(message as Response));
        port.onError((error) => this.die(error));
    }

    private receive(message: Response): void {
        if (message.id === RUN_EVENTS) {
            if ('event' in message) this.onRunEvent(message.event as RunEvent | FileChunk);
            return;
        }
        const pending = this.pending.get(message.id);
        if (!pending) return;
        if ('event' in message) {
            pending.event?.(message.event);
            return;
        }
        this.pending.delete(message.id);
        if ('failure' in message) pending.reject(new EngineError(message.failure.status, message.failure.message));
        else pending.resolve(message.result);
    }

    private die(error: Error): void {
        this.dead = error;
        for (const { reject } of this.pending.values()) reject(error);
        this.pending.clear();
    }

    call<C extends CallName>(name: C, args: Calls[C]['args'], event?: (event: unknown) => void): { id: number; result: Promise<Calls[C]['result']> } {
        const id = this.nextId++;
        const result = new Promise<unknown>((resolve, reject) => {
            if (this.dead) return reject(this.dead);
            try {
                this.port.post({ id, call: name, args });
            } catch (error) {
                return reject(new EngineError('BAD_INPUT', `what ${name} was given cannot go to the engine: ${(error as Error).message}`));
            }
            this.pending.set(id, { resolve, reject, event });
        });
        return { id, result: result as Promise<Calls[C]['result']> };
    }

    close(): void {
        this.port.close();
        this.die(new EngineError('INTERRUPTED', 'the engine was closed'));
    }
}
